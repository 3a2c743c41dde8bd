"""AdaTrace's defences against attacks, as far as they need nothing but what is published already.

Of its three, two are post-processing here. Bayesian inference: what visitors of a sensitive cell do must not differ
much from what all do. Outlier leakage: nobody begins or ends where fewer than kappa trips were counted, with noise. The
third, partial sniffing, compares every real trip with every synthetic one after epsilon is spent; it has no such form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.paths import CellPaths
from ldptrace.errors import InputError
from ldptrace.evaluation.divergence import count_divergence
from ldptrace_lab.central.curator import Floats

# How far the visitors may be from all, in Jensen-Shannon divergence, and how often trips are drawn anew for it.
FAR, ROUNDS = 0.1, 100


def deniable(trips: Floats, kappa: float) -> Floats:
    """Return noisy counts of trips (first cell, last cell) without ends that fewer than kappa trips have.

    >>> deniable(np.array([[50.0, 1.0], [2.0, 50.0]]), 10.0).tolist()
    [[50.0, 1.0], [2.0, 50.0]]
    >>> deniable(np.array([[50.0, 1.0], [2.0, 3.0]]), 10.0).tolist()
    [[50.0, 0.0], [0.0, 0.0]]
    """
    first, last = trips.sum(axis=1) >= kappa, trips.sum(axis=0) >= kappa
    kept = np.where(first[:, None] & last, trips, 0.0)
    if not kept.any():
        raise InputError(f"kappa is too large: fewer than {kappa:g} begin in each cell, or end in each")
    return kept


def shielded(paths: CellPaths, cell: int, draw: Callable[[int], CellPaths]) -> CellPaths:
    """Redraw paths through the cell until an attacker learns little from a visit to it; otherwise avoid the cell."""
    if not 0 <= cell < paths.grid.cells:
        raise InputError(f"sensitive must be a cell from 0 to {paths.grid.cells - 1}, got {cell!r}")
    before = _beliefs(paths)
    for _ in range(ROUNDS):
        through = _visitors(paths, cell)
        if not through.any():
            return paths
        after = _beliefs(paths.take(through))
        if all(count_divergence(*pair) <= FAR for pair in zip(before, after, strict=True)):
            return paths
        paths = CellPaths.concat([paths.take(~through), draw(int(through.sum()))])
    raise InputError(f"nearly all trips visit the sensitive cell {cell}, so none can replace them")


def _visitors(paths: CellPaths, cell: int) -> NDArray[np.bool_]:
    owners = np.repeat(np.arange(len(paths)), paths.sizes)
    return np.bincount(owners[paths.cells == cell], minlength=len(paths)) > 0


def _beliefs(paths: CellPaths) -> tuple[Floats, Floats]:
    """Return what an attacker believes: how often trips have each pair of ends, and moves each pair of cells."""
    cells = paths.grid.cells
    ends = np.bincount(paths.starts().astype(np.int64) * cells + paths.ends(), minlength=cells**2)
    inner = np.ones(len(paths.cells), dtype=bool)
    inner[paths.offsets[:-1]] = False
    at = np.flatnonzero(inner)
    moves = np.bincount(paths.cells[at - 1].astype(np.int64) * cells + paths.cells[at], minlength=cells**2)
    return ends.astype(np.float64), moves.astype(np.float64)
