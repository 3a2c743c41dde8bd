"""What makes conjugate gradients quick: an inverse of nearly the equations of a step.

The equations are (1 + damping + W^T W) step = right side, W the Jacobian times the scaled bases. Sums of similar
answers (`pools`) carry most of what potentials share in W^T W: their rows R are computed. What single answers add is
taken as a diagonal, which is estimated by random signs s: the mean of (W^T s)^2. Bases overlap, so that the whole of it
would be too much, and its root serves best. The inverse of D + R^T R takes a factor with as many rows as pools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.linear import Root
from ldptrace.models.prior import Prior

Floats = NDArray[np.float64]
# Reading the rows is what takes the time, so they are of single precision, as long as it tells the 1 of the equations
# from nothing beside the largest square of a row.
Halves = NDArray[np.float32]
LARGEST = 1e6


class Preconditioner:
    """The rows of the pooled answers by the potentials, by the columns of the bases (`views`), and what is left of the
    diagonal beside them for each column of the bases; for any sizes of the columns."""

    def __init__(self, prior: Prior, rows: Floats, views: Halves, diagonal: Floats) -> None:
        self._basis, self._rows, self._views = prior.basis, rows.astype(np.float32), views
        self._left = np.maximum(diagonal - (views**2).sum(axis=0), 0)
        self._made: tuple[bytes, float] | None = None

    @staticmethod
    def nothing(prior: Prior) -> Preconditioner:
        """Before anything is known of the answers."""
        potentials, columns = prior.basis.shape
        none = np.zeros((0, columns), np.float32)
        return Preconditioner(prior, np.zeros((0, potentials)), none, np.zeros(columns))

    def inverse(self, sizes: Floats, damping: float) -> Callable[[Floats], Floats]:
        """Multiplies with the inverse of D + R^T R."""
        diagonal = damping + np.sqrt(1 + sizes**2 * self._left)
        if not len(self._rows):
            return lambda values: values / diagonal
        made = sizes.tobytes(), damping
        if made != self._made:
            scaled = self._views * (sizes / np.sqrt(diagonal)).astype(np.float32)
            self._kind: type = np.float32 if (scaled**2).sum(axis=1).max() < LARGEST else np.float64
            scaled = scaled.astype(self._kind, copy=False)
            square = (scaled @ scaled.T).astype(np.float64)
            square[np.diag_indices_from(square)] += 1
            self._root, self._made = Root(square), made
        basis, root, kind = self._basis, self._root, self._kind
        rows: NDArray[Any] = self._rows.astype(kind, copy=False)

        def inverse(values: Floats) -> Floats:
            alone = values / diagonal
            seen = rows @ (basis @ (sizes * alone)).astype(kind)
            pooled: NDArray[Any] = root.solve(seen.astype(np.float64)).astype(kind)
            return alone - sizes * (basis.T @ (pooled @ rows).astype(np.float64)) / diagonal

        return inverse
