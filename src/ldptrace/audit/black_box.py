"""Attacks on the bytes: how well can somebody tell two trajectories apart who sees only the message?

For a pair of inputs the attacker learns likelihood ratios from one half of many messages, chooses the event
that tells most, and tries it on the other half. Clopper-Pearson bounds turn the two frequencies into a lower
bound on epsilon that holds with the stated confidence for all pairs and attacks together. Nothing here uses a
formula of the randomizers: a wrong one cannot hide behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats

from ldptrace.audit.system import Messages, Points, extreme_trajectories, lifelike, own_messages
from ldptrace.core.arrays import Floats
from ldptrace.device import Recording
from ldptrace.device.track import occasion_among
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import HEADER_BYTES, ID_AT, asked_of, read_report
from ldptrace.protocol.round import Ask

# Chance that the attacks on a private plan together find more than its epsilon.
ALPHA = 1e-6
# Inputs per question, and such that look like trips of real people; every two of a kind are a pair.
INPUTS, LIFELIKE = 6, 2
# Points of a trajectory that is answered thousands of times.
LONGEST = 200

Answer = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Attack:
    """The best lower bound that one way of looking reached on one group of one round."""

    round: int
    target: str
    looked_at: str
    pair: tuple[str, str]
    epsilon_at_least: float
    claimed: float
    trials: int

    @property
    def stands(self) -> bool:
        return self.epsilon_at_least <= self.claimed


class Input(NamedTuple):
    """The trips of one person, and their answer, which is the same for all random draws."""

    name: str
    trips: list[Points]
    answer: Answer


# Lets devices answer one group of one round of a plan: takes both numbers, their trips, and how many answer.
Witness = Callable[[int, int, Sequence[Points], int], Messages]


@dataclass(frozen=True, eq=False)
class _Sample:
    """Messages for one input: all bits of each message, and the items that each slot names."""

    input: Input
    bits: Floats
    named: list[list[tuple[int, ...]]]


def black_box(plan: Plan, trials: int, witness: Witness | None = None) -> list[Attack]:
    """Attack every round and group of the plan, with `trials` messages per input."""
    answered = partial(own_messages, plan) if witness is None else witness
    targets = [
        (number, group)
        for number, round_ in enumerate(plan.rounds)
        for group in range(1 if round_.assignment == "everyone" else len(round_.asks))
    ]
    # For each target and pair: two ways of looking, two directions, two bounds.
    pairs = math.comb(INPUTS, 2) + math.comb(LIFELIKE, 2)
    level = ALPHA / (len(targets) * pairs * 2 * 2 * 2)
    attacks = []
    for number, group in targets:
        asks, claimed = asked_of(plan.rounds[number], group), float(plan.rounds[number].spent)
        target = ", ".join(ask.question.name for ask in asks)
        for whose, inputs, count in (
            ("", worst_inputs(plan.grid, asks), trials),
            (" of real trips", lifelike_inputs(plan.grid, asks), min(trials, enough(claimed, level))),
        ):
            samples = []
            for one in inputs:
                messages = answered(number, group, one.trips, count)
                samples.append(_Sample(one, _bits(messages.sent), _named(messages)))
            for looked_at, pair, bound in _best(asks, samples, level):
                attacks.append(Attack(number, target, looked_at + whose, pair, bound, claimed, count))
    return attacks


def _best(
    asks: tuple[Ask, ...], samples: list[_Sample], level: float
) -> Iterator[tuple[str, tuple[str, str], float]]:
    """Yield for each way of looking the pair that it tells apart best, and the bound on epsilon."""
    pairs = list(combinations(samples, 2))
    scores = {"the bytes": [_score_bits(a, b) for a, b in pairs]}
    if all(sample.named for sample in samples):
        scores["the named items"] = [_score_items(asks, a, b) for a, b in pairs]
    for looked_at, seen in scores.items():
        bounds = [_bound(*score, level) for score in seen]
        one, other = pairs[bounds.index(max(bounds))]
        yield looked_at, (one.input.name, other.input.name), max(bounds)


def worst_inputs(grid: Grid, asks: tuple[Ask, ...]) -> list[Input]:
    """Return trajectories with different answers to these questions, the fullest answers first."""
    chosen: dict[Answer, Input] = {}
    for name, points in extreme_trajectories(grid).items():
        if len(points) <= LONGEST:
            _choose(chosen, grid, asks, name, [points] if points else [])
    fullest = sorted(chosen, key=lambda answer: -sum(map(len, answer)))[: INPUTS // 2]
    return [chosen[answer] for answer in list(dict.fromkeys([*fullest, *chosen]))[:INPUTS]]


def enough(claimed: float, level: float) -> int:
    """Return the number of messages, half of which prove that a device always tells the truth, if it does."""
    return 2 * math.ceil(1.2 * math.log(1 / level) / math.log1p(math.exp(-claimed)))


def lifelike_inputs(grid: Grid, asks: tuple[Ask, ...]) -> list[Input]:
    """Return the same ways as trips of real people: a thousand fixes with dates, several trips per person."""
    chosen: dict[Answer, Input] = {}
    everybody = extreme_trajectories(grid)
    fullest = [one.name for one in worst_inputs(grid, asks)]
    for name in dict.fromkeys([*fullest, *everybody]):
        if len(everybody[name]) <= LONGEST and len(chosen) < LIFELIKE:
            _choose(chosen, grid, asks, f"{name}, as real trips", lifelike(everybody[name]))
    return list(chosen.values())


def _choose(
    chosen: dict[Answer, Input], grid: Grid, asks: tuple[Ask, ...], name: str, trips: list[Points]
) -> None:
    """Add a person if no other has the same answer, and if that answer is not itself drawn at random: such an answer is
    never the worst case."""
    occasion = occasion_among([Recording(points) for points in trips], grid)
    draws = {
        tuple(tuple(items) for ask in asks for items in ask.question.answer(occasion, Source()))
        for _ in range(3)
    }
    if len(draws) == 1:
        answer = draws.pop()
        chosen.setdefault(answer, Input(name, trips, answer))


def _named(messages: Messages) -> list[list[tuple[int, ...]]]:
    """Return what each message names; nothing if one does not follow the protocol, which is the structure's finding."""
    plan, number = messages.plan, messages.round
    try:
        return [[slot for _, slots in read_report(m, plan, number) for slot in slots] for m in messages.sent]
    except ReportRejected:
        return []


def _bits(messages: list[bytes]) -> Floats:
    """Return one row per message: the bits of its bytes without the random id, then its size in unary."""
    size = max(map(len, messages))
    joined = b"".join(message.ljust(size, b"\0") for message in messages)
    rows = np.frombuffer(joined, dtype=np.uint8).reshape(len(messages), size)
    told = np.delete(rows, ID_AT, axis=1)
    sizes = np.array([len(message) for message in messages])[:, None] > np.arange(HEADER_BYTES, size)
    return np.concatenate([np.unpackbits(told, axis=1), sizes], axis=1).astype(np.float64)


def _score_bits(one: _Sample, other: _Sample) -> tuple[Floats, Floats]:
    """Sum over all bits of the log-odds learnt from the first half."""
    width = max(one.bits.shape[1], other.bits.shape[1])
    parts = [np.pad(sample.bits, ((0, 0), (0, width - sample.bits.shape[1]))) for sample in (one, other)]
    odds = [(part[: len(part) // 2].sum(axis=0) + 0.5) / (len(part) // 2 + 1) for part in parts]
    present, absent = np.log(odds[0] / odds[1]), np.log((1 - odds[0]) / (1 - odds[1]))
    first, second = (part @ present + (1 - part) @ absent for part in parts)
    return first, second


def _score_items(asks: tuple[Ask, ...], one: _Sample, other: _Sample) -> tuple[Floats, Floats]:
    """Sum over the slots of the learnt log-odds of whether items of the one and of the other are named."""
    channels = [ask.randomizer for ask in asks for _ in range(ask.question.slots)]
    mine, theirs = (
        [set(channel.filled(items)) for channel, items in zip(channels, sample.input.answer, strict=True)]
        for sample in (one, other)
    )
    scores = [np.zeros(len(sample.named)) for sample in (one, other)]
    for slot in range(len(channels)):
        seen = []
        for sample in (one, other):
            named = [message[slot] for message in sample.named]
            hits = [2 * (not mine[slot].isdisjoint(s)) + (not theirs[slot].isdisjoint(s)) for s in named]
            seen.append(np.array(hits, dtype=np.int64))
        counts = [np.bincount(part[: len(part) // 2], minlength=4) + 0.5 for part in seen]
        odds = np.log(counts[0] / counts[1])
        for part, score in zip(seen, scores, strict=True):
            score += odds[part]
    return scores[0], scores[1]


def _bound(first: Floats, second: Floats, level: float) -> float:
    """Return a lower bound on epsilon: choose an event on the first halves, count it on the second ones."""
    bounds = [0.0]
    for a, b in ((first, second), (-second, -first)):
        half = len(a) // 2
        threshold = _best_threshold(a[:half], b[:half])
        hits, false = (int((scores[half:] >= threshold).sum()) for scores in (a, b))
        bounds.append(_log_ratio(hits, false, len(a) - half, level))
    return max(bounds)


def _best_threshold(first: Floats, second: Floats) -> float:
    """Return where `score >= threshold` promises the largest ratio, less four standard errors of its logarithm."""
    levels = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 101)))
    hits, false = ((scores[:, None] >= levels).sum(axis=0) + 1.0 for scores in (first, second))
    return float(levels[np.argmax(np.log(hits / false) - 4 * np.sqrt(1 / hits + 1 / false))])


def _log_ratio(hits: int, false: int, trials: int, level: float) -> float:
    """Return the logarithm of a lower bound on one probability over an upper bound on the other (Clopper-Pearson)."""
    low = stats.beta.ppf(level, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.isf(level, false + 1, trials - false) if false < trials else 1.0
    return math.log(low / high) if low > 0 else 0.0
