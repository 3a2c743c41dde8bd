"""What is believed of the log-potentials before any report: a sum of Gaussian parts, each of unknown size.

A part says which potentials go up and down together: both ends of a trip like the same places, a road is
driven both ways, neighbouring cells are alike. How large each part is, is estimated from the noisy answers
themselves (`ldptrace.models.path.fit`); a part that the data does not speak for shrinks to nothing.
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

from ldptrace.models.path.network import Network
from ldptrace.models.path.statistics import Layout
from ldptrace.protocol.lattice import TURNS

Floats = NDArray[np.float64]
# Smooth parts are kept up to this share of their largest eigenvalue.
_SPECTRUM = 1e-3


@dataclass(frozen=True, eq=False)
class Part:
    """Potentials = basis @ (independent normals of variance `variance`); the basis is a sparse or a dense matrix.

    `variance` is a first guess; with `fixed` it stays.
    """

    name: str
    basis: Any
    variance: float = 0.05
    fixed: bool = False


class Belief:
    """The sum of the parts, for any variances of theirs."""

    def __init__(self, prior: Sequence[Part]) -> None:
        self.parts = tuple(prior)
        self._sparse = {
            k: part.basis @ part.basis.T for k, part in enumerate(prior) if sparse.issparse(part.basis)
        }
        self._dense = {k: part.basis for k, part in enumerate(prior) if not sparse.issparse(part.basis)}

    def precision(self, variances: Floats) -> Floats:
        """Inverse covariance of all potentials; every potential has a part of its own, so there is one."""
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


def parts(network: Network, layout: Layout) -> tuple[Part, ...]:
    """The parts of the prior for a grid."""
    cells, moves = network.cells, network.moves
    start = _placed(np.eye(cells), layout.start, layout)
    end = _placed(np.eye(cells), layout.end, layout)
    into = _indicator(network.target, cells)
    out = _indicator(network.source, cells)
    through = _placed(into + out, layout.move, layout)
    pull = _placed(into - out, layout.move, layout)
    heading = _indicator(network.direction, 8)
    axis = _indicator(np.minimum(network.direction, 7 - network.direction), 4)
    n = network.grid.n
    i, j = np.divmod(np.arange(cells), n)
    near = _root(_bump(i, j, n))
    middle_i = (i[network.source] + i[network.target]) / 2
    middle_j = (j[network.source] + j[network.target]) / 2

    def alike(group: Floats) -> sparse.csr_array:
        """Smooth over the places of moves, separately for each group of directions."""
        blocks = []
        for members in group.T.astype(bool):
            root = _root(_bump(middle_i[members], middle_j[members], n))
            block = np.zeros((moves, root.shape[1]))
            block[members] = root
            blocks.append(block)
        return _placed(np.hstack(blocks), layout.move, layout)

    return (
        Part("popularity", start + end + through / 2),
        Part("popularity, smooth", (start + end + through / 2) @ near),
        Part("terminals", start + end),
        Part("start", start),
        Part("end", end),
        Part("passage", through),
        Part("pull", pull),
        Part("pull, smooth", pull @ near),
        Part("axis", _placed(axis, layout.move, layout), 1.0, fixed=True),
        Part("axis, smooth", alike(axis)),
        Part("heading", _placed(heading, layout.move, layout)),
        Part("heading, smooth", alike(heading)),
        Part("link", _placed(_indicator(network.link, network.links), layout.move, layout)),
        Part("move", _placed(np.eye(moves), layout.move, layout)),
        Part("turn", _placed(np.eye(TURNS), layout.turn, layout), 1.0, fixed=True),
        *_length_parts(layout),
    )


def _length_parts(layout: Layout) -> tuple[Part, ...]:
    """A trend that holds gamma and normal shapes, a smooth deviation on the logarithmic scale, single lengths."""
    length = np.arange(1, layout.lengths + 1, dtype=np.float64)
    trend = np.stack([length, np.log(length), length**2], axis=1)
    trend = (trend - trend.mean(axis=0)) / trend.std(axis=0)
    distance = np.log(length)[:, None] - np.log(length)
    smooth = np.exp(-0.5 * (distance / 0.5) ** 2)
    return (
        Part("length, trend", _placed(trend, layout.length, layout), 1.0, fixed=True),
        Part("length, smooth", _placed(_root(smooth), layout.length, layout)),
        Part("length", _placed(np.eye(layout.lengths), layout.length, layout), 0.01),
    )


def _indicator(group: NDArray[np.int64], groups: int) -> Floats:
    return (group[:, None] == np.arange(groups)).astype(np.float64)


def _placed(block: Floats, rows: slice, layout: Layout) -> sparse.csr_array:
    """The block in the given rows of the vector of all potentials, zeros elsewhere."""
    at, column = np.nonzero(block)
    entries = (block[at, column], (at + rows.start, column))
    return sparse.csr_array(entries, shape=(layout.size, block.shape[1]))


def _bump(i: NDArray[np.generic], j: NDArray[np.generic], n: int) -> Floats:
    """Covariance that falls off with distance, over a third of the grid's side."""
    squares = np.subtract.outer(i, i) ** 2.0 + np.subtract.outer(j, j) ** 2.0
    return np.exp(-0.5 * squares / max(1.0, n / 3) ** 2)


def _root(covariance: Floats) -> Floats:
    """B with B @ B.T nearly the covariance, few columns."""
    values, vectors = np.linalg.eigh(covariance)
    large = values > _SPECTRUM * values[-1]
    return vectors[:, large] * np.sqrt(values[large])
