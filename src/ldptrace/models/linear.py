"""Matrices of a fit. Those of small grids need numpy alone: scipy takes a tenth of a second to load."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Rows up to which matrices are arrays, and numpy's general methods as quick as those for positive definite ones.
SMALL = 600


def matrix_of(
    entries: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]
) -> Any:
    """The matrix with these entries and zeros elsewhere, sparse where it is large.

    >>> matrix_of(np.ones(2), np.array([0, 1]), np.array([1, 0]), (2, 2))
    array([[0., 1.],
           [1., 0.]])
    """
    if shape[0] > SMALL:
        from scipy.sparse import csr_array

        return csr_array((entries, (rows, columns)), shape=shape)
    matrix = np.zeros(shape)
    matrix[rows, columns] = entries
    return matrix


def inverse_of(matrix: Floats) -> tuple[Floats, Floats]:
    """Inverse of a positive definite matrix, and its lower Cholesky factor."""
    if len(matrix) <= SMALL:
        inverse, factor = np.linalg.inv(matrix), np.linalg.cholesky(matrix)
        return np.asarray(inverse, np.float64), np.asarray(factor, np.float64)
    from scipy.linalg.lapack import dpotrf, dpotri

    root, broken = dpotrf(matrix, lower=1)
    if broken:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    half, _ = dpotri(root, lower=1)
    lower = np.tril(half, -1)
    return lower + lower.T + np.diag(half.diagonal()), root


def solver_of(matrix: Floats) -> Callable[[Floats], Floats]:
    """Solves equations with a positive definite matrix, for any right side.

    >>> solver_of(2 * np.eye(2))(np.array([2.0, 4.0]))
    array([1., 2.])
    """
    if len(matrix) <= SMALL:
        return partial(np.linalg.solve, matrix)
    from scipy.linalg import cho_factor, cho_solve

    return partial(cho_solve, cho_factor(matrix))
