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
from ldptrace.models.routes.ends import MARKS, Ends, end_components
from ldptrace.models.routes.strides import STRIDES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Weighting:
    """Weights of routes. Those with the same cell path and stride are one group: they answer alike.

    `mass` is the public weight b of every route, `group` its group, `marks` its features beside those of its group:
    the places and kinds of its ends. `tables` say what each group's devices answer: expected answers are A^T w, and
    their derivatives A^T diag(w) F - (A^T w)(F^T w)^T.
    """

    mass: Floats
    group: Ints
    marks: NDArray[np.int32]
    features: csr_array
    tables: Mapping[str, csr_array]
    potentials: Floats

    @staticmethod
    def of(
        paths: CellPaths,
        kinds: NDArray[np.int8],
        ends: Ends,
        weights: Floats,
        lengths: int,
        observations: Sequence[Observation],
    ) -> Weighting:
        """The public weighting of paths, their potentials zero."""
        first, group = different(paths, kinds)
        tables = PathTables(paths.take(first), lengths)
        every = np.arange(len(first))
        stride = csr_array((np.ones(len(first)), (every, kinds[first])), shape=(len(first), len(STRIDES)))
        features = csr_array(hstack([tables.features, stride]))
        answers = {seen.name: tables.answers(seen.name, seen.most) for seen in observations}
        potentials = np.zeros(features.shape[1] + len(ends.density) + MARKS)
        return Weighting(weights, group, ends.marks, features, answers, potentials)

    @cached_property
    def weights(self) -> Floats:
        """w of every route; they add up to one."""
        common = self.features.shape[1]
        of_groups, of_ends = self.features @ self.potentials[:common], self.potentials[common:]
        exponents = of_groups[self.group] + of_ends[self.marks].sum(axis=1)
        weights = self.mass * np.exp(exponents - exponents[self.mass > 0].max())
        return weights / weights.sum()

    @property
    def places(self) -> int:
        """How many places have potentials."""
        return len(self.potentials) - self.features.shape[1] - MARKS

    @cached_property
    def shares(self) -> Floats:
        """w of every group."""
        return np.bincount(self.group, self.weights, self.features.shape[0]).astype(np.float64)

    def moved(self, step: Floats) -> Weighting:
        """The weighting with other potentials."""
        return replace(self, potentials=self.potentials + step)

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question."""
        return {name: self.tables[name].T @ self.shares for name in capacities}

    def allowed_for(self, observations: Sequence[Observation]) -> list[Observation]:
        """The observations with the chance of the library in their variances: it is a sample of the ways there are."""
        allowed = []
        for seen in observations:
            items, of_total = self.chance(seen.name)
            total = None if seen.total is None else (seen.total[0], seen.total[1] + of_total)
            allowed.append(replace(seen, variances=seen.variances + items, total=total))
        return allowed

    def chance(self, name: str) -> tuple[Floats, float]:
        """Variance of the expected answers to a question, and of their total, because the routes are so many only."""
        table = self.tables[name]
        squares = np.bincount(self.group, self.weights**2, len(self.shares))
        totals = np.asarray(table.sum(axis=1)).ravel()
        means, mean = table.T @ self.shares, float(totals @ self.shares)
        items = table.power(2).T @ squares - 2 * means * (table.T @ squares) + means**2 * squares.sum()
        return np.maximum(items, 0.0), float(((totals - mean) ** 2) @ squares)

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Derivatives of the expected answers; nothing is lost to repeats, they are in the tables."""
        common = self.features.shape[1]
        own = len(self.potentials) - common
        mean = np.concatenate(
            [
                self.features.T @ self.shares,
                np.sum([np.bincount(column, self.weights, own) for column in self.marks.T], axis=0),
            ]
        )
        rows = {}
        for name in capacities:
            table = self.tables[name]
            together = np.zeros((table.shape[1], len(self.potentials)))
            listed = (table.indptr, table.indices, table.data)
            _together(
                *listed,
                self.features.indptr,
                self.features.indices,
                self.features.data,
                self.shares,
                together,
            )
            _at_ends(*listed, self.group, self.marks, self.weights, common, together)
            rows[name] = together - np.outer(table.T @ self.shares, mean)
        return rows, {name: np.ones(len(rows[name])) for name in capacities}


def route_prior(graph: MoveGraph, lengths: int, density: Floats, scales: Floats | None = None) -> Prior:
    """The components of the path model's prior, one for the strides, and those of the places of ends."""
    layout, strides, own = Layout(graph.cells, graph.moves, lengths), len(STRIDES), len(density) + MARKS
    shared = [
        replace(component, basis=_padded(component.basis, 0, strides + own))
        for component in components(graph, layout)
    ]
    stride = PriorComponent("stride", _padded(csr_array(np.eye(strides)), layout.size, own), 4.0, fixed=True)
    of_ends = [
        replace(component, basis=_padded(component.basis, layout.size + strides, 0))
        for component in end_components(density, graph.grid, scales)
    ]
    return Prior([*shared, stride, *of_ends])


def _padded(basis: Any, above: int, below: int) -> Any:
    """A basis with so many more rows of zeros, sparse if it was."""
    if issparse(basis):
        many = basis.shape[1]
        return csr_array(vstack([csr_array((above, many)), basis, csr_array((below, many))]))
    return np.pad(basis, ((above, below), (0, 0)))


@kernel
def _at_ends(ap, ai, av, group, marks, weights, common, out):  # type: ignore[no-untyped-def]
    """Add A^T diag(weights) F for the marks of the routes' ends, whose columns follow the common ones."""
    for route in range(len(weights)):
        row = group[route]
        for a in range(ap[row], ap[row + 1]):
            value = av[a] * weights[route]
            for mark in range(marks.shape[1]):
                out[ai[a], common + marks[route, mark]] += value


@kernel
def _together(ap, ai, av, fp, fi, fv, shares, out):  # type: ignore[no-untyped-def]
    """out = A^T diag(shares) F for two tables of the same rows."""
    for group in range(len(shares)):
        for a in range(ap[group], ap[group + 1]):
            value = av[a] * shares[group]
            for f in range(fp[group], fp[group + 1]):
                out[ai[a], fi[f]] += value * fv[f]
