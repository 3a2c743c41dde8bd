"""Weights of routes for given potentials, w_r proportional to b_r exp(x . F_r), and the expected answers of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths
from ldptrace.models.observation import Observation
from ldptrace.models.pairs import districts_in, pair_components
from ldptrace.models.path.components import components
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.models.routes.answers import PathTables, different
from ldptrace.models.routes.ends import MARKS, Ends, end_components, padded
from ldptrace.models.routes.strides import STRIDES
from ldptrace.protocol.grid import Grid

# Components of the path model that routes do without: places of ends and passage say the same, and chance decided which
# of them explained the answers. Routes know how many cells long trips have.
OMITTED = ("popularity", "popularity, smooth", "terminals", "length, last")
# How large components of the path model are before any answer, and how far that may be off: streets and their costs say
# much already of what those have to find out.
MODEST, FAR = 4e-4, 4.0
# Moves are features on a grid of at most this many cells per side, and of no fewer than the second number. On a finer
# grid the moves would be thousands of potentials, and routes know them already: there, blocks of cells have moves, and
# single cells are features of passage and of starts.
BROAD, NARROW = 9, 5
# Variance of the passage of the cells of a fine grid. A learned one grew in some fits until passage explained where
# trips begin and end.
PASSAGE = 0.1
# First guess of the variance by which cells of a fine grid differ in how many more trips begin there than end there.
STARTS = 0.01
# Changes of the logarithm of a weight are kept in steps of this part of one: up to a factor of 50 either way.
FINE = 32
# Components whose size the path model does not learn, and their variance here. Lengths follow from distances.
LEARNED, FEW = ("axis", "turn", "length, trend"), 0.002


@dataclass(frozen=True, eq=False)
class Weighting:
    """Weights of routes. Routes with the same cell path and stride form a group, and have the same answers.

    `mass` is the public weight b of each route, `group` its group, and `marks` the features that the group does not
    have: the places and kinds of its ends. The table A has the answers of each group to all questions, whose columns
    are in `items`. Expected answers are A^T w, and their derivatives A^T diag(w) F - (A^T w)(F^T w)^T.
    """

    # All routes, group by group: the order of what is known of each, so that loops find it side by side.
    order: Ints
    mass: Floats
    group: Ints
    marks: Ints32
    features: csr_array
    table: csr_array
    items: Mapping[str, slice]
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
        """Make the public weighting of paths, with all potentials 0."""
        first, order, group = different(paths, kinds)
        tables = PathTables(paths.take(first), lengths, districts_in(observations))
        joined = joined_cells(paths.grid)
        wide = PathTables(tables.paths.coarser(joined), lengths)
        stride = csr_array(
            (np.ones(len(first)), (tables.every, kinds[first])), shape=(len(first), len(STRIDES))
        )
        # Blocks of cells have ends and moves; turns and the number of cells are those of the cells themselves.
        ways = wide.features[:, : wide.layout.turn.start]
        shapes = tables.features[:, tables.layout.turn.start :]
        of_cells = [tables.passed, tables.answers("start", 1)] if joined > 1 else []
        features = csr_array(hstack([ways, shapes, *of_cells, stride, tables.pairs]))
        answers = [tables.answers(seen.name, seen.most) for seen in observations]
        until = np.cumsum([0, *(answer.shape[1] for answer in answers)]).tolist()
        items = {
            seen.name: slice(*between) for seen, between in zip(observations, pairwise(until), strict=True)
        }
        table = csr_array(hstack(answers)) if answers else csr_array((len(first), 0))
        potentials = np.zeros(features.shape[1] + len(ends.density) + MARKS)
        marks = np.ascontiguousarray(ends.marks[order])
        return Weighting(order, weights[order], group, marks, features, table, items, potentials)

    @cached_property
    def weights(self) -> Floats:
        """Weight w of each route, in the order in which the routes were given. The weights add up to 1."""
        weights = np.empty(len(self.order))
        weights[self.order] = self._by_group
        return weights

    @cached_property
    def _by_group(self) -> Floats:
        """Weight w of each route, group by group."""
        exponents = self._exponents(self.potentials)
        weights = self.mass * np.exp(exponents - exponents[self.mass > 0].max())
        return weights / weights.sum()

    @property
    def mass_now(self) -> float:
        """The sum of b exp(x . F) over all routes."""
        return float(self.mass @ np.exp(self._exponents(self.potentials)))

    def _exponents(self, potentials: Floats) -> Floats:
        """Return x . F of each route, group by group."""
        common = self.features.shape[1]
        exponents = np.empty(len(self.mass))
        _exponents(
            self.features @ potentials[:common], self.group, potentials[common:], self.marks, exponents
        )
        return exponents

    def changes(self, draws: Floats) -> NDArray[np.int8]:
        """Return how much the logarithm of each weight changes for each of these changes of the potentials, in steps of
        1 / `FINE`. There is a row for each change; routes are in the order in which they were given."""
        steps = np.empty((len(draws), len(self.order)), dtype=np.int8)
        for row, draw in enumerate(draws):
            exponents = self._exponents(draw)
            mean = exponents @ self._by_group
            steps[row, self.order] = np.clip(np.round(FINE * (exponents - mean)), -127, 127)
        return steps

    @property
    def places(self) -> int:
        """Number of places that have potentials."""
        return len(self.potentials) - self.features.shape[1] - MARKS

    @cached_property
    def shares(self) -> Floats:
        """Total weight w of each group."""
        return np.bincount(self.group, self._by_group, self.features.shape[0]).astype(np.float64)

    def moved(self, step: Floats) -> Weighting:
        """Return the weighting after this change of the potentials."""
        return replace(self, potentials=self.potentials + step)

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Return the expected number of each item per user, for each question."""
        return {name: self._expected[self.items[name]] for name in capacities}

    @cached_property
    def _expected(self) -> Floats:
        """Expected answers to all questions."""
        return np.asarray(self.table.T @ self.shares)

    def allowed_for(self, observations: Sequence[Observation], with_trip: float = 1.0) -> list[Observation]:
        """Return the observations with larger variances, which include the random error of the library (a sample of all
        possible routes).

        `with_trip` is the share of the answering devices that have a trip.
        """
        allowed = []
        for seen in observations:
            items, of_total = self.chance(seen.name)
            more = with_trip**2 * of_total
            total = None if seen.total is None else (seen.total[0], seen.total[1] + more)
            allowed.append(replace(seen, variances=seen.variances + with_trip**2 * items, total=total))
        return allowed

    def chance(self, name: str) -> tuple[Floats, float]:
        """Return the variance of the expected answers to a question, and of their total, which comes from the finite
        number of routes."""
        items, totals = self._chances
        return items[self.items[name]], totals[list(self.items).index(name)]

    @cached_property
    def _chances(self) -> tuple[Floats, list[float]]:
        """The variances of all expected answers, and of the total of each question."""
        table, means = self.table, self._expected
        squares = np.bincount(self.group, self._by_group**2, len(self.shares))
        items = table.power(2).T @ squares - 2 * means * (table.T @ squares) + means**2 * squares.sum()
        asked = np.zeros((table.shape[1], len(self.items)))
        for number, within in enumerate(self.items.values()):
            asked[within, number] = 1
        totals = table @ asked
        return np.maximum(items, 0.0), (((totals - self.shares @ totals) ** 2).T @ squares).tolist()

    def scatter(self, values: Floats, trees: Ints32) -> Floats:
        """Return the covariance of sums of the expected answers, each item times its `values` (a row for each sum), if
        other trees of routes had been drawn. `trees` has the tree of each route, in the order in which they were given.
        """
        sums = self.table @ values.T
        parts = self._by_group[:, None] * (sums - self.shares @ sums)[self.group]
        of_tree = csr_array((np.ones(len(trees)), (trees[self.order], np.arange(len(trees)))))
        by_tree = of_tree @ parts
        covariance: Floats = by_tree.T @ by_tree
        return covariance

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the derivatives of the expected answers. Repeated items need no correction, because the tables include
        them."""
        common = self.features.shape[1]
        mean = np.append(self.features.T @ self.shares, np.zeros(len(self.potentials) - common))
        # A row for each potential and a column for each item. The rows that one route adds to are neighbours, which is
        # quick.
        together = np.zeros((len(mean), self.table.shape[1]))
        listed = (self.table.indptr, self.table.indices, self.table.data)
        features = (self.features.indptr, self.features.indices, self.features.data)
        _together(*listed, *features, self.shares, together)
        few = np.zeros((len(self.shares), MARKS))
        routes = (self.group, self.marks, self._by_group)
        _at_places(*listed, *routes, mean[common:], few, together[common:])
        _at_marks(*listed, few, together[-MARKS:])
        together -= np.outer(mean, self._expected)
        rows = {name: together[:, self.items[name]].T for name in capacities}
        return rows, {name: np.ones(len(rows[name])) for name in capacities}


def joined_cells(grid: Grid) -> int:
    """Return how many cells along each side are joined for the features of moves; 1 if the grid has few cells.

    A grid whose number of cells per side has no suitable divisor is not changed.

    >>> [joined_cells(Grid((0, 0, 1, 1), n)) for n in (6, 9, 10, 11, 12, 16, 24)]
    [1, 1, 2, 1, 2, 2, 3]
    """
    fitting = (k for k in range(1, grid.n + 1) if grid.n % k == 0 and NARROW <= grid.n // k <= BROAD)
    return next(fitting, 1)


def route_prior(
    grid: Grid, lengths: int, density: Floats, scales: Floats | None = None, districts: int = 0
) -> Prior:
    """Return the prior of routes: most components of the path model's prior with small variances, one component for
    strides, the components for pairs of `districts`, and those for the ends of routes."""
    joined = joined_cells(grid)
    graph = MoveGraph(Grid(grid.bounds, grid.n // joined))
    layout = Layout(graph.cells, graph.moves, lengths)
    cells, strides, own = 2 * grid.cells if joined > 1 else 0, len(STRIDES), len(density) + MARKS
    pairs = districts**4
    parts = [
        _modest(replace(component, basis=padded(component.basis, 0, cells + strides + pairs + own)))
        for component in components(graph, layout)
        if component.name not in OMITTED
    ]
    if cells:
        each, after = csr_array(np.eye(grid.cells)), strides + pairs + own
        passage, start = (padded(each, layout.size + at, grid.cells - at + after) for at in (0, grid.cells))
        parts.append(PriorComponent("passage of single cells", passage, PASSAGE, fixed=True))
        parts.append(PriorComponent("start in single cells", start, STARTS, FAR))
    before = layout.size + cells
    stride = padded(csr_array(np.eye(strides)), before, pairs + own)
    parts.append(PriorComponent("stride", stride, 4.0, fixed=True))
    if districts:
        parts += [
            replace(component, basis=padded(component.basis, before + strides, own))
            for component in pair_components(districts)
        ]
    parts += [
        replace(component, basis=padded(component.basis, before + strides + pairs, 0))
        for component in end_components(density, grid, scales, fine=joined > 1)
    ]
    return Prior(parts)


def _modest(component: PriorComponent) -> PriorComponent:
    """Return the component with a small variance, which the fit may increase."""
    if component.name in LEARNED:
        return replace(component, variance=FEW, fixed=False)
    return component if component.fixed else replace(component, variance=MODEST, spread=FAR)


@kernel
def _exponents(of_groups, group, of_ends, marks, out):  # type: ignore[no-untyped-def]
    """Sum the potentials of the group and of the ends of each route."""
    for route in range(len(group)):
        total = 0.0
        for mark in range(marks.shape[1]):
            total += of_ends[marks[route, mark]]
        out[route] = of_groups[group[route]] + total


@kernel
def _at_places(ap, ai, av, group, marks, weights, sums, few, out):  # type: ignore[no-untyped-def]
    """Add F^T diag(weights) A for the places of the ends of routes, and sum the weights of all marks.

    The weights of marks that are not places are summed by group.
    """
    places = len(out) - few.shape[1]
    for route in range(len(group)):
        row = group[route]
        for number in range(marks.shape[1]):
            mark = marks[route, number]
            sums[mark] += weights[route]
            if mark >= places:
                few[row, mark - places] += weights[route]
                continue
            there = out[mark]
            for a in range(ap[row], ap[row + 1]):
                there[ai[a]] += av[a] * weights[route]


@kernel
def _at_marks(ap, ai, av, few, out):  # type: ignore[no-untyped-def]
    """Add few^T A, where `few` has the weights of groups by mark."""
    for row in range(len(few)):
        for mark in range(few.shape[1]):
            if few[row, mark] > 0:
                for a in range(ap[row], ap[row + 1]):
                    out[mark, ai[a]] += few[row, mark] * av[a]


@kernel
def _together(ap, ai, av, fp, fi, fv, shares, out):  # type: ignore[no-untyped-def]
    """Compute out = F^T diag(shares) A for two tables of the same rows."""
    for group in range(len(shares)):
        for f in range(fp[group], fp[group + 1]):
            value, there = fv[f] * shares[group], out[fi[f]]
            for a in range(ap[group], ap[group + 1]):
                there[ai[a]] += value * av[a]
