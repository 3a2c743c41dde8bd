"""Kinds of drivers: which shares of them the answers show.

Drivers choose routes differently, and a library has routes of a few kinds of drivers (`ldptrace.roads.library`), in
equal parts unless the answers say otherwise. Potentials cannot learn the shares: routes of two kinds are drawn between
different places, and this chance difference is larger than the true one. So routes of all kinds are drawn between the
same ends. With q_k the part of the trips that drivers of kind k make, the expected answers are the sum of q_k y_k. So
with misfit r, and with S the covariance of the answers, of their noise and of all potentials together,

    log P(answers | q) = r^T S^-1 D (q - q0) - (q - q0)^T D^T S^-1 D (q - q0) / 2 + constant,

D the answers y_k of each kind in units of their standard errors, and q0 what equal shares lead to. The chance by which
trees of routes were drawn lowers the weight of this evidence. Before any answer the shares follow Dirichlet's law with
all parameters `BEFORE`; the fitted shares are their mean after the answers. Equal shares stay where the answers do not
clearly prefer others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.estimates import Estimates
from ldptrace.models.fit import solver_at
from ldptrace.models.linear import one_thread
from ldptrace.models.observation import Observation
from ldptrace.models.path.model import longest
from ldptrace.models.routes.ends import Ends
from ldptrace.models.routes.fitted import Fitted
from ldptrace.models.routes.weighting import Weighting
from ldptrace.models.solver import DenseSolver
from ldptrace.roads.library import Library, Pool

# Routes of each kind that are compared, and the trees of routes that their ends come from.
ROUTES, TREES = 20_000, 700
# Parameters of the law of the shares before any answer, draws of it, and the logarithm of the odds that answers must
# give for unequal shares.
BEFORE, DRAWS, CLEAR = 0.5, 100_000, 3.0


@dataclass(frozen=True, eq=False)
class Drivers:
    """What the answers say of the kinds of drivers.

    `found` are the shares of the kinds with their standard errors, if they are not equal, and `odds` is the logarithm
    of the odds that the answers give for this. `kinds` are those of `Library.kinds`.
    """

    kinds: tuple[tuple[float, float], ...]
    found: Floats
    errors: Floats
    odds: float

    @property
    def clear(self) -> bool:
        """Whether the answers show that the shares are not equal."""
        return self.odds > CLEAR

    @property
    def shares(self) -> Floats:
        """The shares to use: equal ones, unless the answers clearly show others."""
        return self.found if self.clear else np.full(len(self.kinds), 1 / len(self.kinds))

    @property
    def lines(self) -> list[str]:
        """The shares in sentences."""
        if len(self.kinds) == 1:
            return []
        if not self.clear:
            return [
                f"Kinds of drivers: {len(self.kinds)} kinds in equal parts are assumed, because the answers do not "
                "clearly show other shares."
            ]
        lines = ["Kinds of drivers, as the answers show (without answers, equal parts are assumed):"]
        for (price, noise), share, error in zip(self.kinds, self.found, self.errors, strict=True):
            lines += [
                f"  {share:4.0%} ± {error:.0%}: turns cost {price:g} times the usual, streets vary by {noise:.0%}"
            ]
        return lines

    @staticmethod
    def assumed(kinds: tuple[tuple[float, float], ...]) -> Drivers:
        """Return what is assumed without answers: equal shares."""
        equal = np.full(len(kinds), 1 / len(kinds))
        return Drivers(kinds, equal, np.sqrt(equal * (1 - equal) / (BEFORE * len(kinds) + 1)), 0.0)

    def document(self) -> dict[str, Any]:
        """Return plain data for files."""
        return {
            "kinds": [list(kind) for kind in self.kinds],
            "found": self.found.tolist(),
            "errors": self.errors.tolist(),
            "odds": self.odds,
        }

    @staticmethod
    def restored(data: Mapping[str, Any] | None) -> Drivers | None:
        """Read it from the plain data of a file, and check it."""
        if data is None:
            return None
        kinds = tuple((float(price), float(noise)) for price, noise in data["kinds"])
        shares, errors = (np.array(data[name], dtype=np.float64) for name in ("found", "errors"))
        known = len(kinds) == len(shares) == len(errors) and np.isfinite([*shares, *errors]).all()
        if not (known and shares.min() >= 0 and abs(shares.sum() - 1) < 1e-6 and math.isfinite(data["odds"])):
            raise ValueError(f"shares of kinds of drivers are not negative and add up to 1, got {dict(data)}")
        return Drivers(kinds, shares, errors, float(data["odds"]))

    @staticmethod
    def of(
        fitted: Fitted,
        pool: Pool,
        drawing: Library,
        estimates: Estimates,
        observations: Sequence[Observation],
        rng: np.random.Generator,
    ) -> Drivers:
        """Compare the kinds of drivers at a fit of a pool."""
        equal, by_kind = _answers(fitted, pool, drawing, estimates, observations, rng)
        here = fitted.fit.model
        solver, logs = solver_at(fitted.fit, fitted.prior, observations)
        assert isinstance(solver, DenseSolver)
        apart = solver.with_trip * solver.stacked(by_kind) / solver.errors[:, None]
        apart -= (apart @ equal)[:, None]
        with one_thread():
            target = solver.misfit(here) + solver.jacobian @ here.potentials
            weighed = np.array([each - solver.jacobian @ solver.beyond(each, logs)[0] for each in apart.T])
        slope, curvature = weighed @ target, weighed @ apart
        # The slope varies by the noise of the answers, and as other trees of routes would have other answers.
        trees = here.scatter(solver.with_trip * solver.by_item(weighed / solver.errors), pool.tree)
        believed = curvature @ np.linalg.pinv(curvature + trees, hermitian=True)
        return likely_shares(drawing.kinds, equal, believed @ slope, believed @ curvature, rng)


def likely_shares(
    kinds: tuple[tuple[float, float], ...],
    equal: Floats,
    slope: Floats,
    curvature: Floats,
    rng: np.random.Generator,
) -> Drivers:
    """Return the shares given the answers.

    `equal` are the parts of the trips that kinds in equal shares have after the fit. The log-probability of the answers
    has this slope and curvature there.
    """

    def chance(shares: Floats) -> Floats:
        trips = shares * equal
        change = trips / trips.sum(axis=-1, keepdims=True) - equal
        return change @ slope - 0.5 * np.einsum("...i,ij,...j", change, curvature, change)

    drawn = rng.dirichlet(np.full(len(equal), BEFORE), DRAWS)
    values = chance(drawn)
    weights = np.exp(values - values.max())
    odds = float(np.log(weights.mean()) + values.max())
    mean = np.average(drawn, axis=0, weights=weights)
    errors = np.sqrt(np.average((drawn - mean) ** 2, axis=0, weights=weights))
    return Drivers(kinds, mean, errors, odds)


def _answers(
    fitted: Fitted,
    pool: Pool,
    drawing: Library,
    estimates: Estimates,
    observations: Sequence[Observation],
    rng: np.random.Generator,
) -> tuple[Floats, Mapping[str, Floats]]:
    """Return which part of the trips kinds of equal shares have at a fit, and the answers that trips of each kind
    give."""
    model, weights = fitted.fit.model, fitted.weights
    # Growing trees takes most of the time, so routes of some trees stand for all.
    some = np.zeros(len(pool.root), dtype=bool)
    some[rng.permutation(len(some))[:TREES]] = True
    chances = weights * some[pool.tree]
    picked = np.searchsorted(
        np.cumsum(chances / chances.sum()), (np.arange(ROUTES) + rng.random(ROUTES)) / ROUTES
    )
    picked = np.minimum(picked, len(weights) - 1)
    picked = picked[np.argsort(pool.tree[picked], kind="stable")]
    # Ends were picked by the weights of their routes; all routes between them have weights of their own.
    public = pool.routes.weights[picked] / weights[picked]
    strides = fitted.strides.take(picked)
    public = strides.weighted(public)
    totals, answers = [], []
    for routes in drawing.alternatives(pool, picked, rng):
        cells, ends = strides.cells(routes, estimates.plan.grid), Ends.of(routes, estimates.plan.grid)
        same = Weighting.of(cells, strides.kind, ends, public, longest(estimates), observations)
        there = same.moved(model.potentials)
        totals.append(there.mass_now)
        answers.append(there.answers({seen.name: seen.most for seen in observations}))
    return np.array(totals) / sum(totals), {
        seen.name: np.stack([each[seen.name] for each in answers], axis=1) for seen in observations
    }
