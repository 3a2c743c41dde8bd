"""What is believed of log-potentials before any report: a sum of Gaussian components, each of unknown size.

A component says which potentials go up and down together. How large each is, is estimated from the noisy answers
themselves (`ldptrace.models.fit`); a component that the data does not speak for shrinks to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.linear import inverse_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorComponent:
    """Potentials = basis @ (independent normals of variance `variance`); the basis is a sparse or a dense matrix.

    `variance` is a first guess; with `fixed` it stays. A component that `needs` a question is held at zero where
    nobody was asked it: other answers would bend it to their own ends.
    """

    name: str
    basis: Any
    variance: float = 0.05
    fixed: bool = False
    needs: str | None = None


class Prior:
    """The sum of the components, for any variances v_g of theirs: covariance K = sum of v_g B_g B_g^T."""

    def __init__(self, components: Sequence[PriorComponent]) -> None:
        self.components = tuple(components)

    @cached_property
    def basis(self) -> Any:
        """All bases side by side, as one sparse matrix."""
        from scipy import sparse

        return sparse.hstack([sparse.csr_array(part.basis) for part in self.components], format="csr")

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The component of each column of the basis."""
        return np.repeat(np.arange(len(self.components)), [part.basis.shape[1] for part in self.components])

    @cached_property
    def _dense(self) -> NDArray[np.bool_]:
        return np.array([isinstance(part.basis, np.ndarray) for part in self.components])

    @cached_property
    def _squares(self) -> list[Any]:
        """What each component adds to the covariance, per unit of its variance."""
        return [part.basis @ part.basis.T for part in self.components]

    def precision(self, variances: Floats) -> Floats:
        """Inverse covariance of all potentials; every potential has a component of its own, so there is one."""
        return inverse_of(self.covariance(variances))[0]

    def covariance(self, variances: Floats) -> Floats:
        """Covariance of all potentials."""
        total = np.zeros((self.components[0].basis.shape[0],) * 2)
        for variance, dense, block in zip(variances, self._dense, self._squares, strict=True):
            if dense:
                total += variance * block
            else:
                rows = np.repeat(np.arange(total.shape[0]), np.diff(block.indptr))
                total[rows, block.indices] += variance * block.data
        return total
