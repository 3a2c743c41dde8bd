"""Fits without any large matrix: conjugate gradients on products with the Jacobian.

The potentials are x = sum of sqrt(v_g) B_g c_g with c standard normal before any answer. In c the equations of a
Gauss-Newton step are (1 + W^T W) step = W^T misfit - c, W the Jacobian times the scaled bases: as many directions
matter as the answers can tell from noise, and conjugate gradients need about as many products. Sums of similar answers
(`pools`) carry most of what can be told; their rows of the Jacobian are computed, to estimate the variances from and
to precondition with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ldptrace.core.parallel import map_chunks
from ldptrace.models.evidence import Spread, climbed
from ldptrace.models.linear import Root
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior
from ldptrace.models.solver import CHORDS, SMALL, LargePredictor, Model, Solver

Floats = NDArray[np.float64]

# Products of a step at most, and the part of the equations' right side that may be left over.
PRODUCTS, LEFT_OVER = 60, 0.05
# The part of an answer that the model cannot express.
INEXACT = 0.03
# How far a step may move a potential, and how often it is damped more, tenfold each time.
FARTHEST, DAMPINGS = 2.0, 8
# The part of all potentials that is held back one by one when it goes too far, and how strongly at first.
FEW, FIRST_HOLD = 0.01, 0.1
# Random vectors that a trace is estimated from.
PROBES = 6


class IterativeSolver(Solver[Model]):
    """With products only: for any number of potentials."""

    def __init__(self, prior: Prior, observations: Sequence[Observation]) -> None:
        super().__init__(prior, observations)
        # No model of so many cells is exact, and answers that are far better known than it can say would stop it.
        self.errors = np.hypot(self.errors, INEXACT * np.maximum(self.observed, 0))
        self._damping = 0.0
        self.coefficients = np.zeros(prior.basis.shape[1])
        # Rows of the pooled answers by the potentials, and what the components add to their covariance.
        self._rows = np.zeros((0, prior.basis.shape[0]))
        self._spread = Spread.of([self._rows @ part.basis for part in prior.components])

    def linearise(self, here: Model) -> None:
        assert isinstance(here, LargePredictor)
        self._products = here.products(self.capacities)
        self.left = self._products.left

    def apply(self, direction: Floats) -> Floats:
        """The Jacobian, in standard errors, times a direction of the potentials."""
        return self.stacked(self._products.apply(direction)) / self.errors

    def apply_transposed(self, values: Floats) -> Floats:
        """The transposed Jacobian, in standard errors, times a number for each answer."""
        scaled, at, by_question = values / self.errors, 0, {}
        for seen in self.observations:
            items = scaled[at : at + len(seen.frequencies)]
            at += len(items)
            if seen.total is not None:
                items = items + scaled[at]
                at += 1
            if items.any():
                by_question[seen.name] = items
        return self._products.apply_transposed(by_question)

    def likely(self, here: Model, logs: Floats) -> Floats:
        assert isinstance(here, LargePredictor)
        pooling = self._pooling(here)
        self._rows = rows = np.array(
            map_chunks(
                lambda number, *_: self.apply_transposed(pooling[[number]].toarray()[0]), pooling.shape[0], 1
            )
        )
        target = self.misfit(here) + self.apply(here.potentials)
        self._spread = Spread.of([rows @ part.basis for part in self.prior.components])
        return climbed(self.prior, logs, self._spread, pooling @ target)

    def _pooling(self, here: LargePredictor) -> csr_array:
        """Sums of similar answers, each of variance one and independent of the others."""
        pools, first = [], 0
        for seen in self.observations:
            pool = here.pools(seen.name)
            pools.append(first + pool)
            first += int(pool.max()) + 1
            if seen.total is not None:
                pools.append(np.array([first]))
                first += 1
        pool = np.concatenate(pools)
        share = 1 / np.sqrt(np.bincount(pool))[pool]
        return csr_array((share, (pool, np.arange(len(pool)))), shape=(first, len(pool)))

    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        first, begin = math.inf, self._cost(here, logs)
        for number in range(CHORDS):
            if number:
                self.linearise(here)
            there, change = self._step(here, logs, longest)
            first = change if number == 0 else first
            if there is here or change < SMALL:
                break
            here = there
        # Where single answers swing on, the fit has settled when all of them together are as likely as before.
        gained = (begin - self._cost(here, logs)) / math.sqrt(2 * len(self.observed))
        return here, min(first, max(gained, 0.0))

    def _cost(self, here: Model, logs: Floats) -> float:
        gap, own = self.misfit(here), self.coefficients / np.exp(logs / 2)[self.prior.owner]
        return float(gap @ gap + own @ own)

    def _step(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        """One step, or none where every step leads to worse, and by how much it wanted to change the answers.

        Where the answers are not linear as far as the step goes, it is damped, and so are the next ones, less and less.
        Where only few potentials would go too far, such as those of places where nobody goes, they alone are held back.
        """
        basis, sizes = self.prior.basis, np.exp(logs / 2)[self.prior.owner]
        own = self.coefficients / sizes
        gap, cost = self.misfit(here), self._cost(here, logs)
        right = sizes * (basis.T @ self.apply_transposed(gap)) - own
        change, step, held = 0.0, np.zeros_like(right), np.zeros(basis.shape[0])
        for _ in range(DAMPINGS):
            step = self._solved(right, logs, sizes, step, held)
            moved = basis @ (sizes * step)
            change = max(change, float(np.abs(self.apply(moved)).max()))
            far = np.abs(moved) > FARTHEST
            if far.any() and not _many(far):
                least = FIRST_HOLD * (1 + self._damping)
                held[far] = np.maximum(10 * held[far], least) * np.abs(moved[far]) / FARTHEST
                continue
            if not far.any():
                there, new_own = here.moved(longest * moved), own + longest * step
                new_gap = self.misfit(there)
                if new_gap @ new_gap + new_own @ new_own < cost:
                    self.coefficients = sizes * new_own
                    self._damping = self._damping / 10 if self._damping > 1 else 0.0
                    return there, change
            self._damping = max(10 * self._damping, 1.0)
            step, held = np.zeros_like(step), np.zeros_like(held)
        return here, change

    def _solved(
        self,
        right: Floats,
        logs: Floats,
        sizes: Floats,
        step: Floats | None = None,
        held: Floats | None = None,
    ) -> Floats:
        """The step of the coefficients, by conjugate gradients, from another one; `held` resists single potentials.

        It is not solved to the end where the step goes too far anyway.
        """
        basis, inverse = self.prior.basis, self._preconditioner(logs, sizes)
        goal = LEFT_OVER**2 * (right @ inverse(right))

        def bent(search: Floats) -> tuple[Floats, Floats]:
            along = basis @ (sizes * search)
            back = self.apply_transposed(self.apply(along))
            if held is not None:
                back += held * along
            return along, (1 + self._damping) * search + sizes * (basis.T @ back)

        rest, moved = right, np.zeros(basis.shape[0])
        if step is None:
            step = np.zeros_like(right)
        elif step.any():
            moved, product = bent(step)
            rest = right - product
        search = inverse(rest)
        size = rest @ search
        for _ in range(PRODUCTS):
            if size <= goal or (held is not None and _many(np.abs(moved) > 1.5 * FARTHEST)):
                break
            along, product = bent(search)
            length = size / (search @ product)
            step, rest, moved = step + length * search, rest - length * product, moved + length * along
            ready = inverse(rest)
            size, last = rest @ ready, size
            search = ready + size / last * search
        return step

    def freedom(self, logs: Floats) -> float:
        """As the dense solver's, by random signs s: the mean of s . (s - (1 + W^T W)^-1 s) is the trace.

        Solved for W^T W s instead, the few directions that the answers know best would hide all others.
        """
        sizes = np.exp(logs / 2)[self.prior.owner]
        rng = np.random.default_rng(0)
        found = []
        for _ in range(PROBES):
            signs = rng.choice([-1.0, 1.0], len(sizes))
            found.append(signs @ (signs - self._solved(signs, logs, sizes)))
        return float(np.mean(found))

    def _preconditioner(self, logs: Floats, sizes: Floats) -> Callable[[Floats], Floats]:
        """The inverse of 1 + damping + R^T R, where R has the rows of the pooled answers only."""
        basis, rows, own = self.prior.basis, self._rows, 1 + self._damping
        square = self._spread.total(logs)
        square[np.diag_indices_from(square)] += own
        root = Root(square)

        def inverse(values: Floats) -> Floats:
            pooled = root.solve(rows @ (basis @ (sizes * values)))
            return (values - sizes * (basis.T @ (rows.T @ pooled))) / own

        return inverse


def _many(far: NDArray[np.bool_]) -> bool:
    return int(far.sum()) > FEW * len(far)
