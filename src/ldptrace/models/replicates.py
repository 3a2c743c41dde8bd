"""How a fitted model would differ if the noise of the reports had been drawn once more.

Near the fit the potentials are Gaussian: with J the Jacobian of the answers in standard errors and K the prior's
covariance, their covariance is (K^-1 + J^T J)^-1. A replicate is a draw from it, with variances of the prior that are
drawn too: the answers hardly tell them, and a fit with the most likely ones is too sure of what it believed before.
Trips that are drawn from the fitted model stand for those of a replicate when each counts with the ratio of its two
probabilities.

With many potentials single ones are hardly known, only what the answers say of many together. A draw is then far from
the fit, where the Gaussian no longer holds, and few trips would carry all the weight. There a number is taken as linear
in the potentials, as the answers are in the fit, and each trip counts with the derivative of its probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, direction_of
from ldptrace.models.fit import Fit, solver_at
from ldptrace.models.linear import SMALL, one_thread
from ldptrace.models.observation import REPLICATES, Observation
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import Prior
from ldptrace.models.solver import DenseSolver

Ratios = NDArray[np.float32]


def redrawn(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> Floats | None:
    """Return changes of the potentials of the trips, one row for each replicate; None without answers.

    They are drawn from a source of their own, always the same, so that a fit always gives the same model.
    """
    if not observations:
        return None
    solver, logs = solver_at(fit, prior, observations)
    rng = np.random.default_rng(0)
    with one_thread():
        # With many potentials each draw takes about as long as a step of the fit.
        few = isinstance(solver, DenseSolver) or prior.size <= SMALL
        count = REPLICATES if few else REPLICATES // 2
        drawn = solver.changes(fit.model, logs, count, rng)
        # The share of devices with a trip is uncertain, too. A larger one makes all answers larger; each replicate
        # draws one, and potentials that undo it as well as they can.
        nearest, precision = fit.nearest or solver.beyond(solver.growth(fit.model), logs)
    return drawn - np.outer(rng.standard_normal(count) / math.sqrt(max(precision, 1.0)), nearest)


def path_ratios(paths: CellPaths, length: Floats, layout: Layout, draws: Floats, *, linear: bool) -> Ratios:
    """Return how much each path counts in each replicate of a path model: a row for each.

    A path with L cells has probability length(L) times its weight over that of all paths of L cells. The latter is
    taken from the paths themselves. With `linear` changes are those of the first order, and may be below zero.
    """
    graph, lengths = MoveGraph(paths.grid), len(length)
    items = np.minimum(paths.sizes, lengths) - 1
    many = np.bincount(items, minlength=lengths)
    ratios = np.empty((len(draws), len(paths)), dtype=np.float32)
    for row, draw in enumerate(draws):
        exponent, change = _sums(paths, graph, layout, draw), draw[layout.length]
        if linear:
            mean = np.bincount(items, exponent, lengths) / np.maximum(many, 1)
            ratios[row] = 1 + exponent - mean[items] + (change - length @ change)[items]
            continue
        weight = np.exp(exponent)
        mean = np.bincount(items, weight, lengths) / np.maximum(many, 1)
        changed = length * np.exp(change)
        ratios[row] = weight / mean[items] * (changed / changed.sum() / np.maximum(length, 1e-300))[items]
    return normal(ratios)


def _sums(paths: CellPaths, graph: MoveGraph, layout: Layout, potentials: Floats) -> Floats:
    """Return the sum of the potentials along each path, lengths apart."""
    along, features, n = layout.along(graph, potentials), layout.features, graph.grid.n
    sums = np.empty(len(paths))
    district = layout.district(n)
    bends, pairs = (
        along[features.bend].reshape(8, 8, -1),
        along[features.pair].reshape(district.max() + 1, -1),
    )
    moves = graph.leaving(along[features.move])
    tables = along[features.start], along[features.end], moves, bends, pairs, district
    _summed(paths.cells, paths.offsets, n, tables, sums)
    return sums


@kernel
def _summed(cells, offsets, n, tables, sums):  # type: ignore[no-untyped-def]
    start, end, move, bend, pair, district = tables
    for path in range(len(sums)):
        first, last = offsets[path], offsets[path + 1] - 1
        total = start[cells[first]] + end[cells[last]] + pair[district[cells[first]], district[cells[last]]]
        before = -1
        for at in range(first, last):
            here, there = cells[at], cells[at + 1]
            direction = direction_of(there // n - here // n, there % n - here % n)
            total += move[direction, here]
            if before >= 0:
                total += bend[direction, before, here]
            before = direction
        sums[path] = total


def normal(ratios: NDArray[Any]) -> Ratios:
    """Return ratios whose mean over the trips is one in each replicate."""
    return (ratios / ratios.mean(axis=1, keepdims=True)).astype(np.float32)
