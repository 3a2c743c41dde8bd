"""The rule of standing plans: one answer per window whatever the clock does, each trip in one answer at most."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest, chisquare

from ldptrace.device import Ledger, Recording, Reporter, track
from ldptrace.device import reporter as module
from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import Start, Trips
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import read_report, window_of
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip
from statistics_kit import ALPHA

DAY = 86_400
GRID = Grid((0, 0, 2, 2), 2)
ONCE = Plan("w", GRID, 1, (Round((Ask(Start(2), GRR(4, 1, ratio_at_most(Fraction(1)))),), "everyone"),))
T0 = 1_700_000_000


def standing(every: int = 7 * DAY, **values: Any) -> Plan:
    return ONCE.changed(standing=Standing.of(every, epsilon=1, **values))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asks", "recent", "limit"), [(3_000, 7 * DAY, 900), (1_500, 2 * DAY, 900), (1_501, 7 * DAY, 21)]
)
def test_thousands_of_questions_by_a_clock_that_jumps(
    tmp_path: Path, asks: int, recent: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most one answer per window, never beyond lifetime and limit, never a smaller window, each trip once."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    chance = random.Random(asks)
    plan = standing(recent=recent, lifetime=40)
    windows = plan.standing
    assert windows is not None
    # Many trips, at whole seconds and between them, some of them at ends of windows.
    trips = [Recording([(1.0, 1.0)], T0 + chance.uniform(-50, 500) * DAY) for _ in range(300)]
    entered: list[float] = []
    real = track.occasion_among

    def watched(recordings: list[Recording], *rest: Any) -> Occasion:
        entered.extend(one.arrival or 0.0 for one in recordings)
        return real(recordings, *rest)

    monkeypatch.setattr(module, "occasion_among", watched)
    path = tmp_path / "ledger.json"
    reporter = Reporter(plan, Ledger(path, limit))
    accepted = reporter.accept(T0)
    phase, last, given, kept = accepted.phase, accepted.window, list[int](), None
    ends = {k: windows.end(k, phase) for k in range(2740, 2901)}
    for step in range(asks):
        # On the whole it goes on, by 400 days in all; it is days ahead or behind, months behind, or broken.
        ahead = chance.choice([chance.gauss(0, 3), chance.gauss(0, 1), chance.uniform(-400, 0)])
        now = chance.choice([T0 + (400 * step / asks + ahead) * DAY] * 18 + [0.0, 1e13])
        if chance.random() < 0.1:
            reporter = Reporter(plan, Ledger(path))
        if chance.random() < 0.05:
            reporter.sent()
            kept = None
        before = len(entered)
        try:
            report = reporter.report(trips, now=now)
        except PlanRefused as refusal:
            report, problem = None, refusal.problem
        row = Ledger(path).acceptance(plan)
        assert row is not None
        assert row.phase == phase
        # The last window that has ended, counted without a division.
        ended = [k for k in range(2740, 2900) if ends[k] <= now < ends[k + 1]]
        if ended and ended[0] > last and len(given) < min(40, limit):
            assert report is not None
            assert report != kept
            assert window_of(report) == ended[0]
            assert len(entered) >= before
            given.append(ended[0])
            last, kept = ended[0], report
        elif ended and ended[0] > last:
            assert report is None
            assert problem is (Problem.PLAN_LIFETIME if limit >= 40 else Problem.PLAN_OVER_LIMIT)
        else:
            assert report == kept
            assert report is not None or problem is Problem.PLAN_NOT_DUE
            assert len(entered) == before
    assert given == sorted(set(given))
    assert 10 < len(given) <= min(40, limit)
    assert max(Counter(entered).values()) == 1
    assert Ledger(path).spent == len(given)
    # However many windows were answered, the ledger has one row.
    assert len(json.loads(path.read_text())["standing"]) == 1
    assert len(path.read_text()) < 600


def _ask(path: str, now: float, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    results.put(Reporter(standing(), Ledger(path)).report([], now=now))


@pytest.mark.slow
def test_two_processes_answer_a_window_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    row = Ledger(path).accept(standing(), T0)
    now = float(standing().standing.end(row.window + 1, row.phase))  # type: ignore[union-attr]
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=_ask, args=(str(path), now, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    reports = {results.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(reports) == 1
    assert Ledger(path).spent == 1


def test_the_phase_is_stored_before_anything_else(tmp_path: Path) -> None:
    """Also when nothing is due, when the draw fails, and when the limit allows no answer."""
    path, plan = tmp_path / "ledger.json", standing()
    with pytest.raises(PlanRefused):
        Reporter(plan, Ledger(path, "0.5")).report([], now=T0)
    row = Ledger(path).acceptance(plan)
    assert row is not None

    def broken(_: object) -> bytes:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        Ledger(path, "5").answer_window(plan, T0 + 7 * DAY, broken)
    assert Ledger(path).acceptance(plan) == row
    assert Reporter(plan, Ledger(path)).accept(T0 + 99 * DAY) == row


@pytest.mark.slow
def test_phases_are_uniform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    counts = Counter[int]()
    for number in range(600):
        plan = standing(60).changed(campaign=CampaignName("a", f"{number:032x}"))
        counts[Ledger(tmp_path / f"{number % 50}.json").accept(plan, T0).phase // 6] += 1
    assert chisquare([counts[k] for k in range(10)]).pvalue > ALPHA


@pytest.mark.slow
def test_every_trip_of_a_window_is_equally_likely() -> None:
    """Not always the first, not always the last; what has no points is no trip."""
    recordings = [Recording([(0.5 + k % 2, 0.5 + k // 2)]) for k in range(4)] + [
        Recording([]),
        Recording(iter([])),
    ]
    drawn = [track.occasion_among(recordings, GRID) for _ in range(2000)]
    assert {occasion.trips for occasion in drawn} == {4}
    counts = Counter(occasion.trip.path[0] for occasion in drawn)
    assert chisquare([counts[cell] for cell in range(4)]).pvalue > ALPHA
    assert track.occasion_among([], GRID) == track.occasion_among(recordings[4:], GRID) == NO_TRIP


@pytest.mark.slow
def test_every_output_has_its_probability() -> None:
    """Each output of the question `trips`, for each number of trips, as often as the exact formula says."""
    channel = GRR(5, 1, ratio_at_most(Fraction(1)))
    plan = Plan("t", GRID, 1, (Round((Ask(Trips(2), channel),), "everyone"),), standing=standing().standing)
    p, q = map(float, channel.probabilities)
    trials = 3000
    for count, truth in ((0, 5), (1, 0), (2, 1), (3, 2), (5, 3), (9, 4)):
        occasion = Occasion(Trip([0] if count else []), count)
        named = Counter[int]()
        for _ in range(trials):
            [(_, [slot])] = read_report(Reporter(plan, "none").draw_about(occasion, 0, window=7), plan, 0, 7)
            named.update(slot)
        for output in range(6):
            wanted = p if output == truth else q
            assert binomtest(named[output], trials, wanted).pvalue > ALPHA


def test_exact_enumeration_of_two_windows() -> None:
    """All outputs of two windows for all small histories, in fractions: the factors that section 12 claims."""
    windows, channel = Standing(100, 100, 0, Fraction(10), 0), GRR(4, 1, Fraction(3))
    p, q = channel.probabilities
    phase, ends = 37, [windows.end(k, 37) for k in (10_000, 10_001)]
    arrivals = [ends[0] - 99, ends[0], ends[0] + 1, ends[1] + 1]

    def law(history: dict[int, int]) -> dict[tuple[int, ...], Fraction]:
        """Probability of each pair of outputs; a history says in which cell the trip of each arrival starts."""
        each = []
        for k in (10_000, 10_001):
            cells = [history[t] for t in arrivals if t in history and windows.eligible([t], k, phase, 0)]
            answers = Counter(cells or [4])
            total = sum(answers.values())
            each.append(
                [
                    sum(Fraction(n, total) * (p if a == out else q) for a, n in answers.items())
                    for out in range(5)
                ]
            )
        return {pair: each[0][pair[0]] * each[1][pair[1]] for pair in itertools.product(range(5), repeat=2)}

    choices = [None, 0, 3]
    histories = [
        {t: cell for t, cell in zip(arrivals, cells, strict=True) if cell is not None}
        for cells in itertools.product(choices, repeat=len(arrivals))
    ]
    laws = [law(history) for history in histories]
    assert all(sum(one.values()) == 1 for one in laws)
    worst = {1: Fraction(0), 2: Fraction(0)}
    for (a, first), (b, second) in itertools.combinations(zip(histories, laws, strict=True), 2):
        factor = max(max(first[s] / second[s], second[s] / first[s]) for s in first)
        differing = [t for t in arrivals if a.get(t) != b.get(t)]
        worst[min(len(differing), 2)] = max(worst[min(len(differing), 2)], factor)
        if differing == [arrivals[3]]:
            assert factor == 1
    # One trip: exactly the ratio of one answer. Everything: that of two.
    assert worst == {1: Fraction(3), 2: Fraction(9)}


def test_what_a_standing_plan_needs(tmp_path: Path) -> None:
    plan, ledger = standing(), Ledger(tmp_path / "ledger.json")
    with pytest.raises(InputError, match="needs a ledger"):
        Reporter(plan, "none").report([])
    with pytest.raises(InputError, match="window by window"):
        ledger.answer(plan, 0, lambda: b"")
    with pytest.raises(InputError, match="no windows"):
        Reporter(ONCE, ledger).accept()
    with pytest.raises(PlanRefused) as refusal:
        Reporter(plan, ledger).report([])
    assert refusal.value.problem is Problem.PLAN_NOT_DUE


def test_campaigns_of_equal_settings_are_two_plans(tmp_path: Path) -> None:
    """The second week is not lost: both are answered, and each has a phase of its own."""
    ledger = Ledger(tmp_path / "ledger.json")
    plans = [standing().changed(campaign=CampaignName("a", digit * 32)) for digit in "01"]
    once = [ONCE.changed(campaign=plan.campaign) for plan in plans]
    for plan in plans:
        Reporter(plan, ledger).accept(T0)
    assert len(ledger.standing) == 2
    assert len({row.phase for row in ledger.standing} | {-1}) >= 2
    reports = [Reporter(plan, ledger).report([], now=T0 + 7 * DAY) for plan in plans]
    reports += [Reporter(plan, ledger).report([]) for plan in once]
    assert len(set(reports)) == 4
    assert ledger.spent == 4


def test_the_limit_goes_down_as_well_as_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Reporter(ONCE, Ledger(path, "4")).report([])
    assert Ledger(path).limit == 4
    with pytest.raises(PlanRefused):
        Reporter(ONCE.changed(method="x"), Ledger(path, "1.5")).report([])
    Reporter(ONCE.changed(method="y"), Ledger(path, "2")).report([])
    assert Ledger(path).limit == 2
    with pytest.raises(PlanRefused) as refusal:
        Reporter(ONCE.changed(method="z"), Ledger(path)).report([])
    assert refusal.value.problem is Problem.PLAN_OVER_LIMIT
