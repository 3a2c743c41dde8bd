"""Attacks on the bytes: how well can somebody tell two trajectories apart who sees only the message?

For a pair of inputs the attacker learns likelihood ratios from one half of many messages, chooses the event
that tells most, and tries it on the other half. Clopper-Pearson bounds turn the two frequencies into a lower
bound on epsilon that holds with the stated confidence for all pairs and attacks together. Nothing here uses a
formula of the randomizers: a wrong one cannot hide behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ldptrace.audit.system import answered, in_group
from ldptrace.audit.trajectories import Points, extreme_trajectories
from ldptrace.device import Reporter, occasion_of
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import HEADER_BYTES, ID_AT, asked_of, read_report
from ldptrace.protocol.round import Ask

# Chance that the attacks on a private plan together find more than its epsilon.
ALPHA = 1e-6
# Inputs per question; every two of them are a pair.
INPUTS = 6
# Points of a trajectory that is answered thousands of times.
LONGEST = 200

Floats = NDArray[np.float64]
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


@dataclass(frozen=True, eq=False)
class _Sample:
    """Messages for one input: its answer, all bits of each message, and the items that each slot names."""

    name: str
    answer: Answer
    bits: Floats
    named: list[list[tuple[int, ...]]]


def black_box(plan: Plan, trials: int, progress: Callable[[str], None] = lambda _: None) -> list[Attack]:
    """Attacks on every round and group of the plan, with `trials` messages per input."""
    targets = [
        (number, group)
        for number, round_ in enumerate(plan.rounds)
        for group in range(1 if round_.assignment == "everyone" else len(round_.asks))
    ]
    # For each target and pair: two ways of looking, two directions, two bounds.
    level = ALPHA / (len(targets) * math.comb(INPUTS, 2) * 2 * 2 * 2)
    attacks = []
    for number, group in targets:
        round_ = plan.rounds[number]
        target = ", ".join(ask.question.name for ask in asked_of(round_, group))
        progress(target)
        samples = [
            _sample(plan, number, group, *worst, trials) for worst in worst_inputs(plan, number, group)
        ]
        scores = {"the bytes": [_score_bits(a, b) for a, b in combinations(samples, 2)]}
        if all(sample.named for sample in samples):
            asks = asked_of(round_, group)
            scores["the named items"] = [_score_items(asks, a, b) for a, b in combinations(samples, 2)]
        for looked_at, found in scores.items():
            bounds = [_bound(*score, level) for score in found]
            best = max(range(len(bounds)), key=lambda number: bounds[number])
            one, other = list(combinations(samples, 2))[best]
            pair, claimed = (one.name, other.name), float(round_.spent)
            attacks.append(Attack(number, target, looked_at, pair, bounds[best], claimed, trials))
    return attacks


def worst_inputs(plan: Plan, number: int, group: int) -> list[tuple[str, Points, Answer]]:
    """Trajectories with different answers to what this group is asked, the fullest answers first."""
    asks = asked_of(plan.rounds[number], group)
    chosen: dict[Answer, tuple[str, Points]] = {}
    for name, points in extreme_trajectories(plan.grid).items():
        if len(points) > LONGEST:
            continue
        occasion = occasion_of(points, plan.grid)
        draws = {
            tuple(tuple(items) for ask in asks for items in ask.question.answer(occasion, Source()))
            for _ in range(3)
        }
        # An answer that is itself drawn at random is never the worst case.
        if len(draws) == 1:
            chosen.setdefault(draws.pop(), (name, points))
    fullest = sorted(chosen, key=lambda answer: -sum(map(len, answer)))[: INPUTS // 2]
    return [(*chosen[answer], answer) for answer in list(dict.fromkeys([*fullest, *chosen]))[:INPUTS]]


def _sample(
    plan: Plan, number: int, group: int, name: str, points: Points, answer: Answer, trials: int
) -> _Sample:
    """Fresh messages of devices that happened to draw this group."""
    reporter, round_ = Reporter(plan, unpadded=True), plan.rounds[number]
    messages = [answered(reporter, points, number, in_group(round_, group)) for _ in range(trials)]
    return _Sample(name, answer, _bits(messages), _named(plan, number, messages))


def _named(plan: Plan, number: int, messages: list[bytes]) -> list[list[tuple[int, ...]]]:
    """What each message names; nothing if one does not follow the protocol, which is the structure's finding."""
    try:
        return [[slot for _, slots in read_report(m, plan, number) for slot in slots] for m in messages]
    except ReportRejected:
        return []


def _bits(messages: list[bytes]) -> Floats:
    """One row per message: the bits of its bytes without the random id, then its size in unary."""
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
        [set(channel.filled(items)) for channel, items in zip(channels, sample.answer, strict=True)]
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
    """Lower bound on epsilon: choose an event on the first halves, count it on the second ones."""
    bounds = [0.0]
    for a, b in ((first, second), (-second, -first)):
        half = len(a) // 2
        threshold = _best_threshold(a[:half], b[:half])
        hits, false = (int((scores[half:] >= threshold).sum()) for scores in (a, b))
        bounds.append(_log_ratio(hits, false, len(a) - half, level))
    return max(bounds)


def _best_threshold(first: Floats, second: Floats) -> float:
    """Where `score >= threshold` promises the largest ratio, less four standard errors of its logarithm."""
    levels = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 101)))
    hits, false = ((scores[:, None] >= levels).sum(axis=0) + 1.0 for scores in (first, second))
    return float(levels[np.argmax(np.log(hits / false) - 4 * np.sqrt(1 / hits + 1 / false))])


def _log_ratio(hits: int, false: int, trials: int, level: float) -> float:
    """ln of a lower bound on one probability over an upper bound on the other (Clopper-Pearson)."""
    low = stats.beta.ppf(level, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.isf(level, false + 1, trials - false) if false < trials else 1.0
    return math.log(low / high) if low > 0 else 0.0
