from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ldptrace.audit.exact import distribution
from ldptrace.audit.poisoning import forged, reach
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip

E = ratio_at_most(Fraction(1))


@pytest.mark.parametrize(
    "channel", [OUE(36, 1, E), GRR(36, 1, E), PrivSet(36, 1, E, 10), PrivSet(36, 4, E, 2)], ids=repr
)
def test_a_forged_report_moves_an_estimate_by_its_reach(channel: Randomizer) -> None:
    """The estimate with one more report that names an item, and with one more that does not."""
    counts, n = np.array([400.0]), 1000
    before = channel.debias(counts, n)[0]
    lie = reach(channel)
    assert channel.debias(counts + 1, n + 1)[0] - before == pytest.approx(lie.up)
    assert before - channel.debias(counts, n + 1)[0] == pytest.approx(lie.down)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_a_forged_report_counts_at_least_what_it_counts_in_any_protocol(epsilon: Fraction) -> None:
    """Claim 3 of docs/explanation/proofs/liars.md, to which two answers come nearest."""
    ratio = ratio_at_most(epsilon)
    least = float(ratio / (ratio - 1))
    for domain in (2, 36):
        for channel in (OUE(domain, 1, ratio), GRR(domain, 1, ratio), PrivSet.best(domain, 1, ratio)):
            assert reach(channel).up >= least
    assert reach(GRR(1, 1, ratio)).up == pytest.approx(least)


def test_how_many_items_a_report_can_name() -> None:
    assert reach(OUE(36, 1, E)).items == 36
    assert reach(GRR(36, 1, E)).items == 1
    assert reach(PrivSet(36, 4, E, 7)).items == 7


def false_trips(cells: list[int], liars: int, grid: Grid) -> CellPaths:
    return CellPaths(np.tile(np.int32(cells), liars), np.arange(liars + 1) * len(cells), grid)


@pytest.mark.parametrize("careful", [False, True])
def test_forged_reports_shift_estimates_by_the_reach(careful: bool) -> None:
    """Every report names the start; plain ones name both ends of a trip, careful ones one of them."""
    grid = Grid((0, 0, 6, 6), 6)
    plan = Plan.single_report(grid, 1.0, questions=["start", "terminals"])
    trips = false_trips([0, 7, 14], 4000, grid)
    found = Estimates.from_tally(plan, forged(plan, trips, np.random.default_rng(1), careful=careful))
    start, terminals = plan.rounds[0].asks
    assert found["start"].frequencies[0] == pytest.approx(reach(start.randomizer).up)
    channel = terminals.randomizer
    assert isinstance(channel, PrivSet)
    up, (p, q) = reach(channel).up, map(float, channel.probabilities)
    # A careful report names the other end of the trip only by chance.
    by_chance = ((channel.size - 1) / (channel.outputs - 1) - q) / (p - q)
    both = found["terminals"].frequencies[[0, 14]].sum()
    assert both == pytest.approx(up + (by_chance if careful else up), rel=0.05)


def test_forged_reports_are_as_many_as_liars_and_of_the_size_of_honest_ones() -> None:
    grid = Grid((0, 0, 6, 6), 6)
    plan = Plan.single_report(grid, 1.0)
    tally = forged(plan, false_trips([0, 7, 14], 500, grid), np.random.default_rng(1), careful=False)
    assert sum(tally.users) == 500
    for ask, counts, users in zip(plan.rounds[0].asks, tally.counts, tally.users, strict=True):
        channel = ask.randomizer
        assert counts.sum() == users * (channel.size if isinstance(channel, PrivSet) else 1)


def test_plans_of_several_rounds_are_refused() -> None:
    plan = Plan.paper(Grid((0, 0, 6, 6), 6), 1.0).paper_second_round(4)
    with pytest.raises(InputError, match="one report per user"):
        forged(plan, false_trips([0], 1, plan.grid), np.random.default_rng(1), careful=True)


@pytest.mark.parametrize("channel", [PrivSet(5, 1, E, 2), PrivSet(4, 1, E, 3), GRR(4, 1, E)], ids=repr)
def test_careful_forgeries_have_the_law_of_another_honest_population(channel: Randomizer) -> None:
    """Claim 2 of docs/explanation/proofs/liars.md, enumerated: honest devices and careful liars together send just what
    honest devices with other answers send, report by report."""
    reports = list(channel.all_reports())
    answers = [[item] for item in range(channel.domain)] + [[]]
    liars, share = Fraction(1, 10), Fraction(1, len(answers))
    naming = [named for named in reports if 0 in named]
    p, q = channel.probabilities
    gain = (1 - q) / (p - q)
    # f' of the page: the target has more, all others less, and nobody less than nothing.
    moved = [(1 - liars) * share + liars * (1 - gain) / (len(answers) - 1)] * len(answers)
    moved[0] = (1 - liars) * share + liars * gain
    assert sum(moved) == 1
    assert min(moved) >= 0
    for named in reports:
        seen = (1 - liars) * sum(share * channel.probability(named, answer) for answer in answers)
        seen += liars * Fraction(named in naming, len(naming))
        assert seen == sum(
            part * channel.probability(named, answer) for part, answer in zip(moved, answers, strict=True)
        )


def laws(plan: Plan, occasion: Occasion) -> dict[tuple[int, tuple[int, ...]], Fraction]:
    """The probability of each report of a device, to whatever question, from the code that makes the answers."""
    found: dict[tuple[int, tuple[int, ...]], Fraction] = {}
    for group, ask in enumerate(plan.rounds[0].asks):
        answers = distribution(
            lambda source, ask=ask: tuple(map(tuple, ask.question.answer(occasion, source)))
        )
        for named in ask.randomizer.all_reports():
            found[group, tuple(named)] = Fraction(ask.share, SHARES) * sum(
                chance * ask.randomizer.probability(named, slot) for (slot,), chance in answers.items()
            )
    return found


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_liars_of_any_protocol_can_send_what_an_honest_population_sends(epsilon: Fraction) -> None:
    """Claim 1 of docs/explanation/proofs/liars.md, enumerated over all questions of a plan for trips."""
    plan = Plan.single_report(Grid((0, 0, 2, 2), 2), epsilon)
    ratio = max(ask.randomizer.ratio for ask in plan.rounds[0].asks)
    gain, liars = ratio / (ratio - 1), Fraction(1, 20)
    paths = [(0, 1), (0, 1, 3), (2,), (3, 2, 0), ()]
    shares = [Fraction(weight, 20) for weight in (9, 5, 3, 2, 1)]
    honest = [laws(plan, Occasion(Trip(path)) if path else NO_TRIP) for path in paths]
    claimed = laws(plan, Occasion(Trip((1, 3, 2))))
    assert sum(claimed.values()) == 1
    for report, own in claimed.items():
        seen = sum(share * law[report] for share, law in zip(shares, honest, strict=True))
        forged_law = gain * own - (gain - 1) * seen
        assert forged_law >= 0
        others = (1 - liars * gain) * seen
        assert (1 - liars) * seen + liars * forged_law == others + liars * gain * own


@pytest.mark.parametrize(
    ("epsilon", "grid", "mean_trip", "factors"),
    [
        (4, 6, None, (8.8, 10.2, 12.2)),
        (4, 4, None, (5.4, 5.9, 6.6)),
        (4, 10, None, (16.1, 20.6, 27.0)),
        (4, 6, 2.5, (5.7, 7.1, 9.2)),
        (4, 6, 1.0, (3.7, 5.1, 7.1)),
        (8, 6, None, (5.0, 5.0, 5.1)),
    ],
)
def test_fewer_items_lower_what_a_forged_report_counts(
    epsilon: int, grid: int, mean_trip: float | None, factors: tuple[float, ...]
) -> None:
    """The table of docs/explanation/liars.md."""
    plan = Facts(100_000, epsilon, (0.0, 0.0, 10.0, 10.0), None, grid=grid, mean_trip=mean_trip).plan()
    found = {ask.question.name: reach(ask.randomizer).up for ask in plan.rounds[0].asks}
    assert tuple(round(found[name], 1) for name in ("visits", "links", "moves")) == factors
