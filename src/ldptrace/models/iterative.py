"""Fits without any large matrix: conjugate gradients on products with the Jacobian.

The potentials are x = sum of sqrt(v_g) B_g c_g with c standard normal before any answer. In c the equations of a
Gauss-Newton step are (1 + W^T W) step = W^T misfit - c, W the Jacobian times the scaled bases: as many directions
matter as the answers can tell from noise, and conjugate gradients need about as many products. Sums of similar answers
(`pools`) carry most of what can be told; their rows of the Jacobian are computed, to estimate the variances from and
to precondition with (`ldptrace.models.preconditioner`). Answers that are nearly exact are far from linear on the way to
them: a step that goes too far, or leads to worse, is damped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ldptrace.core.parallel import map_chunks
from ldptrace.models.evidence import Spread, climbed
from ldptrace.models.observation import Observation
from ldptrace.models.preconditioner import Preconditioner
from ldptrace.models.prior import Prior
from ldptrace.models.solver import CHORDS, SMALL, LargePredictor, Model, Solver

Floats = NDArray[np.float64]

# Products of a step at most, and the part of the equations' right side that may be left over.
PRODUCTS, LEFT_OVER = 40, 0.05
# The part of an answer that the model cannot express.
INEXACT = 0.03
# How far a step may move a potential, the part of all potentials that may want to go farther, and how often a step is
# damped more, tenfold each time.
FARTHEST, FEW, DAMPINGS = 2.0, 0.01, 8
# Mean squared misfit above which the first step is damped, and its part that it is damped with.
FAR_OFF, FIRST_DAMPING = 25.0, 0.2
# Random vectors that a trace is estimated from, and a diagonal.
PROBES, SIGNS = 6, 12


class IterativeSolver(Solver[Model]):
    """With products only: for any number of potentials."""

    def __init__(self, prior: Prior, observations: Sequence[Observation]) -> None:
        super().__init__(prior, observations)
        # No model of so many cells is exact, and answers that are far better known than it can say would stop it.
        self.errors = np.hypot(self.errors, INEXACT * np.maximum(self.observed, 0))
        self._damping: float | None = None
        self.coefficients = np.zeros(prior.basis.shape[1])
        self._preconditioner = Preconditioner.nothing(prior)

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
        pooling, parts = self._pooling(here), self.prior.components

        def row(number: int, *_: int) -> Floats:
            return self.apply_transposed(pooling[[number]].toarray()[0])

        rows = np.array(map_chunks(row, pooling.shape[0], 1))
        views: list[Floats] = [rows @ part.basis for part in parts]
        halves = np.concatenate([view.astype(np.float32) for view in views], axis=1)
        self._preconditioner = Preconditioner(self.prior, rows, halves, self._diagonal())
        target = self.misfit(here) + self.apply(here.potentials)
        return climbed(self.prior, logs, Spread.of(views), pooling @ target)

    def _diagonal(self) -> Floats:
        """How much each column of the bases changes the answers, squared: the mean over random signs."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (SIGNS, len(self.observed)))

        def seen(number: int, *_: int) -> Floats:
            square: Floats = (self.prior.basis.T @ self.apply_transposed(signs[number])) ** 2
            return square

        return np.mean(map_chunks(seen, SIGNS, 1), axis=0)

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
        begin, first = self._cost(here, logs), math.inf
        for number in range(CHORDS):
            if number:
                self.linearise(here)
            there, change = self._step(here, logs, longest)
            if number == 0:
                first = change
                if there is here:
                    return here, first
            stays, here = there is here, there
            if stays or change < SMALL:
                break
        # Where single answers swing on, the fit has settled when all of them together are as likely as before.
        gained = (begin - self._cost(here, logs)) / math.sqrt(2 * len(self.observed))
        return here, min(first, max(gained, 0.0))

    def _cost(self, here: Model, logs: Floats) -> float:
        gap, own = self.misfit(here), self.coefficients / np.exp(logs / 2)[self.prior.owner]
        return float(gap @ gap + own @ own)

    def _step(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        """One step, or none where every step leads to worse, and by how much it wanted to change the answers.

        Where the answers are not linear as far as the step goes, it is damped, and so are the next ones, less and less.
        Where only few potentials would go too far, such as those of places where nobody goes, they alone are cut short.
        """
        basis, sizes = self.prior.basis, np.exp(logs / 2)[self.prior.owner]
        own = self.coefficients / sizes
        gap, cost = self.misfit(here), self._cost(here, logs)
        right = sizes * (basis.T @ self.apply_transposed(gap)) - own
        damping, change = self._damping, 0.0
        if damping is None:
            mean = float(gap @ gap) / len(gap)
            damping = FIRST_DAMPING * mean if mean > FAR_OFF else 0.0
        for number in range(DAMPINGS):
            step = self._solved(right, sizes, damping, FARTHEST)
            if step is None:
                change = math.inf
            else:
                step = np.clip(step, -FARTHEST / sizes, FARTHEST / sizes)
                moved = basis @ (sizes * step)
                change = max(change, float(np.abs(self.apply(moved)).max()))
                for share in (longest, longest / 2):
                    there, new_own = here.moved(share * moved), own + share * step
                    new_gap = self.misfit(there)
                    if new_gap @ new_gap + new_own @ new_own < cost:
                        at_once = number == 0 and share == longest
                        self.coefficients = sizes * new_own
                        self._damping = _eased(damping) if at_once else damping
                        return there, change
            damping = max(10 * damping, 1.0)
        self._damping = damping
        return here, change

    def _solved(
        self, right: Floats, sizes: Floats, damping: float = 0.0, farthest: float = math.inf
    ) -> Floats | None:
        """The step of the coefficients, by conjugate gradients; none where many potentials go farther than that."""
        basis, inverse = self.prior.basis, self._preconditioner.inverse(sizes, damping)
        step, rest, moved = np.zeros_like(right), right, np.zeros(basis.shape[0])
        search = inverse(rest)
        size = rest @ search
        goal = LEFT_OVER**2 * size
        for _ in range(PRODUCTS):
            if size <= goal:
                break
            along = basis @ (sizes * search)
            product = (1 + damping) * search + sizes * (basis.T @ self.apply_transposed(self.apply(along)))
            length = size / (search @ product)
            step, rest, moved = step + length * search, rest - length * product, moved + length * along
            if (np.abs(moved) > 1.5 * farthest).sum() > FEW * len(moved):
                return None
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
            solved = self._solved(signs, sizes)
            assert solved is not None
            found.append(signs @ (signs - solved))
        return float(np.mean(found))


def _eased(damping: float) -> float:
    return damping / 10 if damping > 1 else 0.0
