"""Distances between distributions, and agreement of rankings, as the reference implementation computes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import Each, added
from ldptrace.evaluation.traces import CLASSES, LOWEST, PER_DOUBLING
from ldptrace.pages.charts import round_up

BUCKETS = 20
MAX_JSD = float(np.log(2.0))
_SMOOTHING = 1e-8


def count_divergence(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Compute the Jensen-Shannon divergence of two histograms in nats (the divergence, not its square root). If one is
    empty, they have nothing in common.

    Every logarithm is smoothed by 1e-8, so equal histograms give exactly 0 and disjoint ones ln 2 - 1e-7.

    >>> count_divergence([5, 5], [1, 1])
    0.0
    """
    p, q = np.asarray(real, dtype=np.float64), np.asarray(synthetic, dtype=np.float64)
    if p.sum() == 0 or q.sum() == 0:
        return 0.0 if p.sum() == q.sum() else MAX_JSD
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    return 0.5 * float(np.sum(_terms(p, middle))) + 0.5 * float(np.sum(_terms(q, middle)))


def divergence_terms(p: Floats, q: Floats) -> Floats:
    """Return the contribution of each item to the Jensen-Shannon divergence, for many distributions at once."""
    middle = (p + q) / 2
    return (_terms(p, middle) + _terms(q, middle)) / 2


def _terms(p: Floats, q: Floats) -> Floats:
    return np.log((p + _SMOOTHING) / (q + _SMOOTHING)) * p


def table_divergence(
    real: tuple[NDArray[Any], NDArray[Any]], synthetic: tuple[NDArray[Any], NDArray[Any]]
) -> float:
    """Return the Jensen-Shannon divergence of two tables (items, counts). Items may repeat.

    >>> table_divergence((np.array([3, 5]), np.array([1, 1])), (np.array([5, 3, 5]), np.array([1, 2, 1])))
    0.0
    """
    both, place = np.unique(np.concatenate((real[0], synthetic[0])), return_inverse=True)
    first, second = place[: len(real[0])], place[len(real[0]) :]
    return count_divergence(
        np.bincount(first, weights=real[1], minlength=len(both)),
        np.bincount(second, weights=synthetic[1], minlength=len(both)),
    )


def reference_counts(values: Floats, low: float, high: float) -> Floats:
    """Return counts in twenty equal buckets over a range, as in the reference code: they begin at 0 instead of the
    smallest value, both ends belong to a bucket, and values above the last bucket are not counted.

    >>> reference_counts(np.array([1.0, 25.0]), 0.0, 20.0)[:3].tolist()
    [1.0, 1.0, 0.0]
    """
    starts = np.arange(BUCKETS) * ((high - low) / BUCKETS)
    ends = starts + (high - low) / BUCKETS
    # Values not below each start, less values above each end.
    reached = np.bincount(np.searchsorted(starts, values, side="right"), minlength=BUCKETS + 1)
    passed = np.bincount(np.searchsorted(ends, values, side="left"), minlength=BUCKETS + 1)
    inside = (reached - passed)[::-1].cumsum()[::-1][1:]
    return inside.astype(np.float64)


def full_counts(values: Floats, low: float, high: float) -> Floats:
    """Return counts in twenty half-open buckets over a range, with one more bucket below and one above, so that no
    value is lost.

    >>> full_counts(np.array([-1.0, 1.0, 25.0]), 0.0, 20.0).tolist()[:4]
    [1.0, 0.0, 1.0, 0.0]
    """
    edges = np.linspace(low, high, BUCKETS + 1) if high > low else np.array([low, high])
    edges[-1] = np.nextafter(high, np.inf)
    return _counted(values, edges)


def _counted(values: Floats, edges: Floats) -> Floats:
    """Return counts between the edges, with one bucket below and one above."""
    where = np.searchsorted(edges, values, side="right")
    return np.bincount(where, minlength=len(edges) + 1).astype(np.float64)


# Share of the values that a drawing leaves out: rare exceptions.
RARE = 0.005


def class_counts(values: Floats) -> Ints:
    """Return the number of values in each fine logarithmic class of `Traces`."""
    place = np.floor((np.log2(np.maximum(values, 2.0**LOWEST)) - LOWEST) * PER_DOUBLING).astype(np.int64)
    return np.bincount(np.clip(place, 0, CLASSES - 1), minlength=CLASSES)


@dataclass(frozen=True, eq=False)
class Spread:
    """The smallest and largest value, the sum of all values, and the number of values in each logarithmic class.

    The spread of a real set decides the buckets of the histograms of all sets.

    >>> both = Spread.of(np.array([1.0, 3.0])) + Spread.of(np.array([8.0]))
    >>> both.low, both.high, both.mean
    (1.0, 8.0, 4.0)
    """

    low: float
    high: float
    total: float
    classes: Ints

    @staticmethod
    def of(values: Floats) -> Spread:
        """Compute the spread of the values of a block."""
        low, high = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
        return Spread(low, high, float(values.sum()), class_counts(values))

    def __add__(self, other: Spread) -> Spread:
        return added(self, other, low=min(self.low, other.low), high=max(self.high, other.high))

    @property
    def mean(self) -> float:
        return self.total / max(int(self.classes.sum()), 1)

    @cached_property
    def drawn(self) -> Floats:
        """The borders of the buckets in which values are drawn: up to the largest value that is not a rare exception,
        rounded up to the end of its class."""
        reached = self.classes.cumsum()
        place = int(np.searchsorted(reached, (1 - RARE) * reached[-1]))
        return round_edges(min(self.high, 2.0 ** (LOWEST + (place + 1) / PER_DOUBLING)))

    def counted(self, values: Floats) -> Each[Floats]:
        """Return the values of any set in three histograms over the range of this set: as in the reference code,
        without loss, and for drawing. Counts of parts can be added."""
        return Each(
            (
                reference_counts(values, self.low, self.high),
                full_counts(values, self.low, self.high),
                _counted(values, self.drawn),
            )
        )


def round_edges(most: float) -> Floats:
    """Return the edges of twenty buckets with round widths from zero to about this value.

    >>> round_edges(37.0)[[0, 1, -1]].tolist()
    [0.0, 2.0, 40.0]
    """
    width = most / BUCKETS
    if width <= 0:
        return np.linspace(0.0, 1.0, BUCKETS + 1)
    return np.arange(BUCKETS + 1.0) * round_up(width, (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10))


def kendall_tau(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Compute Kendall's tau as the reference counts it.

    Pairs tied in the real counts are not in the numerator, pairs tied in the synthetic counts alone are
    discordant, and all pairs are in the denominator: 1 is out of reach when the real counts have ties.

    >>> kendall_tau([1, 2, 3], [1, 2, 2])
    0.3333333333333333
    """
    pairs, agreement, _, tied_synthetic, tied_both = _pairs(real, synthetic)
    return (agreement - (tied_synthetic - tied_both)) / pairs if pairs else math.nan


def kendall_tau_b(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Compute Kendall's tau-b, which corrects for ties on both sides; undefined (NaN) when one side is constant.

    >>> round(kendall_tau_b([1, 2, 3], [1, 2, 2]), 6)
    0.816497
    """
    pairs, agreement, tied_real, tied_synthetic, _ = _pairs(real, synthetic)
    untied = (pairs - tied_real) * (pairs - tied_synthetic)
    return agreement / math.sqrt(untied) if untied else math.nan


def hotspot_gain(real: ArrayLike, synthetic: ArrayLike, top: int = 5) -> float:
    """Return the NDCG of the `top` busiest cells. A cell is worth 1 / its real rank; ties go to the lower cell number.

    >>> hotspot_gain([9, 8, 7, 0], [9, 8, 7, 0], top=3)
    1.0
    """
    truth = np.argsort(-np.asarray(real), kind="stable")[:top]
    guess = np.argsort(-np.asarray(synthetic), kind="stable")[:top]
    worth = {int(cell): 1.0 / (rank + 1) for rank, cell in enumerate(truth)}
    discount = 1.0 / np.log2(np.arange(2, top + 2))
    gains = np.zeros(top)
    gains[: len(guess)] = [worth.get(int(cell), 0.0) for cell in guess]
    ideal = float(np.sum(discount / np.arange(1, top + 1)))
    return min(1.0, float(np.sum(gains * discount)) / ideal)


def _pairs(real: ArrayLike, synthetic: ArrayLike) -> tuple[int, int, int, int, int]:
    """Return the numbers of pairs: all, concordant less discordant ones, tied in real, tied in synthetic, tied in
    both."""
    from scipy.stats import kendalltau

    first = np.unique(np.asarray(real), return_inverse=True)[1]
    second = np.unique(np.asarray(synthetic), return_inverse=True)[1]
    pairs, ties = len(first) * (len(first) - 1) // 2, []
    for labels in (first, second, first * len(second) + second):
        counts = np.unique(labels, return_counts=True)[1]
        ties.append(int(np.sum(counts * (counts - 1) // 2)))
    untied = (pairs - ties[0]) * (pairs - ties[1])
    # Tau-b is this difference over the root; whole numbers are exact again after rounding.
    agreement = round(kendalltau(first, second).statistic * math.sqrt(untied)) if untied else 0
    return pairs, agreement, *ties  # type: ignore[return-value]


# Shares of the real values below the lowest class and above the highest one.
TAIL = 0.005


def log_classes(real: Floats) -> tuple[int, int, int]:
    """Return the first fine class, the fine classes per class, and the number of classes, at most twenty over the real
    values. One more class below and one above contain all other values.
    """
    running = np.cumsum(real)
    low, high = np.searchsorted(running, [TAIL * running[-1], (1 - TAIL) * running[-1]])
    width = max(1, math.ceil((high - low + 1) / BUCKETS))
    return int(low), width, math.ceil((high - low + 1) / width)


def grouped(counts: Floats, classes: tuple[int, int, int]) -> Floats:
    """Return fine classes summed to the given classes, with one class below and one above.

    >>> grouped(np.arange(6.0), (1, 2, 2)).tolist()
    [0.0, 3.0, 7.0, 5.0]
    """
    low, width, number = classes
    edges = np.minimum(np.concatenate(([0], low + width * np.arange(number + 1))), len(counts))
    running = np.concatenate(([0.0], np.cumsum(counts)))
    at = np.concatenate((running[edges], running[-1:]))
    return np.diff(at)


def class_edges(classes: tuple[int, int, int]) -> Floats:
    """Return the values at the borders of the classes."""
    low, width, number = classes
    return np.exp2((low + width * np.arange(number + 1)) / PER_DOUBLING + LOWEST)


def log_divergence(real: Floats, synthetic: Floats) -> float:
    """Return the divergence of two histograms of fine logarithmic classes, in the classes of the real set."""
    if real.sum() == 0 or synthetic.sum() == 0:
        return math.nan
    classes = log_classes(real)
    return count_divergence(grouped(real, classes), grouped(synthetic, classes))
