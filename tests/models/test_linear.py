"""Matrices of both sizes: arrays and numpy for small ones, sparse ones and scipy for large ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from threadpoolctl import threadpool_info

from ldptrace.models.linear import SMALL, Root, matrix_of, one_thread

SIZES = pytest.mark.parametrize("size", [6, SMALL + 1])


def covariance(rng: np.random.Generator, size: int) -> np.ndarray:
    square = rng.normal(size=(size, size))
    return np.asarray(square @ square.T / size + np.eye(size))


@SIZES
def test_a_matrix_has_a_root_and_that_an_inverse(rng: np.random.Generator, size: int) -> None:
    matrix = covariance(rng, size)
    # What is above the diagonal is never looked at.
    root = Root(np.tril(matrix) + np.triu(np.full_like(matrix, np.nan), 1))
    np.testing.assert_allclose(root.lower @ root.lower.T, matrix, atol=1e-10)
    np.testing.assert_allclose(root.inverted @ root.lower, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(root.inverse() @ matrix, np.eye(size), atol=1e-10)
    view = rng.normal(size=(3, size))
    np.testing.assert_allclose(root.seen_by(view), view @ root.lower, atol=1e-10)
    assert root.log_size == pytest.approx(np.linalg.slogdet(matrix)[1] / 2)


@SIZES
def test_a_matrix_that_is_no_covariance_is_an_error(size: int) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        Root(-np.eye(size))


@SIZES
def test_equations_are_solved_for_one_right_side_and_for_many(rng: np.random.Generator, size: int) -> None:
    matrix, right = covariance(rng, size), rng.normal(size=(size, 3))
    root = Root(matrix)
    np.testing.assert_allclose(matrix @ root.solve(right), right, atol=1e-9)
    np.testing.assert_allclose(matrix @ root.solve(right[:, 0]), right[:, 0], atol=1e-9)


@SIZES
def test_a_large_matrix_is_sparse_and_holds_the_same(size: int) -> None:
    rows, columns = np.array([0, 2, 5]), np.array([1, 0, 1])
    matrix = matrix_of(np.array([1.0, 2.0, 3.0]), rows, columns, (size, 2))
    assert sparse.issparse(matrix) == (size > SMALL)
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    assert dense.sum() == 6
    assert dense[rows, columns].tolist() == [1.0, 2.0, 3.0]


def test_no_library_that_is_loaded_uses_more_than_one_thread() -> None:
    assert linalg.lapack is not None
    with one_thread():
        found = [library for library in threadpool_info() if library["user_api"] == "blas"]
        # numpy's, and scipy's own.
        assert len(found) >= 2
        assert {library["num_threads"] for library in found} == {1}
