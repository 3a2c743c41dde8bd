"""At full size, where nothing can be enumerated: is every single item named as often as it should be?

Random trajectories go through the device's own entry point, and the bytes it sends are read again. For each item it is
counted how often it was named when it was in the answer and when it was not, and compared with the plan's p and q. A
device that treats one item of hundreds wrongly shows here.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ldptrace.audit.system import Asked, Points, in_group
from ldptrace.device import occasion_of
from ldptrace.errors import ProtocolError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.questions import Slots
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import asked_of, read_report
from ldptrace.protocol.round import Ask

# Chance that the items of a correct plan raise an alarm.
ALPHA = 1e-6
# Outputs that are looked at, over all draws of one question.
WORK = 2_000_000
# Cells of the longest random trajectory.
LONGEST = 100

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class MarginalFinding:
    """The item whose frequency is hardest to believe."""

    round: int
    question: str
    items: int
    draws: int
    item: int
    held: bool
    observed: float
    expected: float
    stands: bool


def marginal_findings(plan: Plan, trials: int) -> list[MarginalFinding]:
    """Return one finding for each question of each round, with at most `trials` reports each."""
    asks = [ask for round_ in plan.rounds for ask in round_.asks]
    level = ALPHA / sum(2 * ask.randomizer.outputs for ask in asks)
    findings = []
    for number, round_ in enumerate(plan.rounds):
        if not round_.padded:
            continue  # Empty slots are not sent, so the slots cannot be told apart; the structure says so.
        for group in range(1 if round_.assignment == "everyone" else len(round_.asks)):
            findings += _group_findings(plan, number, group, trials, level)
    return findings


def _group_findings(plan: Plan, number: int, group: int, trials: int, level: float) -> list[MarginalFinding]:
    asks = asked_of(plan.rounds[number], group)
    draws = max(200, min(trials, WORK // sum(ask.work for ask in asks)))
    counts = [np.zeros((2, 2, ask.randomizer.outputs), dtype=np.int64) for ask in asks]
    device, lottery = Asked(plan, number), random.SystemRandom()
    for draw in range(draws):
        points, truth = _trajectory(asks[draw % len(asks)], asks, plan.grid, lottery)
        message = device.answer([points], in_group(plan.rounds[number], group))
        try:
            told = read_report(message, plan, number)
        except ReportRejected:
            continue  # The structure's finding.
        if [ask for ask, _ in told] != list(asks):
            continue  # Another group than the bytes said: the source's finding.
        for place, (ask, slots) in enumerate(told):
            if truth[place] is not None:
                _count(counts[place], ask, truth[place] or [], slots)
    return [_finding(number, ask, draws, table, level) for ask, table in zip(asks, counts, strict=True)]


def _count(counts: Counts, ask: Ask, truth: Slots, slots: list[tuple[int, ...]]) -> None:
    """Add one answer: for each output whether it was held, and whether it was named."""
    for items, named in zip(truth, slots, strict=True):
        own, told = (np.zeros(ask.randomizer.outputs, dtype=np.int64) for _ in range(2))
        own[ask.randomizer.filled(items)] = 1
        told[list(named)] = 1
        counts[0] += (1 - own, own)
        counts[1] += (told * (1 - own), told * own)


def _finding(number: int, ask: Ask, draws: int, counts: Counts, level: float) -> MarginalFinding:
    held, named = counts
    p, q = (float(value) for value in ask.randomizer.probabilities)
    chances = np.array([[q], [p]])
    # The smaller tail of each count, doubled.
    tails = np.minimum(stats.binom.cdf(named, held, chances), stats.binom.sf(named - 1, held, chances))
    worst = int(np.argmin(tails))
    kind, item = divmod(worst, ask.randomizer.outputs)
    seen = float(named[kind, item] / max(held[kind, item], 1))
    stands = bool(2 * tails.flat[worst] > level)
    outputs = ask.randomizer.outputs
    return MarginalFinding(
        number, ask.question.name, outputs, draws, item, bool(kind), seen, (q, p)[kind], stands
    )


def _trajectory(
    main: Ask, asks: tuple[Ask, ...], grid: Grid, lottery: random.Random
) -> tuple[Points, list[Slots | None]]:
    """Return a random walk with times, and its true answers where they are not drawn at random themselves (else None).

    It is cut until the answer to the main question needs no luck; most often it is just long enough to fill a set.
    """
    full = main.question.capacity + 2
    length = lottery.randrange(full + 1) if lottery.random() < 0.8 else lottery.randrange(LONGEST)
    points = _walk(length, grid, lottery)
    for cells in (length, full, full - 1, full - 2):
        cut = points[:cells]
        truth = [_certain(ask, cut, grid) for ask in asks]
        if truth[asks.index(main)] is not None:
            return cut, truth
    return [], [_certain(ask, [], grid) for ask in asks]


def _certain(ask: Ask, points: Points, grid: Grid) -> Slots | None:
    try:
        return ask.question.answer(occasion_of(points, grid), Source(BytesReader(b"")))
    except ProtocolError:
        return None


def _walk(cells: int, grid: Grid, lottery: random.Random) -> Points:
    """Return centres of adjacent cells, at a random speed at a random time of a week."""
    n = grid.n
    (x0, y0), (width, height) = grid.origin, grid.step
    i, j = lottery.randrange(n), lottery.randrange(n)
    clock, pause = lottery.random() * 7 * 86400, 10 ** (4 * lottery.random())
    points: Points = []
    while len(points) < cells:
        points.append((x0 + (i + 0.5) * width, y0 + (j + 0.5) * height, clock))
        steps = [(a, b) for a in (i - 1, i, i + 1) for b in (j - 1, j, j + 1) if 0 <= a < n and 0 <= b < n]
        steps.remove((i, j))
        i, j = lottery.choice(steps)
        clock += pause
    return points
