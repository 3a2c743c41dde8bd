"""Are the randomizers what the plan says? Their true epsilon, as the logarithm of a fraction, from the code that
devices run; and at full size, where nothing can be enumerated, how often each single item is named.

The distribution comes from running the code: every draw is tried, none is trusted. A draw below a small bound is tried
value by value. A draw below a large one (the integers of a plan have forty bits and more) has few outcomes, each for a
range of values; the ends of the ranges are found by bisection, and random values inside every range confirm it.

At full size, random trajectories go through the device's own entry point, and the bytes it sends are read again. For
each item it is counted how often it was named when it was in the answer and when it was not, and compared with the
plan's p and q. A device that treats one item of hundreds wrongly shows here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise
from typing import TypeVar

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
from ldptrace.protocol.randomizers import OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import asked_of, read_report
from ldptrace.protocol.round import Ask, Round

T = TypeVar("T", bound=Hashable)

# Bounds up to this are tried value by value.
SMALL = 64
# Random values that are tried inside a range that looks constant.
PROBES = 8


def distribution(run: Callable[[Source], T]) -> dict[T, Fraction]:
    """Return the probability of each result of `run`, exactly.

    >>> distribution(lambda source: source.below(3) + source.below(2))[1]
    Fraction(1, 3)
    """
    return _explore(run, [])


class _Undecided(Exception):
    def __init__(self, bound: int) -> None:
        self.bound = bound


class _Scripted(Source):
    """Draws given values. After them it stops (`then` None) or draws the lowest or the highest values."""

    def __init__(self, values: list[int], then: str | None = None) -> None:
        super().__init__(self._no_bytes)
        self.values = iter(values)
        self.then = then
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        """Return the next value of the script; where it ends, the bound is raised as undecided, or noted."""
        value = next(self.values, None)
        if value is None:
            if self.then is None:
                raise _Undecided(bound)
            self.bounds.append(bound)
            return 0 if self.then == "lowest" else bound - 1
        return value

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))

    def _no_bytes(self, count: int) -> bytes:
        raise TypeError(f"a randomizer must draw integers, it asked for {count} bytes")


def _explore(run: Callable[[Source], T], drawn: list[int]) -> dict[T, Fraction]:
    try:
        return {run(_Scripted(drawn)): Fraction(1)}
    except _Undecided as undecided:
        bound = undecided.bound
    total: dict[T, Fraction] = {}
    for value, width in _ranges(run, drawn, bound):
        for result, probability in _explore(run, [*drawn, value]).items():
            total[result] = total.get(result, Fraction(0)) + probability * Fraction(width, bound)
    return total


def _ranges(run: Callable[[Source], T], drawn: list[int], bound: int) -> list[tuple[int, int]]:
    """Return the first value and width of every range of values that the computation treats alike."""
    if bound <= SMALL:
        return [(value, 1) for value in range(bound)]
    lottery = random.Random(bound)

    def behaviour(value: int) -> tuple[object, ...]:
        seen: list[object] = []
        for then in ("lowest", "highest"):
            source = _Scripted([*drawn, value], then)
            seen += [run(source), tuple(source.bounds)]
        return tuple(seen)

    def split(low: int, at_low: tuple[object, ...], high: int, at_high: tuple[object, ...]) -> list[int]:
        """Return values in low+1..high at which the behaviour changes."""
        if at_low == at_high:
            inside = [lottery.randrange(low, high + 1) for _ in range(PROBES)]
            odd = next((value for value in inside if behaviour(value) != at_low), None)
            if odd is None:
                return []
            middle = odd
        elif high == low + 1:
            return [high]
        else:
            middle = (low + high) // 2
        at_middle = behaviour(middle)
        return split(low, at_low, middle, at_middle) + split(middle, at_middle, high, at_high)

    starts = [0, *split(0, behaviour(0), bound - 1, behaviour(bound - 1)), bound]
    return [(first, after - first) for first, after in pairwise(starts)]


# Sizes for which every input and output can be listed.
SMALL_DOMAIN, SMALL_CAPACITY, SMALL_SIZE = 4, 2, 2


@dataclass(frozen=True)
class ExactFinding:
    """What enumeration says of one question of one round. `ratio` None stands for infinity."""

    round: int
    question: str
    kind: str
    inputs: int
    outputs: int
    ratio: Fraction | None
    claimed: Fraction
    formulas_hold: bool

    @property
    def stands(self) -> bool:
        return self.ratio is not None and self.ratio <= self.claimed and self.formulas_hold

    @property
    def epsilon(self) -> float:
        return math.inf if self.ratio is None else math.log(self.ratio)


def exact_findings(plan: Plan) -> list[ExactFinding]:
    """Check every randomizer of the plan, made small and listed in full, with the plan's own integers."""
    findings, enumerated = [], cache(_enumerated)
    for number, round_ in enumerate(plan.rounds):
        for ask in round_.asks:
            channel = ask.randomizer
            inputs, outputs, ratio, same = enumerated(shrunk(channel))
            holds = same and _full_size_agrees(channel)
            findings.append(
                ExactFinding(
                    number, ask.question.name, channel.kind, inputs, outputs, ratio, channel.ratio, holds
                )
            )
    return findings


def round_epsilon(round_: Round, findings: list[ExactFinding]) -> float:
    """Add up the exact values of a round's questions for one user."""
    values = [
        finding.epsilon * ask.question.slots for finding, ask in zip(findings, round_.asks, strict=True)
    ]
    return max(values) if round_.assignment == "partition" else sum(values)


def shrunk(channel: Randomizer) -> Randomizer:
    """Return the same randomizer on a domain small enough to list, with the same integers for its ratio."""
    domain = min(channel.domain, SMALL_DOMAIN)
    sizes = {"domain": domain, "capacity": min(channel.capacity, SMALL_CAPACITY, domain)}
    if isinstance(channel, PrivSet):
        sizes["size"] = min(channel.size, SMALL_SIZE, domain)
    return channel.changed(**sizes)


def inputs_of(channel: Randomizer) -> Iterator[tuple[int, ...]]:
    """Return every set that a user can have."""
    for size in range(channel.capacity + 1):
        yield from combinations(range(channel.domain), size)


def _enumerated(channel: Randomizer) -> tuple[int, int, Fraction | None, bool]:
    """Return the number of inputs and of outputs, the largest ratio, and whether the formulas agree with the code."""
    laws = {items: distribution(partial(channel.perturb, items)) for items in inputs_of(channel)}
    outputs = set().union(*laws.values())
    worst: Fraction | None = Fraction(1)
    for named in outputs:
        chances = [law.get(named, Fraction(0)) for law in laws.values()]
        if min(chances) == 0:
            worst = None
            break
        assert worst is not None
        worst = max(worst, max(chances) / min(chances))
    same = all(
        law == {named: channel.probability(named, items) for named in channel.all_reports()}
        for items, law in laws.items()
    )
    return len(laws), len(outputs), worst, same


def _full_size_agrees(channel: Randomizer) -> bool:
    """Check that the probabilities with which the curator de-biases keep the claim at the real size too."""
    p, q = channel.probabilities
    if isinstance(channel, OUE):
        return p * (1 - q) / ((1 - p) * q) == channel.ratio
    # Reports of the others name a fixed number of items: the probabilities of all items add up to it.
    named = channel.size if isinstance(channel, PrivSet) else 1
    return channel.capacity * p + (channel.outputs - channel.capacity) * q == named and p / q <= channel.ratio


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
