"""A library of public routes: possible trips, before any report is used.

A route is a sequence of directed edges. It begins at some point of its first edge and ends at some point of its last
edge. Each route has a weight: its probability in the public distribution. This distribution is broad on purpose (short,
medium and long distances in equal parts, from everywhere): reports can narrow a broad library, but cannot widen a
narrow one. Points are computed on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints32, make_columns
from ldptrace.core.drawing import check_one
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork

Offsets = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Routes:
    """A set of routes on a road network, each a list of edges with a weight. The weights add up to 1.

    Route `r` has the edges from `offsets[r]` to `offsets[r + 1] - 1`. The route begins at the fraction `begin[r]` of
    its first edge and ends at the fraction `end[r]` of its last edge.

    >>> corner = RoadNetwork.of([0, 100, 100], [0, 0, 50], source=[0, 1], target=[1, 2])
    >>> routes = Routes.of(corner, [[0, 1], [1]])
    >>> len(routes), routes.lengths.tolist(), routes.points(spacing=60).x.tolist()
    (2, [150.0, 50.0], [0.0, 60.0, 100.0, 100.0, 100.0, 100.0])
    """

    roads: RoadNetwork
    edges: Ints32
    offsets: Offsets
    begin: Floats
    end: Floats
    weights: Floats

    def __repr__(self) -> str:
        return f"<Routes: {len(self):,} on {self.roads!r}>"

    def __post_init__(self) -> None:
        make_columns(self, np.int32, "edges")
        make_columns(self, np.int64, "offsets")
        make_columns(self, np.float64, "begin", "end", "weights")
        if len(self.offsets) < 2:
            raise InputError("a library needs at least one route")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.edges) or np.diff(self.offsets).min() < 1:
            raise InputError(
                "every route needs at least one edge, and offsets must run from 0 to their number"
            )
        if self.edges.min() < 0 or self.edges.max() >= self.roads.edges:
            raise InputError(f"a route uses an edge that is not among the {self.roads.edges} of the network")
        for name in ("begin", "end", "weights"):
            if len(getattr(self, name)) != len(self):
                raise InputError(f"{name} has {len(getattr(self, name))} values for {len(self)} routes")
        if not (np.isfinite(self.weights).all() and self.weights.min() >= 0 and self.weights.sum() > 0):
            raise InputError("the weights of routes must be finite, not negative, and not all zero")

    @staticmethod
    def of(roads: RoadNetwork, ways: list[list[int]], weights: ArrayLike | None = None) -> Routes:
        """Make routes from Python lists of edge numbers. Routes use whole edges, and weights are equal by default."""
        offsets = ragged.offsets_of([len(way) for way in ways])
        many = len(ways)
        weight = np.ones(many) if weights is None else np.asarray(weights, dtype=np.float64)
        edges = np.array([edge for way in ways for edge in way], dtype=np.int32)
        return Routes(roads, edges, offsets, np.zeros(many), np.ones(many), weight / weight.sum())

    @staticmethod
    def from_trajectories(public: Trajectories) -> Routes:
        """Make routes from public trajectories. Trajectories with fewer than two points are omitted."""
        kept = public.take(public.sizes >= 2)
        if len(kept) == 0:
            raise InputError("the public file has no trajectory of two points or more")
        first, last = kept.offsets[:-1], kept.offsets[1:] - 1
        many = len(kept)
        inner = np.ones(kept.points, dtype=bool)
        inner[first] = inner[last] = False
        shape = (kept.x[inner], kept.y[inner], ragged.offsets_of(kept.sizes - 2))
        seconds = None
        if kept.t is not None:
            spent = kept.t[last] - kept.t[first]
            seconds = np.maximum(spent, 1e-3) if np.isfinite(spent).all() else None
        lines = RoadNetwork.of(
            np.concatenate([kept.x[first], kept.x[last]]),
            np.concatenate([kept.y[first], kept.y[last]]),
            np.arange(many),
            np.arange(many, 2 * many),
            seconds=seconds,
            shape=shape,
            crs=public.crs,
            name="public trajectories",
        )
        ones = np.ones(many)
        every = np.arange(many, dtype=np.int32)
        return Routes(lines, every, np.arange(many + 1), 0 * ones, ones, ones / many)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Offsets:
        """Number of edges of each route."""
        return np.diff(self.offsets)

    @cached_property
    def lengths(self) -> Floats:
        """Length of each route, in the unit of the lengths of the network."""
        return self._along(self.roads.length)

    @cached_property
    def seconds(self) -> Floats | None:
        """Travel time of each route in seconds, or None if the network has no travel times."""
        return None if self.roads.seconds is None else self._along(self.roads.seconds)

    def _along(self, values: Floats) -> Floats:
        """Sum the values of edges along each route, with fractions of the first and the last edge."""
        whole = np.add.reduceat(values[self.edges], self.offsets[:-1])
        first, last = self.edges[self.offsets[:-1]], self.edges[self.offsets[1:] - 1]
        along: Floats = whole - self.begin * values[first] - (1 - self.end) * values[last]
        return along

    def take(self, indices: ArrayLike, weights: Floats | None = None) -> Routes:
        """Return the routes at these indices (numbers or a mask), in the order of the indices, with new weights if
        given."""
        picked = np.asarray(indices)
        picked = np.flatnonzero(picked) if picked.dtype == np.bool_ else picked.astype(np.int64)
        offsets, source = ragged.taken(self.offsets, picked)
        kept = self.weights[picked] if weights is None else weights
        return Routes(
            self.roads, self.edges[source], offsets, self.begin[picked], self.end[picked], kept / kept.sum()
        )

    def joined(self, later: Routes) -> Routes:
        """Return these routes together with other routes on the same network."""
        edges, begin, end, weights = (
            np.concatenate([getattr(self, name), getattr(later, name)])
            for name in ("edges", "begin", "end", "weights")
        )
        offsets = np.concatenate([self.offsets, self.offsets[-1] + later.offsets[1:]])
        return Routes(self.roads, edges, offsets, begin, end, weights / weights.sum())

    def lines(self) -> Trajectories:
        """Return the line of each edge that the routes use, as one trajectory per edge."""
        return Trajectories(*self.roads.lines(np.unique(self.edges)), crs=self.roads.crs)

    def on_used_roads(self) -> Routes:
        """Return the same routes on a network that has only the edges that the routes use."""
        used = np.unique(self.edges)
        number = np.zeros(self.roads.edges, dtype=np.int32)
        number[used] = np.arange(len(used))
        kept = np.zeros(self.roads.nodes, dtype=bool)
        kept[self.roads.source[used]] = kept[self.roads.target[used]] = True
        return replace(self, roads=self.roads.take_edges(used).take_nodes(kept), edges=number[self.edges])

    def points(
        self,
        indices: ArrayLike | None = None,
        *,
        spacing: ArrayLike | None = None,
        interval: ArrayLike | None = None,
    ) -> Trajectories:
        """Return points along the routes: every `spacing` units of length or every `interval` seconds, and at the
        end.

        Without `spacing` and `interval`, the points of a route are the bends of its streets. If the network has travel
        times, `t` is the time in seconds since the start of the route.
        """
        picked = np.arange(len(self)) if indices is None else np.asarray(indices, dtype=np.int64)
        check_one(spacing, interval)
        if interval is not None and self.roads.seconds is None:
            raise InputError(
                f"{self.roads.name}: its speeds are not known, so points cannot be placed at an interval of seconds; "
                "give a spacing"
            )
        apart, unit = np.empty(0), self.roads.length
        pace = unit if self.roads.seconds is None else self.roads.seconds
        if spacing is not None:
            apart = _positive("spacing", spacing, len(picked))
            sizes = _steps(self.lengths[picked] / apart)
        elif interval is not None and self.seconds is not None:
            apart, unit = _positive("interval", interval, len(picked)), pace
            sizes = _steps(self.seconds[picked] / apart)
        else:
            # Every point of its lines, with shared nodes once.
            own = np.diff(self._lines[2])[self.edges] - 1
            sizes = np.add.reduceat(own, self.offsets[:-1])[picked] + 1
        offsets = ragged.offsets_of(sizes)
        x, y = np.empty(offsets[-1]), np.empty(offsets[-1])
        t = np.empty(offsets[-1] if self.roads.seconds is not None else 0)
        routes, lines = (self.edges, self.offsets, self.begin, self.end), self._lines

        def trace(_: int, start: int, stop: int) -> None:
            new = offsets[start : stop + 1]
            _trace(picked[start:stop], new, routes, lines, unit, pace, apart[start:stop], (x, y, t))

        map_chunks(trace, len(picked))
        return Trajectories(x, y, offsets, t=t if len(t) else None, crs=self.roads.crs)

    @cached_property
    def _lines(self) -> tuple[Floats, Floats, Offsets, Floats]:
        """Lines of all edges, and the position of each point as a fraction of the length of its edge."""
        lines = self.roads.lines(np.arange(self.roads.edges))
        return *lines, self.roads.shares(*lines)


def _positive(name: str, value: ArrayLike, many: int) -> Floats:
    """Return one positive number for each route."""
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim == 1 and len(numbers) != many:
        raise InputError(f"{name} has {len(numbers)} values for {many} routes")
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise InputError(f"{name} must be a positive number, got {value!r}")
    return np.ascontiguousarray(np.broadcast_to(numbers, (many,)))


def _steps(many: Floats) -> Offsets:
    """Return the number of points for this number of steps, of which the last may be shorter."""
    return np.maximum(np.ceil(many - 1e-9), 1).astype(np.int64) + 1


@kernel
def _trace(picked, new, routes, lines, unit, pace, apart, points):  # type: ignore[no-untyped-def]
    """Fill in x, y (and t) of the picked routes. Distances between points are measured in `unit`, and time in
    `pace`."""
    (edges, offsets, begin, end), (lx, ly, line_offsets, share), (x, y, t) = routes, lines, points
    timed = len(t) > 0
    for k in range(len(picked)):
        r = picked[k]
        first, last = offsets[r], offsets[r + 1] - 1
        size = new[k + 1] - new[k]
        if len(apart) == 0:
            _bends(r, new[k], first, last, routes, lines, pace, points)
            continue
        total = 0.0
        for at in range(first, last + 1):
            total += unit[edges[at]]
        total -= begin[r] * unit[edges[first]] + (1.0 - end[r]) * unit[edges[last]]
        step = apart[k]
        at, edge = first, edges[first]
        low, high = begin[r], end[r] if first == last else 1.0
        # What was travelled up to the share `low` of this edge, in units and in time; and the line's point before it.
        done, clock = 0.0, 0.0
        point = line_offsets[edge]
        for p in range(size):
            goal = min(step * p, total) if p < size - 1 else total
            while at < last and done + (high - low) * unit[edge] < goal:
                done += (high - low) * unit[edge]
                clock += (high - low) * pace[edge]
                at += 1
                edge = edges[at]
                low, high = 0.0, end[r] if at == last else 1.0
                point = line_offsets[edge]
            here = low + (goal - done) / unit[edge]
            here = min(max(here, low), high)
            while point < line_offsets[edge + 1] - 2 and share[point + 1] < here:
                point += 1
            span = share[point + 1] - share[point]
            part = (here - share[point]) / span if span > 0.0 else 0.0
            part = min(max(part, 0.0), 1.0)
            x[new[k] + p] = lx[point] + part * (lx[point + 1] - lx[point])
            y[new[k] + p] = ly[point] + part * (ly[point + 1] - ly[point])
            if timed:
                t[new[k] + p] = clock + (here - low) * pace[edge]


@kernel
def _bends(r, to, first, last, routes, lines, pace, points):  # type: ignore[no-untyped-def]
    """Fill in every point of the lines of a route. Points before its begin or after its end are moved to these."""
    (edges, _, begin, end), (lx, ly, line_offsets, share), (x, y, t) = routes, lines, points
    clock = 0.0
    for at in range(first, last + 1):
        edge = edges[at]
        low = begin[r] if at == first else 0.0
        high = end[r] if at == last else 1.0
        from_, until = line_offsets[edge], line_offsets[edge + 1]
        for point in range(from_ if at == first else from_ + 1, until):
            here = min(max(share[point], low), high)
            segment = min(max(point, from_), until - 2)
            while segment > from_ and share[segment] > here:
                segment -= 1
            while segment < until - 2 and share[segment + 1] < here:
                segment += 1
            span = share[segment + 1] - share[segment]
            part = min(max((here - share[segment]) / span, 0.0), 1.0) if span > 0.0 else 0.0
            x[to] = lx[segment] + part * (lx[segment + 1] - lx[segment])
            y[to] = ly[segment] + part * (ly[segment + 1] - ly[segment])
            if len(t) > 0:
                t[to] = clock + (here - low) * pace[edge]
            to += 1
        clock += (high - low) * pace[edge]
