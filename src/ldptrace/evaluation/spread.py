"""How values are spread: extremes, sum and fine logarithmic classes, which add up over blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldptrace.core.adding import added
from ldptrace.core.arrays import Floats, Ints
from ldptrace.evaluation.divergence import BUCKETS, Scale
from ldptrace.evaluation.traces import CLASSES, LOWEST, PER_DOUBLING

# Share of the values that a drawing leaves out: rare exceptions.
RARE = 0.005


@dataclass(frozen=True, eq=False)
class Spread:
    """The least and the greatest value, their sum, and how many fall into each logarithmic class.

    >>> both = Spread.of(np.array([1.0, 3.0])) + Spread.of(np.array([8.0]))
    >>> both.low, both.high, both.mean
    (1.0, 8.0, 4.0)
    """

    low: float
    high: float
    total: float
    classes: Ints

    @staticmethod
    def nothing() -> Spread:
        """Of no value."""
        return Spread(math.inf, -math.inf, 0.0, np.zeros(CLASSES, dtype=np.int64))

    @staticmethod
    def of(values: Floats) -> Spread:
        """Of the values of a block."""
        if len(values) == 0:
            return Spread.nothing()
        positive = np.maximum(values, 2.0**LOWEST)
        place = np.floor((np.log2(positive) - LOWEST) * PER_DOUBLING).astype(np.int64)
        counts = np.bincount(np.clip(place, 0, CLASSES - 1), minlength=CLASSES)
        return Spread(float(values.min()), float(values.max()), float(values.sum()), counts)

    def __add__(self, other: Spread) -> Spread:
        return added(self, other, low=min(self.low, other.low), high=max(self.high, other.high))

    @property
    def mean(self) -> float:
        return self.total / max(int(self.classes.sum()), 1)

    @property
    def usual_most(self) -> float:
        """About the greatest value that is not a rare exception: the upper end of its class."""
        reached = self.classes.cumsum()
        place = int(np.searchsorted(reached, (1 - RARE) * reached[-1]))
        return min(self.high, 2.0 ** (LOWEST + (place + 1) / PER_DOUBLING))

    def scale(self) -> Scale:
        """The buckets that any set's values are counted in beside these."""
        return Scale(self.low, self.high, round_edges(self.usual_most))


def round_edges(most: float) -> Floats:
    """Twenty round buckets from zero to about that value.

    >>> round_edges(37.0)[[0, 1, -1]].tolist()
    [0.0, 2.0, 40.0]
    """
    width = most / BUCKETS
    if width <= 0:
        return np.linspace(0.0, 1.0, BUCKETS + 1)
    power = 10.0 ** np.floor(np.log10(width))
    rounded = next(
        step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= width * 0.999
    )
    return np.arange(BUCKETS + 1) * rounded


def padded_sum(first: Ints, second: Ints) -> Ints:
    """The sum of two tables, the shorter one followed by zeros.

    >>> padded_sum(np.array([1, 2]), np.array([1])).tolist()
    [2, 2]
    """
    total = np.zeros(max(len(first), len(second)), dtype=np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total


def quantile(counts: Ints, share: float) -> float:
    """Quantile of whole numbers, given how many are 0, 1, 2 ..., interpolated as numpy does.

    >>> float(quantile(np.array([0, 1, 3]), 0.5)), float(np.quantile([1, 2, 2, 2], 0.5))
    (2.0, 2.0)
    """
    reached = counts.cumsum()
    at = share * (reached[-1] - 1)
    below, above = (
        int(np.searchsorted(reached, rank, side="right")) for rank in (math.floor(at), math.ceil(at))
    )
    return below + (at - math.floor(at)) * (above - below)
