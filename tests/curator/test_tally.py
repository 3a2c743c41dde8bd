from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates, Tally
from ldptrace.curator.tally import Sums, findings
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect


def test_a_tally_survives_its_file(grid: Grid) -> None:
    tally = Tally.zero(Plan.single_report(grid, 1.0))
    assert Tally.from_json(tally.to_json()) == tally


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format":"ldptrace-tally","version":2}', '{"format":"x"}', "\xff"]
)
def test_what_is_not_a_tally_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        Tally.from_json(text)


def test_different_plans_do_not_mix(grid: Grid) -> None:
    one, other = Plan.single_report(grid, 1.0), Plan.single_report(grid, 2.0)
    with pytest.raises(InputError, match="different plans"):
        Tally.zero(one) + Tally.zero(other)
    with pytest.raises(InputError, match="belongs to plan"):
        Estimates.from_tally(one, Tally.zero(other))


def test_a_round_that_does_not_exist(grid: Grid) -> None:
    with pytest.raises(InputError, match="no round 2"):
        Tally.zero(Plan.single_report(grid, 1.0), 1)


def test_nobody_asked_means_nothing_known(grid: Grid) -> None:
    plan = Plan.single_report(grid, 1.0)
    estimates = Estimates.from_tally(plan, Tally.zero(plan))
    assert np.all(np.isinf(estimates["start"].std_errors))
    assert np.all(estimates["start"].frequencies == 0)


def test_different_rounds_do_not_mix(grid: Grid) -> None:
    """The rounds of one plan are of one shape here, so that nothing but their number tells them apart."""
    first = Plan.paper(grid, 1.0)
    both = first.paper_second_round(3)
    one, two = Tally.zero(both, 0), Tally.zero(both, 1)
    with pytest.raises(InputError, match="different plans or rounds"):
        one + replace(one, round=1)
    with pytest.raises(InputError, match="different plans or rounds"):
        two + one
    # The first plan has no second round: a tally that names it belongs to nobody.
    with pytest.raises(InputError, match="belongs to plan"):
        Estimates.from_tally(both, replace(two, plan_id=first.id))


def test_answers_of_several_slots_are_debiased_by_slots(grid: Grid) -> None:
    """Counts exactly as expected of people who hold nothing: every frequency is 0, and users are not reports."""
    plan = Plan.paper(grid, 1.0).paper_second_round(4)
    tally, users = Tally.zero(plan, 1), 1000
    asks = plan.rounds[1].asks
    assert max(ask.question.slots for ask in asks) > 1
    reports = [users * ask.question.slots for ask in asks]
    expected = []
    for ask, many in zip(asks, reports, strict=True):
        p, q = (float(value) for value in ask.randomizer.probabilities)
        counts = np.full(ask.randomizer.outputs, many * q)
        # One item is held by every second user, once.
        counts[0] += users / 2 * (p - q)
        expected.append(counts)
    filled = replace(tally, counts=tuple(expected), reports=tuple(reports), users=(users,) * len(asks))
    for found in Estimates.from_tally(plan, filled).values():
        np.testing.assert_allclose(found.frequencies[0], 0.5, atol=1e-9)
        np.testing.assert_allclose(found.frequencies[1:], 0.0, atol=1e-9)


PLAN = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0)


def test_one_tally_counts_fully() -> None:
    tally = Tally("p", 0, (np.array([1, 2]), np.array([3, 4])), (3, 7), (3, 7))
    sums = Sums.of(tally)
    assert sums.of_ask(1)[0].tolist() == [3.0, 4.0]
    assert sums.of_ask(1)[1:] == (7.0, 7.0, 7.0)
    assert sums.effective == 10.0


def test_users_that_count_less_say_less() -> None:
    step = Sums((np.array([10.0, 10.0, 10.0, 4.0, 6.0]),))
    both = step.aged(0.1) + step
    assert both.of_ask(0)[2] == pytest.approx(11.0)
    assert both.effective == pytest.approx(121 / 10.1)
    assert step.aged(0.1).effective == pytest.approx(10.0)


def test_nothing_is_worth_nobody() -> None:
    assert Sums.of(Tally.zero(PLAN)).effective == 0.0


GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)
PLANS = [(Plan.single_report(GRID, 1.0), 0), (Plan.paper(GRID, 1.0).paper_second_round(4), 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("plan", "number"), PLANS)
def test_honest_collections_have_no_findings(plan: Plan, number: int, rng: np.random.Generator) -> None:
    for size in (1, 30, 3000):
        # Everybody alike is the most extreme honest data there is.
        for paths in (
            random_paths(size, GRID, rng),
            random_paths(1, GRID, rng).take(np.zeros(size, dtype=int)),
        ):
            assert findings(plan, collect(plan, paths, rng, round_number=number, mode="devices")) == []


def added(tally: Tally, ask: int, counts: np.ndarray, lies: int) -> Tally:
    changed = list(tally.counts)
    changed[ask] = changed[ask] + counts
    reports, users = list(tally.reports), list(tally.users)
    reports[ask] += lies
    users[ask] += lies
    return Tally(tally.plan_id, tally.round, tuple(changed), tuple(reports), tuple(users))


def test_a_crowd_of_liars_is_seen(rng: np.random.Generator) -> None:
    plan = PLANS[0][0]
    tally = collect(plan, random_paths(3000, GRID, rng), rng, mode="devices")
    lies = np.zeros_like(tally.counts[1])
    lies[3] = 2000
    found = findings(plan, added(tally, 1, lies, 2000))
    assert any("item 3 was named" in finding for finding in found)
    assert any("asked" in finding for finding in found)


def test_reports_stuffed_with_ones_are_seen(rng: np.random.Generator) -> None:
    plan, number = PLANS[1]
    tally = collect(plan, random_paths(3000, GRID, rng), rng, round_number=number, mode="devices")
    found = findings(plan, added(tally, 1, np.full_like(tally.counts[1], 600), 600))
    assert any("items were named" in finding for finding in found)


def test_fewer_liars_are_seen_at_more_false_alarms(rng: np.random.Generator) -> None:
    plan = PLANS[0][0]
    tally = collect(plan, random_paths(3000, GRID, rng), rng, mode="devices")

    def fewest(alarm: float) -> int:
        lies = np.zeros_like(tally.counts[1])
        return next(n for n in range(0, 3000, 10) if findings(plan, added(tally, 1, lies, n), alarm))

    assert fewest(0.1) < fewest(1e-6)


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_what_honest_devices_name_is_bounded_by_bernsteins_inequality(grid: Grid, epsilon: float) -> None:
    """Computed from the law: an item is named with a probability from q to p, whatever part of the devices has it."""
    plan, users = Plan.single_report(grid, epsilon), 10_000
    zero = Tally.zero(plan)
    counts = tuple(np.full_like(one, users) for one in zero.counts)
    asked = (users,) * len(counts)
    found = findings(plan, replace(zero, counts=counts, users=asked, reports=asked))
    # Each count is tested on both sides, and for each question two numbers more.
    tests = 2 * sum(len(one) + 2 for one in counts)
    tried = 0
    for ask in plan.rounds[0].asks:
        p, q = map(float, ask.randomizer.probabilities)
        mean = np.linspace(q, p, 10_001)
        log = np.log(tests / 1e-6)
        slack = np.sqrt(2 * users * (mean * (1 - mean)).max() * log) + log / 3
        first = next((one for one in found if one.startswith(f"{ask.question.name}: item 0 ")), None)
        if users * p + slack < users:
            assert first is not None
            low, high = (int(number.replace(",", "")) for number in first.split("between ")[1].split(" and "))
            assert (low, high) == (
                pytest.approx(max(0, np.ceil(users * q - slack)), abs=1),
                pytest.approx(np.floor(users * p + slack), abs=1),
            )
            tried += p > 0.5 or epsilon == 1
    assert tried >= 2
