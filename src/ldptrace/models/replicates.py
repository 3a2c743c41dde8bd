"""How a fitted model would differ if the noise of the reports had been drawn once more.

Near the fit the potentials are Gaussian: with J the Jacobian of the answers in standard errors and K the prior's
covariance, their covariance is (K^-1 + J^T J)^-1. A replicate is a draw from it, with variances of the prior that are
drawn too: the answers hardly tell them, and a fit with the most likely ones is too sure of what it believed before.
Trips that are drawn from the fitted model stand for those of a replicate when each counts with the ratio of its two
probabilities.

On large grids single potentials are hardly known, only what the answers say of many together. A draw is then far from
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
from ldptrace.core.paths import CellPaths
from ldptrace.models.fit import Fit, solver_at
from ldptrace.models.linear import one_thread
from ldptrace.models.observation import REPLICATES, Observation
from ldptrace.models.prior import Prior
from ldptrace.models.solver import DenseSolver

Ratios = NDArray[np.float32]


def redrawn(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> Floats | None:
    """Changes of the potentials of the trips, one row for each replicate; None without answers.

    They are drawn from a source of their own, always the same, so that a fit always gives the same model.
    """
    if not observations:
        return None
    solver, here, logs = solver_at(fit, prior, observations)
    rng = np.random.default_rng(0)
    with one_thread():
        # On large grids each draw takes about as long as a step of the fit.
        count = REPLICATES if isinstance(solver, DenseSolver) else REPLICATES // 2
        drawn = solver.changes(here, logs, count, rng)
        # With more devices that have a trip, each of them answers less.
        nearest, precision = solver.beyond(solver.growth(here), logs)
    return drawn - np.outer(rng.standard_normal(count) / math.sqrt(max(precision, 1.0)), nearest)


def path_ratios(paths: CellPaths, length: Floats, draws: Floats, *, linear: bool = False) -> Ratios:
    """How much each path counts in each replicate of a path model: a row for each.

    A path with L cells has probability length(L) times its weight over that of all paths of L cells. The latter is
    taken from the paths themselves. With `linear` changes are those of the first order, and may be below zero.
    """
    # Tables of paths load scipy, which a run without them does not need.
    from ldptrace.models.routes.answers import PathTables

    tables = PathTables(paths, len(length))
    at = tables.layout.length
    features = tables.features
    space, items = features[:, : at.start], tables.length_items
    many = np.bincount(items, minlength=len(length))
    ratios = np.empty((len(draws), len(paths)), dtype=np.float32)
    for row, draw in enumerate(draws):
        exponent = space @ draw[: at.start]
        if linear:
            mean = np.bincount(items, exponent, len(length)) / np.maximum(many, 1)
            change = draw[at] - length @ draw[at]
            ratios[row] = 1 + exponent - mean[items] + change[items]
            continue
        weight = np.exp(exponent)
        mean = np.bincount(items, weight, len(length)) / np.maximum(many, 1)
        lengths = length * np.exp(draw[at])
        change = lengths / lengths.sum() / np.maximum(length, 1e-300)
        ratios[row] = weight / mean[items] * change[items]
    return normal(ratios)


def normal(ratios: NDArray[Any]) -> Ratios:
    """Ratios whose mean over the trips is one in each replicate."""
    return (ratios / ratios.mean(axis=1, keepdims=True)).astype(np.float32)
