"""What is believed of log-potentials before any report: a sum of Gaussian components, each of unknown size.

A component says which potentials go up and down together. How large each is, is estimated from the noisy answers
themselves (`ldptrace.models.fit`); a component that the data does not speak for shrinks to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotri

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
    def basis(self) -> sparse.csr_array:
        """All bases side by side."""
        return sparse.hstack([sparse.csr_array(part.basis) for part in self.components], format="csr")

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The component of each column of the basis."""
        return np.repeat(np.arange(len(self.components)), [part.basis.shape[1] for part in self.components])

    @cached_property
    def _sparse(self) -> dict[int, sparse.csr_array]:
        return {
            k: part.basis @ part.basis.T
            for k, part in enumerate(self.components)
            if sparse.issparse(part.basis)
        }

    def precision(self, variances: Floats) -> Floats:
        """Inverse covariance of all potentials; every potential has a component of its own, so there is one."""
        return inverse_of(self.covariance(variances))[0]

    def covariance(self, variances: Floats) -> Floats:
        """Covariance of all potentials."""
        wide = np.hstack(
            [
                math.sqrt(variance) * part.basis
                for variance, part in zip(variances, self.components, strict=True)
                if not sparse.issparse(part.basis)
            ]
        )
        total: Floats = wide @ wide.T
        for k, block in self._sparse.items():
            rows = np.repeat(np.arange(total.shape[0]), np.diff(block.indptr))
            total[rows, block.indices] += variances[k] * block.data
        return total


def inverse_of(matrix: Floats) -> tuple[Floats, Floats]:
    """Inverse of a positive definite matrix, and its lower Cholesky factor."""
    root, broken = dpotrf(matrix, lower=1)
    if broken:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    half, _ = dpotri(root, lower=1)
    lower = np.tril(half, -1)
    return lower + lower.T + np.diag(half.diagonal()), root
