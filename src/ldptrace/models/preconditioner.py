"""What makes conjugate gradients quick: an inverse of nearly the equations of a step.

The equations are (1 + damping + W^T W) step = right side, W the Jacobian times the scaled bases. Sums of similar
answers (`pools`) carry most of what potentials share in W^T W: their rows R of W are computed. What single answers add
is taken as a diagonal, which is estimated by random signs s: the mean of (W^T s)^2. Bases overlap, so that the whole of
it would be too much, and its root serves best. The inverse of D + R^T R takes a factor with as many rows as pools, and
only the columns in which R^T R is more than D: the others would add to the time, not to the precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.models.linear import Root

# Reading the rows is what takes the time, so they are of single precision, as long as it tells the 1 of the equations
# from nothing beside the largest square of a row.
Halves = NDArray[np.float32]
LARGEST = 1e6
# Columns are omitted if their square is at most this part of the diagonal.
SLIGHT = 1.0


class Preconditioner:
    """The Jacobian's rows of the pooled answers by the columns of the bases (`views`), and the diagonal of all answers
    for each column; for any sizes of the columns."""

    def __init__(self, views: Halves, diagonal: Floats) -> None:
        self._views, self._squares = views, (views**2).sum(axis=0, dtype=np.float64)
        self._left = np.maximum(diagonal - self._squares, 0)
        self._made: tuple[bytes, float] | None = None

    def inverse(self, sizes: Floats, damping: float) -> Callable[[Floats], Floats]:
        """Multiplies with the inverse of D + R^T R."""
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
