from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates, Tally
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)
PLAN = Plan.single_report(GRID, 1.0, crs="EPSG:3857")


@pytest.fixture
def estimates(rng: np.random.Generator) -> Estimates:
    return Estimates.from_tally(PLAN, collect(PLAN, random_paths(2000, GRID, rng), rng))


def test_a_document_holds_everything(estimates: Estimates) -> None:
    again = Estimates.from_json(estimates.to_json())
    assert again.plan == PLAN
    assert list(again) == list(estimates)
    for name, found in estimates.items():
        assert np.array_equal(again[name].frequencies, found.frequencies)
        assert np.array_equal(again[name].std_errors, found.std_errors)
        assert (again[name].question, again[name].users, again[name].nulls) == (
            found.question,
            found.users,
            found.nulls,
        )


def test_questions_that_nobody_was_asked_survive_the_document() -> None:
    empty = Estimates.from_tally(PLAN, Tally.zero(PLAN))
    assert np.isinf(Estimates.from_json(empty.to_json())["start"].std_errors).all()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"plan": {}},
        {"questions": {"unknown": {}}},
        {"questions": {"start": {"frequencies": [1.0], "std_errors": [1.0], "users": 1, "nulls": None}}},
        {"questions": []},
    ],
)
def test_what_is_no_document_of_estimates_is_refused(estimates: Estimates, change: dict[str, object]) -> None:
    with pytest.raises(FormatError, match="not a document of estimates"):
        Estimates.from_json(json.dumps(json.loads(estimates.to_json()) | change))


def test_numbers_that_are_no_estimates_are_refused(estimates: Estimates) -> None:
    broken = replace(estimates["start"], std_errors=np.zeros(GRID.cells))
    with pytest.raises(FormatError, match="start"):
        Estimates.from_json(Estimates(PLAN, {"start": broken}).to_json())


def test_tallies_of_a_round_are_added_and_rounds_joined(rng: np.random.Generator) -> None:
    first = Plan.paper(GRID, 1.0)
    both = first.paper_second_round(3)
    paths = random_paths(500, GRID, rng)
    tallies = [
        collect(first, paths, rng),
        collect(first, paths, rng),
        collect(both, paths, rng, round_number=1),
    ]
    estimates = Estimates.from_tallies(both, tallies)
    assert estimates["length"].users == 1000
    assert estimates["steps"].users == 500
    assert estimates.plan == both
    with pytest.raises(InputError, match="belongs to plan"):
        Estimates.from_tallies(first, tallies)


def test_without_leaves_out_by_name(estimates: Estimates) -> None:
    assert set(estimates.without("turns", "start")) == set(estimates) - {"turns", "start"}
