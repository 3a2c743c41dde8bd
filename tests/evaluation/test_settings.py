from __future__ import annotations

import inspect
from typing import Any

import pytest

from ldptrace.errors import InputError
from ldptrace.evaluation.evaluator import evaluate, resilience
from ldptrace.evaluation.settings import Judging, Settings
from ldptrace.options import options_in
from ldptrace.protocol.grid import Grid


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"grid": 1}, "from 2 to"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"repeat": 0}, "repeat must be at least 1, got 0"),
        ({"tick": 0.0}, "tick must be a positive number, got 0.0"),
        ({"from_tick": 3}, "needs the seconds of a tick, got 3 and no tick"),
        ({"tick": 1.0, "from_tick": -1}, "from_tick must be at least 0"),
        ({"attacks": "no"}, "attacks must be true or false"),
    ],
)
def test_what_cannot_be(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Settings(**wrong)


def test_a_grid_may_be_given_whole() -> None:
    grid = Grid((0, 0, 1, 1), 4)
    assert Settings(grid=grid).grid is grid


@pytest.mark.parametrize(("function", "record"), [(evaluate, Settings), (resilience, Judging)])
def test_functions_have_the_names_and_defaults_of_their_record(function: Any, record: type) -> None:
    taken = inspect.signature(function).parameters
    for entry, _ in options_in(record):
        assert taken[entry.name].default == entry.default
