"""Fits without any large matrix: conjugate gradients on products with the Jacobian.

The potentials are x = sum of sqrt(v_g) B_g c_g with c standard normal before any answer. In c the equations of a
Gauss-Newton step are (1 + W^T W) step = W^T misfit - c, W the Jacobian times the scaled bases: as many directions
matter as the answers can tell from noise, and conjugate gradients need about as many products. Sums of similar answers
(`pools`) carry most of the information; their rows of the Jacobian are computed, to estimate the variances from and
to precondition with (`Preconditioner`). Answers that are nearly exact are far from linear on the way to
them: a step that brings little of what it promised is shortened, then damped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import map_chunks
from ldptrace.models.evidence import Spread, climbed
from ldptrace.models.linear import Root
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior
from ldptrace.models.solver import LargePredictor, Model, Solver

# Reading the rows is what takes the time, so they are of single precision, as long as it tells the 1 of the equations
# from nothing beside the largest square of a row.
Halves = NDArray[np.float32]
LARGEST = 1e6
# Columns are omitted if their square is at most this part of the diagonal.
SLIGHT = 1.0


class Preconditioner:
    """What makes conjugate gradients quick: an inverse of nearly the equations (1 + damping + W^T W) step = right side.

    Sums of similar answers carry most of what potentials share in W^T W: their rows R of W are `views`. What single
    answers add is taken as a diagonal D, estimated by random signs s: the mean of (W^T s)^2. Bases overlap, so that the
    whole of it would be too much, and its root serves best. The inverse of D + R^T R takes a factor with as many rows
    as pools, and only the columns in which R^T R is more than D: others would add to the time, not to the precision.
    """

    def __init__(self, views: Halves, diagonal: Floats) -> None:
        self._views, self._squares = views, (views**2).sum(axis=0, dtype=np.float64)
        self._left = np.maximum(diagonal - self._squares, 0)
        self._made: tuple[bytes, float] | None = None

    def inverse(self, sizes: Floats, damping: float) -> Callable[[Floats], Floats]:
        """Multiply with the inverse of D + R^T R."""
        diagonal = damping + np.sqrt(1 + sizes**2 * self._left)
        told = np.flatnonzero(sizes**2 * self._squares > SLIGHT * diagonal)
        if not len(told):
            return lambda values: values / diagonal
        made = sizes.tobytes(), damping
        if made != self._made:
            scaled = self._views[:, told] * (sizes / np.sqrt(diagonal))[told].astype(np.float32)
            if np.einsum("ij,ij->i", scaled, scaled).max() > LARGEST:
                scaled = scaled.astype(np.float64)
            square = (scaled @ scaled.T).astype(np.float64)
            square[np.diag_indices_from(square)] += 1
            self._rows, self._root, self._made = scaled, Root(square), made
        rows, root, root_diagonal = self._rows, self._root, np.sqrt(diagonal)

        def inverse(values: Floats) -> Floats:
            alone = values / root_diagonal
            seen = (rows @ alone[told].astype(rows.dtype)).astype(np.float64)
            alone[told] -= root.solve(seen).astype(rows.dtype) @ rows
            return alone / root_diagonal

        return inverse


# The part of an answer that is not fitted: no model of thousands of cells is exact.
INEXACT = 0.01
# Steps of the first round at most and of later ones, each with derivatives of its own.
APPROACH, CHORDS = 6, 2
# Products of a solution at most, and the part of the equations' right side that may be left over: more of it in steps,
# as the next one corrects them.
PRODUCTS, LEFT_OVER, ROUGHLY = 40, 0.1, 0.3
# A step is made in full, or else that much of it: where it brings so much of what the equations promise, or, the
# shortest, anything. How often it is damped more, tenfold each time.
SHARES, KEPT, DAMPINGS = (1.0, 0.6, 0.3), 0.25, 8
# Mean squared misfit above which the first step is damped, and its part that it is damped with.
FAR_OFF, FIRST_DAMPING = 25.0, 0.2
# Random vectors that a trace is estimated from, and a diagonal.
PROBES, SIGNS = 6, 8
# Pools that are expected to be less than this many of their standard errors tell next to nothing: their rows would
# only take time.
UNTOLD = 1.0
# A step that moves the answers by more standard errors than this begins far from the fit: the first round ends with one
# that does not, and rows of the pools are computed again after one that does. Later rounds end with one of ENOUGH.
NEARBY, ENOUGH = 3.0, 0.5
# Rounds in which potentials are divided among the components: a rough division is as good to go on from.
DIVIDED = 50
# Rows of the pools that a thread computes at a time.
ROWS = 16


@dataclass(frozen=True, eq=False)
class Pooled:
    """Sums of similar answers: the pool of each answer and its share, the pools that tell something, their rows of the
    Jacobian, and what each component adds to their covariance."""

    pool: Ints
    share: Floats
    told: Ints
    rows: Floats
    spread: Spread

    def target(self, solver: IterativeSolver[Any], here: Any) -> Floats:
        """Return the sums of the linearised answers."""
        misfit = np.bincount(self.pool, self.share * solver.misfit(here))[self.told]
        return misfit + self.rows @ here.potentials


class IterativeSolver(Solver[Model]):
    """With products only: for any number of potentials."""

    # Potentials of zero are too far from the fit: variances that explain the answers there are far too large.
    first_learning = 2

    def __init__(self, prior: Prior, observations: Sequence[Observation], with_trip: float = 1.0) -> None:
        super().__init__(prior, observations, with_trip)
        # No model of thousands of cells is exact; answers far more precise than the model would stop the fit.
        self.errors = np.hypot(self.errors, INEXACT * np.maximum(self.observed, 0))
        self._damping: float | None = None
        self._pooled: Pooled | None = None
        # How far the last step wanted to move the answers.
        self._change = math.inf
        columns = prior.basis.shape[1]
        self.coefficients = np.zeros(columns)
        self._preconditioner = Preconditioner(np.zeros((0, columns), np.float32), np.zeros(columns))

    def linearise(self, here: Model) -> None:
        assert isinstance(here, LargePredictor)
        self._products = here.products(self.capacities)
        self.left = self._products.left

    def apply(self, direction: Floats) -> Floats:
        """Return the Jacobian, in standard errors, times a direction of the potentials."""
        return self.stacked(self._products.apply(direction)) * (self.with_trip / self.errors)

    def apply_transposed(self, values: Floats) -> Floats:
        """Return the transposed Jacobian, in standard errors, times a number for each answer."""
        items = self._by_question(values[None])
        return self._products.apply_transposed({name: rows[0] for name, rows in items.items() if rows.any()})

    def _by_question(self, values: Floats) -> dict[str, Floats]:
        """Return the factor of each item in sums of answers and totals times `values`, a row for each sum."""
        until = np.cumsum([len(seen.frequencies) for seen in self.observations])
        parts = np.split(self.by_item(values * (self.with_trip / self.errors)), until[:-1], axis=1)
        return {seen.name: part for seen, part in zip(self.observations, parts, strict=True)}

    def likely(self, here: Model, logs: Floats) -> Floats:
        if not here.potentials.any():
            self._preconditioner = Preconditioner(
                np.zeros((0, len(self.coefficients)), np.float32), self._diagonal()
            )
            return logs
        if self._pooled is None or self._change > NEARBY:
            # Only one of them is in memory.
            self._pooled = None
            self._pooled = self._pool(here)
        return climbed(self.prior, logs, self._pooled.spread, self._pooled.target(self, here))

    def _pool(self, here: Model) -> Pooled:
        """Compute the rows of the pools, and the preconditioner."""
        assert isinstance(here, LargePredictor)
        pool, share = self._pooling(here)

        def rows(_: int, start: int, stop: int) -> Floats:
            sums = np.where(pool == told[start:stop, None], share, 0)
            items = {name: rows for name, rows in self._by_question(sums).items() if rows.any()}
            return self._products.apply_transposed(items)

        told = np.flatnonzero(np.bincount(pool, share * self.growth(here)) > UNTOLD)
        table = np.concatenate([np.zeros((0, self.prior.size)), *map_chunks(rows, len(told), ROWS)])
        parts = self.prior.components
        views = map_chunks(lambda number, *_: cast(Floats, table @ parts[number].basis), len(parts), 1)
        halves = np.concatenate([view.astype(np.float32) for view in views], axis=1)
        self._preconditioner = Preconditioner(halves, self._diagonal())
        return Pooled(pool, share, told, table, Spread.of(views))

    def _diagonal(self) -> Floats:
        """Return the sum of the squared changes of the answers by each column of the bases, estimated with random signs
        (the diagonal of a product of matrices, by Hutchinson's method)."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (SIGNS, len(self.observed)))

        def seen(number: int, *_: int) -> Floats:
            square: Floats = (self.prior.basis.T @ self.apply_transposed(signs[number])) ** 2
            return square

        return np.mean(map_chunks(seen, SIGNS, 1), axis=0)

    def _pooling(self, here: LargePredictor) -> tuple[Ints, Floats]:
        """Return the pool of each answer, and its share: sums of variance one, independent of each other."""
        pools, first = [], 0
        for seen in self.observations:
            pool = here.pools(seen.name)
            pools.append(first + pool)
            first += int(pool.max()) + 1
            if seen.total is not None:
                pools.append(np.array([first]))
                first += 1
        pool = np.concatenate(pools)
        return pool, 1 / np.sqrt(np.bincount(pool))[pool]

    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        if here.potentials.any():
            # New variances divide the same potentials among the components in another way.
            self.coefficients = self._nearest(here.potentials, logs)
        begins, gap = not here.potentials.any(), self.misfit(here)
        begin, first = self._cost(gap, logs), math.inf
        for number in range(APPROACH if begins else CHORDS):
            if number:
                self.linearise(here)
                gap = self.misfit(here)
            there, gap, self._change = self._step(here, gap, logs)
            first = self._change if number == 0 else first
            stays, here = there is here, there
            if stays or self._change < (NEARBY if begins else ENOUGH):
                break
        if number == 0 and stays:
            return here, first
        # Where single answers swing on, the fit has settled when all of them together are as likely as before.
        gained = (begin - self._cost(gap, logs)) / math.sqrt(2 * len(self.observed))
        return here, min(first, max(gained, 0.0))

    def _nearest(self, potentials: Floats, logs: Floats) -> Floats:
        """Find the most probable coefficients of potentials that an earlier fit left."""
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import lsqr

        sizes = np.exp(logs / 2)[self.prior.owner]
        return sizes * lsqr(self.prior.basis @ diags_array(sizes), potentials, iter_lim=DIVIDED)[0]

    def _cost(self, gap: Floats, logs: Floats) -> float:
        own = self.coefficients / np.exp(logs / 2)[self.prior.owner]
        return float(gap @ gap + own @ own)

    def _step(self, here: Model, gap: Floats, logs: Floats) -> tuple[Model, Floats, float]:
        """Return one step, or none where every step leads to worse, its misfit, and how much it wanted to change the
        answers.

        Potentials are logarithms: an answer that is to grow by q times itself needs a step of log(1 + q), and one of q
        would make far too much of it. Where the answers are still not as the equations say, the step is shortened, then
        damped, and so are the next ones, less and less.
        """
        basis, sizes = self.prior.basis, np.exp(logs / 2)[self.prior.owner]
        own, cost = self.coefficients / sizes, self._cost(gap, logs)
        right = sizes * (basis.T @ self.apply_transposed(gap)) - own
        damping, change = self._damping, 0.0
        if damping is None:
            mean = float(gap @ gap) / len(gap)
            damping = FIRST_DAMPING * mean if mean > FAR_OFF else 0.0
        for _ in range(DAMPINGS):
            wanted = sizes * self._solved(right, sizes, damping, ROUGHLY)
            step = np.sign(wanted) * np.log1p(np.abs(wanted))
            moved = basis @ step
            effect = self.apply(moved)
            change = max(change, float(np.abs(effect).max()))
            for share in SHARES:
                there, new_own = here.moved(share * moved), own + share * step / sizes
                new_gap, linear = self.misfit(there), gap - share * effect
                gained = cost - float(new_gap @ new_gap + new_own @ new_own)
                promised = cost - float(linear @ linear + new_own @ new_own)
                if gained > KEPT * promised or (share == SHARES[-1] and gained > 0):
                    self.coefficients = sizes * new_own
                    if share == 1:
                        damping = damping / 10 if damping > 1 else 0.0
                    elif gained < KEPT * promised:
                        damping = max(10 * damping, 1.0)
                    self._damping = damping
                    return there, new_gap, change
            damping = max(10 * damping, 1.0)
        self._damping = damping
        return here, gap, change

    def _solved(
        self, right: Floats, sizes: Floats, damping: float = 0.0, left_over: float = LEFT_OVER
    ) -> Floats:
        """Return the step of the coefficients, by conjugate gradients."""
        basis, inverse = self.prior.basis, self._preconditioner.inverse(sizes, damping)
        step, rest = np.zeros_like(right), right
        search = inverse(rest)
        size = rest @ search
        goal = left_over**2 * size
        for _ in range(PRODUCTS):
            if size <= goal:
                break
            along = basis @ (sizes * search)
            product = (1 + damping) * search + sizes * (basis.T @ self.apply_transposed(self.apply(along)))
            length = size / (search @ product)
            step, rest = step + length * search, rest - length * product
            ready = inverse(rest)
            size, last = rest @ ready, size
            search = ready + size / last * search
        return step

    def freedom(self, logs: Floats) -> float:
        """Estimate the same as the dense solver, by random signs s: the mean of s . (s - (1 + W^T W)^-1 s) is the
        trace.

        Solved for W^T W s instead, the few directions that the answers know best would hide all others.
        """
        sizes = np.exp(logs / 2)[self.prior.owner]
        rng = np.random.default_rng(0)
        estimates = []
        for _ in range(PROBES):
            signs = rng.choice([-1.0, 1.0], len(sizes))
            estimates.append(signs @ (signs - self._solved(signs, sizes)))
        return float(np.mean(estimates))

    def target(self, here: Model) -> Floats:
        return self.misfit(here) + self.apply(here.potentials)

    def telling(self, here: Model) -> tuple[Floats, Floats]:
        """Return sums of similar answers."""
        pooled = self._pool(here)
        return pooled.rows, pooled.target(self, here)

    def draws(self, logs: Floats, count: int, rng: np.random.Generator, target: Floats) -> Floats:
        """Draw as the dense solver does: (1 + W^T W)^-1 (z + W^T (t + e)) for the target t and normal z and e."""
        sizes = np.exp(logs / 2)[self.prior.owner]
        chances = rng.standard_normal((count, len(sizes)))
        noise = target + rng.standard_normal((count, len(self.observed)))

        def drawn(number: int, *_: int) -> Floats:
            seen = sizes * (self.prior.basis.T @ self.apply_transposed(noise[number]))
            return self.prior.basis @ (sizes * self._solved(chances[number] + seen, sizes))

        return np.array(map_chunks(drawn, count, 1))

    def beyond(self, change: Floats, logs: Floats) -> tuple[Floats, float]:
        sizes = np.exp(logs / 2)[self.prior.owner]
        right = sizes * (self.prior.basis.T @ self.apply_transposed(change))
        nearest = self.prior.basis @ (sizes * self._solved(right, sizes))
        return nearest, float(change @ (change - self.apply(nearest)))
