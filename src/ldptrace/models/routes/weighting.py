"""Weights of the routes at given potentials: w_r proportional to b_r exp(x . F_r), and what they make users answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths
from ldptrace.models.observation import Observation
from ldptrace.models.path.components import components
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.models.routes.answers import PathTables, different
from ldptrace.models.routes.strides import STRIDES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Weighting:
    """Routes with the same cell path and stride have the same features F, so they are weighted as one group.

    `mass` is the public weight b of every group. `tables` say what each group's devices answer: expected answers are
    A^T w, and their derivatives A^T diag(w) F - (A^T w)(F^T w)^T.
    """

    mass: Floats
    features: csr_array
    tables: Mapping[str, csr_array]
    potentials: Floats

    @staticmethod
    def of(
        paths: CellPaths,
        kinds: NDArray[np.int8],
        weights: Floats,
        lengths: int,
        observations: Sequence[Observation],
    ) -> tuple[Weighting, Ints]:
        """The public weighting of paths, their potentials zero; and the group of every path."""
        first, group = different(paths, kinds)
        tables = PathTables(paths.take(first), lengths)
        every = np.arange(len(first))
        stride = csr_array((np.ones(len(first)), (every, kinds[first])), shape=(len(first), len(STRIDES)))
        features = csr_array(hstack([tables.features, stride]))
        answers = {seen.name: tables.answers(seen.name, seen.most) for seen in observations}
        mass = np.bincount(group, weights, len(first)).astype(np.float64)
        return Weighting(mass, features, answers, np.zeros(features.shape[1])), group

    @cached_property
    def shares(self) -> Floats:
        """w of every group; they add up to one."""
        exponents = self.features @ self.potentials
        weights = self.mass * np.exp(exponents - exponents[self.mass > 0].max())
        return weights / weights.sum()

    @property
    def tilt(self) -> Floats:
        """w over b of every group."""
        return np.divide(self.shares, self.mass, out=np.zeros_like(self.mass), where=self.mass > 0)

    def moved(self, step: Floats) -> Weighting:
        """The weighting with other potentials."""
        return replace(self, potentials=self.potentials + step)

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question."""
        return {name: self.tables[name].T @ self.shares for name in capacities}

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Derivatives of the expected answers; nothing is lost to repeats, they are in the tables."""
        mean = self.features.T @ self.shares
        rows = {}
        for name in capacities:
            table = self.tables[name]
            together = np.zeros((table.shape[1], self.features.shape[1]))
            _together(
                table.indptr,
                table.indices,
                table.data,
                self.features.indptr,
                self.features.indices,
                self.features.data,
                self.shares,
                together,
            )
            rows[name] = together - np.outer(table.T @ self.shares, mean)
        return rows, {name: np.ones(len(rows[name])) for name in capacities}


def route_prior(graph: MoveGraph, lengths: int) -> Prior:
    """The components of the path model's prior, and one for the strides."""
    layout, strides = Layout(graph.cells, graph.moves, lengths), len(STRIDES)
    shared = [
        replace(component, basis=_lengthened(component.basis, strides))
        for component in components(graph, layout)
    ]
    own = csr_array(vstack([csr_array((layout.size, strides)), csr_array(np.eye(strides))]))
    return Prior([*shared, PriorComponent("stride", own, 4.0, fixed=True)])


def _lengthened(basis: Any, rows: int) -> Any:
    """A basis with so many more rows of zeros, sparse if it was."""
    if issparse(basis):
        return csr_array(vstack([basis, csr_array((rows, basis.shape[1]))]))
    return np.vstack([basis, np.zeros((rows, basis.shape[1]))])


@kernel
def _together(ap, ai, av, fp, fi, fv, shares, out):  # type: ignore[no-untyped-def]
    """out = A^T diag(shares) F for two tables of the same rows."""
    for group in range(len(shares)):
        for a in range(ap[group], ap[group + 1]):
            value = av[a] * shares[group]
            for f in range(fp[group], fp[group + 1]):
                out[ai[a], fi[f]] += value * fv[f]
