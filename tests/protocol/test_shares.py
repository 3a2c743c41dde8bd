"""Plans that name their questions."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.shares import DEFAULT_SHARES, FURTHER, TIME_SHARES

GRID = Grid((0, 0, 6, 6), 6)


def shares_of(plan: Plan) -> dict[str, int]:
    return {ask.question.name: ask.share for ask in plan.rounds[0].asks}


def test_named_questions_are_asked_in_the_usual_proportions() -> None:
    found = shares_of(Plan.single_report(GRID, 1, questions=["trips", "visits", "length"]))
    assert list(found) == ["length", "visits", "trips"]
    assert sum(found.values()) == SHARES
    total = DEFAULT_SHARES["length"] + DEFAULT_SHARES["visits"] + FURTHER["trips"]
    assert found["trips"] == pytest.approx(SHARES * FURTHER["trips"] / total, abs=1)


def test_naming_all_of_them_is_the_default() -> None:
    assert Plan.single_report(GRID, 1, questions=list(DEFAULT_SHARES)) == Plan.single_report(GRID, 1)
    everything = [*TIME_SHARES, *DEFAULT_SHARES]
    assert Plan.single_report(GRID, 1, questions=everything) == Plan.single_report(GRID, 1, time=True)


def test_time_adds_its_questions_to_named_ones() -> None:
    found = shares_of(Plan.single_report(GRID, 1, questions=["start"], time=True, week=True))
    assert set(found) == {"start", *TIME_SHARES}
    alone = Plan.single_report(GRID, 1, questions=["departure"], week=True)
    assert shares_of(alone) == {"departure": SHARES}
    assert alone.rounds[0].asks[0].question.domain == 168


@pytest.mark.parametrize("names", [[], ["speed"], ["start", "start"], ["start", "steps"]])
def test_unknown_or_repeated_names_are_refused(names: list[str]) -> None:
    with pytest.raises(InputError, match="questions are some of length, start"):
        Plan.single_report(GRID, 1, questions=names)


def test_shares_of_named_questions() -> None:
    found = shares_of(
        Plan.single_report(GRID, 1, questions=["start", "trips"], shares={"start": 3, "trips": 1})
    )
    assert found == {"start": 3 * SHARES // 4, "trips": SHARES // 4}
    with pytest.raises(PlanError, match="shares must be positive"):
        Plan.single_report(GRID, 1, questions=["start", "trips"], shares={"start": 3})


def test_a_week_without_time_is_refused() -> None:
    for option in ({"week": True}, {"centre": (3.0, 3.0)}):
        with pytest.raises(InputError, match="a week and a centre"):
            Plan.single_report(GRID, 1, questions=["start"], **option)  # type: ignore[arg-type]
