"""Matrices of a fit. Those of small grids need numpy alone: scipy takes a tenth of a second to load."""

from __future__ import annotations

import sys
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ldptrace.core.arrays import Floats, Ints

# Rows up to which matrices are arrays.
SMALL = 600
# Smooth patterns are kept up to this share of their largest eigenvalue.
_SPECTRUM = 1e-3
# Rows up to which a triangle is inverted as if it were any matrix, and up to which it is multiplied so.
_LEAF, _WHOLE = 64, 256


def one_thread() -> Any:
    """Let matrix products use one thread while this is open.

    More of them, on matrices of this size, cost up to ten times what they save: they wait for each other, and for
    those of `map_chunks`, at full speed.
    """
    return _libraries(scipy="scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _libraries(*, scipy: bool) -> ThreadpoolController:
    """Return the libraries that multiply matrices, numpy's and, once that is loaded, scipy's."""
    return ThreadpoolController()


# They are searched for while all else is loaded.
_libraries(scipy="scipy.linalg" in sys.modules)


def matrix_of(entries: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """Return the matrix with these entries and zeros elsewhere, sparse where it is large.

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


class Root:
    """The lower Cholesky factor L of a positive definite matrix L L^T, and its inverse, which solves all that is asked.

    Only the lower triangle of the matrix is looked at.

    >>> Root(np.array([[4.0, 0.0], [2.0, 2.0]])).solve(np.array([8.0, 6.0]))
    array([1., 2.])
    """

    def __init__(self, matrix: Floats) -> None:
        self.lower = np.asarray(np.linalg.cholesky(matrix), np.float64)

    @cached_property
    def inverted(self) -> Floats:
        """The inverse of the lower triangle."""
        return _triangle_inverse(self.lower)

    def solve(self, right: Floats) -> Floats:
        """Return the matrix's inverse times one column or several."""
        if "inverted" in self.__dict__ or len(self.lower) <= _WHOLE:
            return self.inverted.T @ (self.inverted @ right)
        # A large triangle is inverted in blocks along its diagonal only: that takes a fraction of the time.
        lower, solution = self.lower, np.array(right, np.float64)
        for part, inverse in self._diagonal:
            solution[part] = inverse @ (solution[part] - lower[part, : part.start] @ solution[: part.start])
        for part, inverse in reversed(self._diagonal):
            solution[part] = inverse.T @ (solution[part] - lower[part.stop :, part].T @ solution[part.stop :])
        return solution

    @cached_property
    def _diagonal(self) -> list[tuple[slice, Floats]]:
        """The blocks along the diagonal of the lower triangle, and their inverses."""
        parts = [slice(at, min(at + _WHOLE, len(self.lower))) for at in range(0, len(self.lower), _WHOLE)]
        return [(part, _triangle_inverse(self.lower[part, part])) for part in parts]

    def seen_by(self, matrix: Floats) -> Floats:
        """Return a matrix times the lower triangle, without the zeros above."""
        if len(self.lower) <= _WHOLE:
            return matrix @ self.lower
        product = np.empty_like(matrix)
        for at in range(0, len(self.lower), _WHOLE):
            part = slice(at, at + _WHOLE)
            np.matmul(matrix[:, at:], self.lower[at:, part], out=product[:, part])
        return product

    def inverse(self) -> Floats:
        """Return the matrix's inverse."""
        return self.inverted.T @ self.inverted

    @property
    def log_size(self) -> float:
        """Half the logarithm of the determinant."""
        return float(np.log(np.diag(self.lower)).sum())


def _triangle_inverse(lower: Floats) -> Floats:
    """Invert a lower triangle, half by half: what is left to multiply is what processors are quickest at."""
    size = len(lower)
    if size <= _LEAF:
        return np.asarray(np.linalg.inv(lower), np.float64)
    half = size // 2
    inverse = np.zeros_like(lower)
    first = inverse[:half, :half] = _triangle_inverse(lower[:half, :half])
    second = inverse[half:, half:] = _triangle_inverse(lower[half:, half:])
    inverse[half:, :half] = -second @ (lower[half:, :half] @ first)
    return inverse


def smooth(i: NDArray[Any], j: NDArray[Any], reach: float) -> Floats:
    """Return B with B @ B.T nearly a covariance that falls off with distance, over `reach` places.

    The places are all pairs of some i and some j, each one apart, perhaps several times, so it is made of one for
    each axis.
    """
    places = [np.asarray(values - values.min(), dtype=np.int64) for values in (i, j)]
    roots = [_axis_root(int(place.max()) + 1, reach) for place in places]
    times = len(i) // (len(roots[0]) * len(roots[1]))
    sizes = np.outer(*((root**2).sum(axis=0) for root in roots)) * times
    first, second = np.nonzero(sizes > _SPECTRUM * sizes.max())
    return roots[0][places[0]][:, first] * roots[1][places[1]][:, second]


@lru_cache(maxsize=8)
def _axis_root(count: int, reach: float) -> Floats:
    """Return the same for a number of places along one axis."""
    place = np.arange(count)
    return root_of(np.exp(-0.5 * (np.subtract.outer(place, place) / reach) ** 2), 0.0)


def root_of(covariance: Floats, spectrum: float = _SPECTRUM) -> Floats:
    """Return B with B @ B.T nearly the covariance, few columns."""
    values, vectors = np.linalg.eigh(covariance)
    large = values > spectrum * values[-1]
    return vectors[:, large] * np.sqrt(values[large])
