"""Agreement of two rankings of the cells: Kendall's tau and the gain of the hottest cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ldptrace.core.arrays import Ints
from ldptrace.core.kernels import kernel


def kendall_tau(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Kendall's tau as the reference counts it.

    Pairs tied in the real counts are not in the numerator, pairs tied in the synthetic counts alone are
    discordant, and all pairs are in the denominator: 1 is out of reach when the real counts have ties.

    >>> kendall_tau([1, 2, 3], [1, 2, 2])
    0.3333333333333333
    """
    pairs, discordant, tied_real, tied_synthetic, tied_both = _pairs(real, synthetic)
    if pairs == 0:
        return math.nan
    reversed_ = discordant + tied_synthetic - tied_both
    concordant = pairs - tied_real - reversed_
    return (concordant - reversed_) / pairs


def kendall_tau_b(real: ArrayLike, synthetic: ArrayLike) -> float:
    """Kendall's tau-b, which corrects for ties on both sides; undefined (NaN) when one side is constant.

    >>> round(kendall_tau_b([1, 2, 3], [1, 2, 2]), 6)
    0.816497
    """
    pairs, discordant, tied_real, tied_synthetic, tied_both = _pairs(real, synthetic)
    concordant = pairs - tied_real - tied_synthetic + tied_both - discordant
    untied = (pairs - tied_real) * (pairs - tied_synthetic)
    return (concordant - discordant) / math.sqrt(untied) if untied else math.nan


def hotspot_gain(real: ArrayLike, synthetic: ArrayLike, top: int = 5) -> float:
    """NDCG of the `top` hottest cells: a cell is worth 1 / its real rank; ties go to the lower cell number.

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
    """Number of pairs: all, discordant, tied in real, tied in synthetic, tied in both."""
    first = np.unique(np.asarray(real), return_inverse=True)[1]
    second = np.unique(np.asarray(synthetic), return_inverse=True)[1]
    order = np.lexsort((second, first))
    discordant = int(_inversions(second[order].astype(np.int64)))
    both = first * (second.max() + 1 if len(second) else 1) + second
    ties = (_tied(labels) for labels in (first, second, both))
    return len(first) * (len(first) - 1) // 2, discordant, *ties  # type: ignore[return-value]


def _tied(labels: Ints) -> int:
    counts = np.unique(labels, return_counts=True)[1]
    return int(np.sum(counts * (counts - 1) // 2))


@kernel
def _inversions(ranks):  # type: ignore[no-untyped-def]
    """Pairs i < j with ranks[i] > ranks[j], by a Fenwick tree."""
    tree = np.zeros(len(ranks) + 1, dtype=np.int64)
    inversions = 0
    for seen in range(len(ranks)):
        at_most = 0
        node = ranks[seen] + 1
        while node > 0:
            at_most += tree[node]
            node -= node & -node
        inversions += seen - at_most
        node = ranks[seen] + 1
        while node < len(tree):
            tree[node] += 1
            node += node & -node
    return inversions
