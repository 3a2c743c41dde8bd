from __future__ import annotations

import inspect
from typing import Any

import pytest

import ldptrace as lt
from ldptrace.core.reading import Reading
from ldptrace.errors import InputError
from ldptrace.options import options_in


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"outside": "keep"}, "outside must be cut or drop or clamp, got 'keep'"),
        ({"min_points": -1}, "min_points must be at least 0, got -1"),
        ({"split_gap": 0.0}, "split_gap must be a positive number, got 0.0"),
        ({"split_gap": float("nan")}, "split_gap must be a number"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"bounds": (1, 1, 0, 0)}, "bounds"),
        ({"names": "mine"}, r"names must be names of columns, such as Names\(.*\), got 'mine'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Reading(**wrong)


def test_a_gap_makes_one_log_of_points_without_an_id() -> None:
    assert not Reading().single
    assert Reading(split_gap=900).single
    assert Reading(bounds=(0, 0, 1, 1)).bounds == (0.0, 0.0, 1.0, 1.0)


def test_the_function_has_the_names_and_defaults_of_the_record() -> None:
    taken = inspect.signature(lt.read).parameters
    known = {entry.name: entry.default for entry, _ in options_in(Reading)}
    assert {name: parameter.default for name, parameter in taken.items() if name != "path"} == known
