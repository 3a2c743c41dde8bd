"""Distances between distributions, as the reference implementation computes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
BUCKETS = 20
MAX_JSD = float(np.log(2.0))
_SMOOTHING = 1e-8


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> float:
    """Jensen-Shannon divergence of two distributions in nats (the divergence, not its square root).

    Every logarithm is smoothed by 1e-8, so equal distributions give exactly 0 and disjoint ones ln 2 - 1e-7.

    >>> jensen_shannon([0.5, 0.5], [0.5, 0.5])
    0.0
    """
    first, second = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    middle = (first + second) / 2
    return 0.5 * _kullback_leibler(first, middle) + 0.5 * _kullback_leibler(second, middle)


def _kullback_leibler(p: Floats, q: Floats) -> float:
    return float(np.sum(np.log((p + _SMOOTHING) / (q + _SMOOTHING)) * p))


def count_divergence(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Jensen-Shannon divergence of two histograms; one of them empty shares nothing with the other."""
    first, second = np.asarray(real, dtype=np.float64), np.asarray(synthetic, dtype=np.float64)
    if first.sum() == 0 or second.sum() == 0:
        return 0.0 if first.sum() == second.sum() else MAX_JSD
    return jensen_shannon(first / first.sum(), second / second.sum())


def reference_histograms(real: Floats, synthetic: Floats) -> tuple[Floats, Floats]:
    """Twenty buckets of a twentieth of the real range each, as the reference counts them.

    They begin at 0 instead of the smallest value, both ends belong to a bucket, and what lies above the last
    one is not counted.

    >>> reference_histograms(np.array([0.0, 20.0]), np.array([1.0, 25.0]))[1][:3].tolist()
    [1.0, 1.0, 0.0]
    """
    starts = np.arange(BUCKETS) * ((real.max() - real.min()) / BUCKETS)
    ends = starts + (real.max() - real.min()) / BUCKETS

    def count(values: Floats) -> Floats:
        # Values not below each start, less values above each end.
        reached = np.bincount(np.searchsorted(starts, values, side="right"), minlength=BUCKETS + 1)
        passed = np.bincount(np.searchsorted(ends, values, side="left"), minlength=BUCKETS + 1)
        inside = (reached - passed)[::-1].cumsum()[::-1][1:]
        counts: Floats = inside.astype(np.float64)
        return counts

    return count(real), count(synthetic)


def full_histograms(real: Floats, synthetic: Floats) -> tuple[Floats, Floats]:
    """Twenty half-open buckets over the real range with one more below and one above: nothing is lost.

    >>> full_histograms(np.array([0.0, 20.0]), np.array([-1.0, 1.0, 25.0]))[1].tolist()[:4]
    [1.0, 0.0, 1.0, 0.0]
    """
    low, high = float(real.min()), float(real.max())
    edges = np.linspace(low, high, BUCKETS + 1) if high > low else np.array([low, high])
    edges[-1] = np.nextafter(high, np.inf)
    size = len(edges) + 1

    def count(values: Floats) -> Floats:
        return np.bincount(np.searchsorted(edges, values, side="right"), minlength=size).astype(np.float64)

    return count(real), count(synthetic)
