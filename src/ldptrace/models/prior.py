"""What is believed of log-potentials before any report: a sum of Gaussian components, each of unknown size.

A component says which potentials go up and down together. How large each is, is estimated from the noisy answers
themselves (`ldptrace.models.fit`); a component that the data does not speak for shrinks to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
        self._sparse = {
            k: component.basis @ component.basis.T
            for k, component in enumerate(components)
            if sparse.issparse(component.basis)
        }
        self._dense = {
            k: component.basis
            for k, component in enumerate(components)
            if not sparse.issparse(component.basis)
        }

    def precision(self, variances: Floats) -> Floats:
        """Inverse covariance of all potentials; every potential has a component of its own, so there is one."""
        return inverse_of(self.covariance(variances))[0]

    def covariance(self, variances: Floats) -> Floats:
        """Covariance of all potentials."""
        wide = np.hstack([math.sqrt(variances[k]) * basis for k, basis in self._dense.items()])
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
