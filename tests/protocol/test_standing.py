"""Windows of a standing plan: exact integers, whatever the clock shows."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_EVERY, MAX_LIFETIME, MAX_START, MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import START, Standing, dated

DAY = 86_400
WEEK = Standing.of(7 * DAY, epsilon=1)
PLAN = Plan.single_report(Grid((0, 0, 1, 1), 2), 1)

standings = st.builds(
    lambda every, part, start: Standing(every, max(every * part // 8, 1), start, Fraction(10), 0),
    st.integers(60, MAX_EVERY),
    st.integers(0, 8),
    st.integers(0, 2 * 10**9),
)


def test_the_usual_values() -> None:
    assert (WEEK.recent, WEEK.start, WEEK.lifetime, WEEK.grace) == (7 * DAY, START, 10, DAY)
    assert Standing.of(60, epsilon=1).grace == 60
    assert Standing.of(60, epsilon=20).lifetime == 200
    assert WEEK.answers(Fraction(1)) == 10
    assert WEEK.changed(lifetime=Fraction("2.999")).answers(Fraction(1)) == 2
    assert START % (7 * DAY) == 4 * DAY  # 1970 began on a Thursday


@given(standings, st.integers(0, 2**31), st.floats(0, 4e9))
def test_the_latest_window_has_ended_and_the_next_has_not(standing: Standing, drawn: int, now: float) -> None:
    phase = drawn % standing.every
    window = standing.latest(now, phase)
    if window >= 0:
        assert standing.end(window, phase) <= now
    if window < MAX_WINDOW:
        assert now < standing.end(window + 1, phase)


@given(standings, st.integers(0, 2**31), st.lists(st.floats(2e5, 4e9) | st.integers(200_000, 4 * 10**9)))
def test_every_trip_is_eligible_once(standing: Standing, drawn: int, arrivals: list[float]) -> None:
    """For one phase, each arrival belongs to at most one window, and to exactly one if recent is every."""
    phase = drawn % standing.every
    for arrival in arrivals:
        near = standing.latest(arrival, phase)
        windows = [k for k in range(max(near - 3, 0), near + 4) if standing.eligible([arrival], k, phase, 0)]
        assert len(windows) <= 1
        if standing.recent == standing.every and near >= 0:
            assert len(windows) == 1


@given(standings, st.integers(0, 2**31), st.integers(0, 2 * 10**9), st.integers(1, 3 * MAX_EVERY))
def test_a_stretch_meets_few_windows(standing: Standing, drawn: int, begin: int, length: int) -> None:
    """At most ceil((s + recent) / every) windows have an interval that meets [u, u + s)."""
    phase = drawn % standing.every
    # (end - recent, end] meets [u, u + s) if and only if u <= end and end - recent < u + s.
    first = -((begin - standing.start - phase) // -standing.every)
    last = (begin + length + standing.recent - 1 - standing.start - phase) // standing.every
    meeting = max(last - max(first, 0) + 1, 0)
    for k in range(max(first, 0), max(first, 0) + min(meeting, 3)):
        assert standing.end(k, phase) >= begin
        assert standing.end(k, phase) - standing.recent < begin + length
    assert meeting <= math.ceil(Fraction(length + standing.recent, standing.every))


def test_short_stretches_meet_one_window() -> None:
    """w-event privacy: a stretch of every - recent meets one answer, the whole of `every` two if recent is every."""
    narrow = WEEK.changed(recent=2 * DAY)
    assert math.ceil(Fraction(narrow.every - narrow.recent + narrow.recent, narrow.every)) == 1
    assert math.ceil(Fraction(WEEK.every + WEEK.recent, WEEK.every)) == 2


@pytest.mark.parametrize("now", [math.nan, math.inf, -math.inf, 1e12, -1e12, None, True, "5", -1, 0, START])
def test_clocks_that_show_no_window(now: float) -> None:
    assert WEEK.latest(now, 5) == -1
    assert WEEK.latest(START + 5, 5) == 0


def test_windows_have_32_bits() -> None:
    least = Standing(60, 60, 0, Fraction(1), 0)
    assert least.latest(60 * MAX_WINDOW, 0) == MAX_WINDOW
    assert least.latest(60 * MAX_WINDOW + 60, 0) == -1


@pytest.mark.parametrize("value", [None, math.nan, math.inf, 1e12, 0.0, 172_799.9, -5.0, True, "1700000000"])
def test_arrivals_without_a_date_are_not_eligible(value: object) -> None:
    assert dated(value) is None
    assert WEEK.changed(start=0).eligible([value], 0, WEEK.every - 1, -(10**6)) == []


def test_what_arrived_before_acceptance_is_not_eligible() -> None:
    end = WEEK.end(2900, 7)
    assert WEEK.eligible([end - 2, end - 1, end], 2900, 7, end - 2) == [1, 2]
    assert WEEK.eligible([end], 2900, 7, end) == []


def test_when_a_curator_counts() -> None:
    begin, last = WEEK.counted(2900)
    assert begin == WEEK.end(2900, 0) - DAY
    # The last device to answer has the largest phase and answers just before its next window ends.
    assert last == WEEK.end(2902, 0) + WEEK.grace > WEEK.end(2901, WEEK.every - 1)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"every": 59}, "every, in seconds, must be an integer from 60"),
        ({"every": MAX_EVERY + 1}, "every"),
        ({"every": 90.5}, "every"),
        ({"recent": 0}, "recent"),
        ({"recent": 7 * DAY + 1}, "never more than every"),
        ({"start": -1}, "start"),
        ({"start": MAX_START + 1}, "start"),
        ({"grace": -1}, "grace"),
        ({"grace": 7 * DAY + 1}, "grace"),
        ({"lifetime": 0}, "a lifetime must be above 0"),
        ({"lifetime": MAX_LIFETIME + 1}, "a lifetime"),
        ({"lifetime": Fraction(1, 3)}, "digits"),
    ],
)
def test_what_no_standing_plan_can_have(changed: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        WEEK.changed(**changed)


def test_a_standing_plan_has_one_round_and_room_for_an_answer() -> None:
    plan = PLAN.changed(standing=WEEK)
    assert Plan.from_json(plan.to_json()) == plan
    with pytest.raises(PlanError, match="at least one answer"):
        PLAN.changed(standing=WEEK.changed(lifetime=Fraction("0.5")))
    with pytest.raises(PlanError, match="one round"):
        Plan.paper(PLAN.grid, 1).paper_second_round(3).changed(standing=WEEK)
