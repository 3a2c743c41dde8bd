"""How large each component of the prior is: the variances under which the noisy answers are most probable.

With A the Jacobian of the answers in units of their standard errors and z = y - y(x) + A x the linearised answers,
z ~ N(0, I + sum of v_g A B_g B_g^T A^T). Its log-probability is climbed over log v_g by average-information steps
(`docs/explanation/path-model.md`, "The prior").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.parallel import map_chunks
from ldptrace.models.linear import Root
from ldptrace.models.prior import Prior

CLIMBS = 4
# Directions of the potentials in which a step of one changes the answers by less than so much of their noise, squared,
# say nothing about variances.
_TOLD = 0.01
# Largest number of answers in the marginal likelihood; the others say little about twenty variances.
_ANSWERS = 600
# Entries of a triangle from which on threads share the work.
_MANY = 100_000
# A walk over variances: steps between two draws, how many logarithms each moves and how far, as a standard deviation.
STEPS, MOVED, STEP = 50, 3, 2.0
# Directions of the answers that a walk looks at: those that variances this much larger, as a logarithm, move by this
# part of their noise, squared.
WIDER, FAINT = 4.0, 0.3


@dataclass(frozen=True, eq=False)
class Spread:
    """What each component adds to the covariance of the target per unit of its variance: V V^T, V = J B its view.

    `packed` holds the lower triangles, one row for each component: sums over them are what takes time.
    """

    views: Sequence[Floats]
    packed: Floats

    @staticmethod
    def of(views: Sequence[Floats]) -> Spread:
        places = _lower(len(views[0]))
        packed = np.empty((len(views), len(places)))

        def square(_: int, start: int, stop: int) -> None:
            for number in range(start, stop):
                np.take(views[number] @ views[number].T, places, out=packed[number], mode="clip")

        # Small ones are done before another thread begins.
        map_chunks(square, len(views), 1 if len(places) > _MANY else len(views))
        return Spread(views, packed)

    def total(self, logs: Floats) -> Floats:
        """Return the lower triangle of the sum over all components."""
        size = len(self.views[0])
        total = np.zeros(size * size)
        total[_lower(size)] = np.exp(logs) @ self.packed
        return total.reshape(size, size)

    def pushes(self, weighted: Floats) -> Floats:
        """Return products of each with one column."""
        return np.array([view @ (weighted @ view) for view in self.views])

    def traces(self, matrix: Floats) -> Floats:
        """Return traces of the products of each with a symmetric matrix."""
        doubled = 2 * matrix
        doubled[np.diag_indices_from(doubled)] /= 2
        return self.packed @ doubled.ravel()[_lower(len(matrix))]


def climbed(prior: Prior, logs: Floats, spread: Spread, target: Floats) -> Floats:
    """Return the logarithms of the variances v_g under which the target, J @ potentials plus noise, is more likely. The
    spread is what each component adds to the covariance of the target."""
    free, first, belief = _before(prior)

    def evidence(at: Floats) -> tuple[float, Floats, Root]:
        value, weighted, root = _evidence(spread, at, target)
        return value - 0.5 * float(belief @ (at - first) ** 2), weighted, root

    value, weighted, root = evidence(logs)
    for _ in range(CLIMBS):
        pushes = spread.pushes(weighted)
        uphill = 0.5 * np.exp(logs) * (pushes @ weighted - spread.traces(root.inverse()))
        uphill -= belief * (logs - first)
        pushes *= np.exp(logs)[:, None]
        turned = root.inverted @ pushes.T
        information = 0.5 * turned.T @ turned
        information[np.diag_indices_from(information)] += belief + 0.5 * np.abs(uphill)
        step = np.zeros(len(logs))
        step[free] = np.linalg.solve(information[np.ix_(free, free)], uphill[free])
        step = np.clip(step, -2, 2)
        share = 1.0
        while True:
            new = evidence(logs + share * step)
            if new[0] >= value or share < 0.1:
                break
            share *= 0.4
        gain = new[0] - value
        if gain < 0:
            break
        logs = logs + share * step
        value, weighted, root = new
        if gain < 0.1:
            break
    return logs


def allowed_variances(
    prior: Prior, logs: Floats, jacobian: Floats, target: Floats, count: int, rng: np.random.Generator
) -> Floats:
    """Draw logarithms of variances that the target allows as well, one row each, by Metropolis' walk from `logs` on."""
    free, first, belief = _before(prior)
    views = prior.views(jacobian)
    # What the answers say only if variances are far larger would cost time and tell next to nothing.
    sizes, directions = np.linalg.eigh(Spread.of(views).total(np.where(free, logs + WIDER, logs)))
    seen = directions[:, (sizes > FAINT) | (sizes == sizes.max(initial=0.0))].T
    packed, target = Spread.of([seen @ view for view in views]).packed, seen @ target
    # The last row of this matrix's root is what the root of the covariance makes of the target.
    size = len(target)
    whole, row, column = np.zeros((size + 1) ** 2), *np.tril_indices(size)
    lower, alone = (size + 1) * row + column, np.where(row == column, 1.0, 0.0)
    whole[-size - 1 :] = np.append(target, target @ target + 1)

    def chance(at: Floats, covariance: Floats) -> float:
        whole[lower] = covariance
        root = np.linalg.cholesky(whole.reshape(size + 1, size + 1))
        evidence = -0.5 * float(root[-1, :-1] @ root[-1, :-1]) - float(np.log(np.diag(root)[:-1]).sum())
        return evidence - 0.5 * float(belief @ (at - first) ** 2)

    at, covariance, drawn = logs, alone + np.exp(logs) @ packed, []
    value = chance(at, covariance)
    for _ in range(count):
        for _ in range(STEPS):
            there = at.copy()
            moved = rng.permutation(np.flatnonzero(free))[:MOVED]
            there[moved] += STEP * rng.standard_normal(len(moved))
            # Few components move: the others add what they added before.
            changed = covariance + (np.exp(there[moved]) - np.exp(at[moved])) @ packed[moved]
            new = chance(there, changed)
            if np.log(rng.random()) < new - value:
                at, covariance, value = there, changed, new
        covariance = alone + np.exp(at) @ packed
        drawn.append(at)
    return np.array(drawn)


def _before(prior: Prior) -> tuple[Flags, Floats, Floats]:
    """Return which variances are estimated, with mean and precision of their logarithms before any answer."""
    parts = prior.components
    free = np.array([not part.fixed for part in parts])
    return (
        free,
        np.log([part.variance for part in parts]),
        np.where(free, [part.spread**-2 for part in parts], 0.0),
    )


def _evidence(spread: Spread, logs: Floats, target: Floats) -> tuple[float, Floats, Root]:
    """Log-probability of the target up to a constant, what its covariance makes of it, and the root of that."""
    total = spread.total(logs)
    total[np.diag_indices_from(total)] += 1
    root = Root(total)
    weighted = root.solve(target)
    return float(-0.5 * target @ weighted - root.log_size), weighted, root


@lru_cache(maxsize=8)
def _lower(size: int) -> Ints:
    """Return places of the lower triangle in a square matrix, row by row."""
    return np.flatnonzero(np.tri(size, dtype=bool))


def condensed(jacobian: Floats, target: Floats, square: Floats | None = None) -> tuple[Floats, Floats]:
    """Return fewer rows that say as much, or of very many those that potentials change most, in units of their noise;
    `square` is J^T J, where it is known."""
    if min(jacobian.shape) > _ANSWERS:
        chosen = np.argsort(-np.einsum("ij,ij->i", jacobian, jacobian), kind="stable")[:_ANSWERS]
        return jacobian[chosen], target[chosen]
    if len(jacobian) > jacobian.shape[1]:
        sizes, directions = np.linalg.eigh(jacobian.T @ jacobian if square is None else square)
        told = slice(np.searchsorted(sizes, max(_TOLD, 1e-9 * sizes[-1]), "right"), None)
        rows, roots = directions[:, told].T, np.sqrt(sizes[told])
        return roots[:, None] * rows, rows @ (target @ jacobian) / roots
    return jacobian, target
