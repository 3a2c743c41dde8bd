"""Road networks: nodes, directed edges between them, and their lengths and travel times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, make_columns
from ldptrace.core.crs import LocalPlane, box_text, fit_degrees, is_geographic, same_crs, transform
from ldptrace.core.words import count, omissions, total
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds

Nodes = NDArray[np.int32]
Offsets = NDArray[np.int64]
Classes = NDArray[np.int16]

FEWEST = 10  # nodes with which a map says anything about ways
MOST = 0.8  # of the edges are in the largest part of a map in order
UNKNOWN = -1  # the class of an edge of which nothing is known
# Columns with one value per edge.
OF_EDGES = ("source", "target", "length", "road_class", "seconds", "edge_id", "backward", "street")


@dataclass(frozen=True)
class RoadAccount:
    """The source of a network, its size, and an account of everything that was omitted.

    `dropped_streets` counts omitted streets of the file by reason, `dropped` omitted directed edges and `dropped_nodes`
    omitted nodes. `notes` say what was assumed.

    >>> account = RoadAccount("city.osm.pbf", "OpenStreetMap", 8, 20).without(streets={"not for cars": 5})
    >>> account.line()
    'city.osm.pbf: 8 nodes, 20 directed edges; omitted 5 streets (not for cars)'
    """

    source: str = ""
    format: str = "columns"
    nodes: int = 0
    edges: int = 0
    dropped_streets: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_nodes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def without(
        self,
        *,
        streets: Mapping[str, int] | None = None,
        edges: Mapping[str, int] | None = None,
        nodes: Mapping[str, int] | None = None,
        notes: tuple[str, ...] = (),
    ) -> RoadAccount:
        """Return the account with more omitted things and more notes."""
        return replace(
            self,
            dropped_streets=total([self.dropped_streets, streets or {}]),
            dropped=total([self.dropped, edges or {}]),
            dropped_nodes=total([self.dropped_nodes, nodes or {}]),
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def line(self) -> str:
        """Return the account as one line of text."""
        *others, last = omissions(
            (self.dropped_streets, "street"), (self.dropped, "edge"), (self.dropped_nodes, "node")
        ) or [""]
        omitted = f"{', '.join(others)} and {last}" if others else last
        parts = [
            f"{count(self.nodes, 'node')}, {count(self.edges, 'directed edge')}",
            *([f"omitted {omitted}"] if omitted else []),
            *self.notes,
        ]
        return f"{self.source}: {'; '.join(parts)}"


@dataclass(frozen=True, eq=False, repr=False)
class RoadNetwork:
    """A road network: nodes at the points (`x`, `y`), and edges that lead from one node to another.

    Edge `e` leads from node `source[e]` to node `target[e]`. A street that is open in both directions is two edges.

    - `length`: the length of each edge, in metres if coordinates are degrees, otherwise in the unit of the
      coordinates.
    - `seconds`: the travel time of each edge on an empty road; None if speeds and road classes are not known.
    - `classes`: the names of the road classes.
    - `road_class`: for each edge, the position of its class in `classes`; -1 if the class is not known.
    - `shape_x`, `shape_y`, `shape_offsets`: the points of curved edges between their two nodes. Edge `e` has the points
      from `shape_offsets[e]` to `shape_offsets[e + 1] - 1`. All three are None if all edges are straight.
    - `edge_id`, `backward`: the id of each edge in its file, and whether the edge leads against the direction in the
      file.
    - `street`: the name of each edge's street in the file; empty if it has none.
    - `account`: what was omitted and what was assumed when the network was read.

    >>> corner = RoadNetwork.of([0, 100, 100], [0, 0, 50], source=[0, 1, 1], target=[1, 0, 2])
    >>> corner.nodes, corner.edges, corner.length.tolist(), corner.seconds
    (3, 3, [100.0, 100.0, 50.0], None)
    >>> part = corner.largest_component()
    >>> part.nodes, part.edges, part.account.dropped
    (2, 2, {'outside the largest connected part': 1})
    """

    x: Floats
    y: Floats
    source: Nodes
    target: Nodes
    length: Floats
    road_class: Classes
    seconds: Floats | None = None
    classes: tuple[str, ...] = ()
    shape_x: Floats | None = None
    shape_y: Floats | None = None
    shape_offsets: Offsets | None = None
    crs: str | None = None
    name: str = "roads"
    edge_id: NDArray[np.str_] | None = None
    backward: Flags | None = None
    street: NDArray[np.str_] | None = None
    account: RoadAccount = field(default_factory=RoadAccount)

    def __repr__(self) -> str:
        return (
            f"<RoadNetwork {self.name}: {self.nodes:,} nodes, {self.edges:,} edges, {self.crs or 'no crs'}>"
        )

    def __post_init__(self) -> None:
        make_columns(self, np.float64, "x", "y", "length", "seconds", "shape_x", "shape_y")
        make_columns(self, np.int32, "source", "target")
        make_columns(self, np.int16, "road_class")
        make_columns(self, np.int64, "shape_offsets")
        object.__setattr__(self, "classes", tuple(self.classes))
        source = self.account.source or self.name
        counted = replace(self.account, source=source, nodes=self.nodes, edges=self.edges)
        object.__setattr__(self, "account", counted)
        self._check()

    def _check(self) -> None:
        """Raise an error if the columns do not form a network."""
        if len(self.y) != len(self.x):
            raise InputError(f"there are {len(self.x)} values of x and {len(self.y)} of y for the nodes")
        for column in ("target", "length", "road_class", "seconds"):
            values = getattr(self, column)
            if values is not None and len(values) != self.edges:
                raise InputError(f"column {column} has {len(values)} values for {self.edges} edges")
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise InputError("every node needs finite coordinates")
        ends = np.concatenate([self.source, self.target])
        stray = ends[(ends < 0) | (ends >= self.nodes)]
        if len(stray):
            raise InputError(f"an edge leads to node {stray[0]}, the nodes are 0 to {self.nodes - 1}")
        for column in ("length", "seconds"):
            values = getattr(self, column)
            if values is not None and not (np.isfinite(values).all() and (values > 0).all()):
                raise InputError(f"{column} must be a positive number for every edge")
        if self.edges and not (
            self.road_class.min() >= UNKNOWN and self.road_class.max() < len(self.classes)
        ):
            raise InputError(f"road classes must be -1 or an index into {len(self.classes)} names")
        given = [column is not None for column in (self.shape_x, self.shape_y, self.shape_offsets)]
        if any(given) and not all(given):
            raise InputError("shape_x, shape_y and shape_offsets are given together or not at all")
        x, y, offsets = self._bends
        if (
            len(offsets) != self.edges + 1
            or offsets[0] != 0
            or not offsets[-1] == len(x) == len(y)
            or np.any(np.diff(offsets) < 0)
        ):
            raise InputError("shape_offsets must run from 0 to the number of points, one step per edge")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InputError("the lines of edges need finite coordinates")

    @property
    def _bends(self) -> tuple[Floats, Floats, Offsets]:
        """The points of edges between their nodes, with offsets; there are none if all edges are straight."""
        if self.shape_x is None or self.shape_y is None or self.shape_offsets is None:
            return np.empty(0), np.empty(0), np.zeros(self.edges + 1, dtype=np.int64)
        return self.shape_x, self.shape_y, self.shape_offsets

    @staticmethod
    def of(
        x: ArrayLike,
        y: ArrayLike,
        source: ArrayLike,
        target: ArrayLike,
        *,
        length: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
        road_class: ArrayLike | None = None,
        classes: tuple[str, ...] = (),
        shape: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        crs: str | None = None,
        name: str = "roads",
    ) -> RoadNetwork:
        """Make a network from arrays. Missing lengths are measured along the lines of the edges."""
        edges = len(np.asarray(source))
        columns: dict[str, Any] = {"x": x, "y": y, "source": source, "target": target, "seconds": seconds}
        columns["road_class"] = np.full(edges, UNKNOWN) if road_class is None else road_class
        if shape is not None:
            columns |= zip(("shape_x", "shape_y", "shape_offsets"), shape, strict=True)
        unmeasured = RoadNetwork(**columns, length=np.ones(edges), classes=classes, crs=crs, name=name)
        measured = unmeasured.measured()
        if length is not None:
            given = np.asarray(length, dtype=np.float64)
            known = np.isfinite(given) & (given > 0)
            measured = np.where(known, given, measured)
        return replace(unmeasured, length=measured)

    @property
    def nodes(self) -> int:
        return len(self.x)

    @property
    def edges(self) -> int:
        return len(self.source)

    @property
    def is_geographic(self) -> bool:
        """Whether coordinates are longitude and latitude in degrees."""
        return is_geographic(self.crs)

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Metres in one degree of x and of y, if coordinates are degrees; otherwise (1, 1)."""
        if not self.is_geographic or self.nodes == 0:
            return 1.0, 1.0
        return LocalPlane.around(self.x, self.y).scale

    def bounds(self) -> Bounds:
        """Return the smallest rectangle around all nodes and lines."""
        if self.nodes == 0:
            raise InputError(f"{self.name}: there are no roads in it")
        x, y = (np.r_[nodes, bends] for nodes, bends in zip((self.x, self.y), self._bends, strict=False))
        return float(x.min()), float(y.min()), float(x.max()), float(y.max())

    def measured(self) -> Floats:
        """Return the length of each edge, measured along its line. It can differ from `length`, which comes from the
        file."""
        x, y, offsets = self.lines(np.arange(self.edges))
        across, up = self.scale
        steps = np.hypot(np.diff(x, append=0.0) * across, np.diff(y, append=0.0) * up)
        steps[offsets[1:] - 1] = 0.0  # from one line to the next
        along = np.add.reduceat(steps, offsets[:-1]) if self.edges else steps
        # Two nodes on one spot: routing wants costs above zero.
        return np.maximum(along, 1e-3)

    def lines(self, edges: ArrayLike) -> tuple[Floats, Floats, Offsets]:
        """Return the lines of some edges, including both end nodes, as arrays x, y and offsets."""
        picked = np.asarray(edges, dtype=np.int64)
        bend_x, bend_y, bends = self._bends
        inner = bends[picked + 1] - bends[picked]
        offsets = ragged.offsets_of(inner + 2)
        x, y = np.empty(offsets[-1]), np.empty(offsets[-1])
        first, last = offsets[:-1], offsets[1:] - 1
        x[first], y[first] = self.x[self.source[picked]], self.y[self.source[picked]]
        x[last], y[last] = self.x[self.target[picked]], self.y[self.target[picked]]
        (_, place), (_, point) = (ragged.ranges(begin, inner) for begin in (first + 1, bends[picked]))
        x[place], y[place] = bend_x[point], bend_y[point]
        return x, y, offsets

    def shares(self, x: Floats, y: Floats, offsets: Offsets) -> Floats:
        """Return the position of each point of lines as a fraction of the length of its line."""
        across, up = self.scale
        running = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(x) * across, np.diff(y) * up))))
        sizes, begin = np.diff(offsets), running[offsets[:-1]]
        whole = np.maximum(running[offsets[1:] - 1] - begin, 1e-300)
        share = (running - np.repeat(begin, sizes)) / np.repeat(whole, sizes)
        share[offsets[1:] - 1] = 1.0
        return np.minimum(share, 1.0)

    @cached_property
    def headings(self) -> tuple[Floats, Floats]:
        """Directions in which each edge leaves its first node and reaches its last node, in radians from east."""
        x, y, offsets = self.lines(np.arange(self.edges))
        across, up = self.scale
        first, last = offsets[:-1], offsets[1:] - 1

        def towards(a: Offsets, b: Offsets) -> Floats:
            return np.arctan2((y[b] - y[a]) * up, (x[b] - x[a]) * across)

        return towards(first, first + 1), towards(last - 1, last)

    @cached_property
    def junctions(self) -> Flags:
        """Whether each node is a junction: streets lead from it to three or more other nodes.

        >>> tee = RoadNetwork.of([0, 1, 2, 1], [0, 0, 0, 1], source=[0, 1, 1], target=[1, 2, 3])
        >>> tee.junctions.tolist()
        [False, True, False, False]
        """
        pairs = np.concatenate([self.source, self.target]), np.concatenate([self.target, self.source])
        met = np.unique(pairs[0].astype(np.int64) * self.nodes + pairs[1])
        several: Flags = np.bincount(met // max(self.nodes, 1), minlength=self.nodes) > 2
        return several

    @cached_property
    def opposite(self) -> Nodes:
        """For each edge, the edge that leads back along the same street, or -1 for a one-way street.

        If several streets connect the same two nodes, edges of similar length are paired.
        """
        back = np.full(self.edges, -1, dtype=np.int32)
        low, high = np.minimum(self.source, self.target), np.maximum(self.source, self.target)
        pair = low.astype(np.int64) * self.nodes + high
        forward = self.source == low
        order = np.lexsort((self.length, ~forward, pair))
        starts = np.flatnonzero(np.r_[True, np.diff(pair[order]) != 0]) if self.edges else order
        sizes = np.diff(np.r_[starts, self.edges])
        ahead = np.add.reduceat(forward[order], starts, dtype=np.int64) if self.edges else sizes
        # Nearly always one edge leads there and one back, or as many as there are streets.
        even = (2 * ahead == sizes) & (low != high)[order[starts]]
        there, again = (
            order[ragged.ranges(first[even], ahead[even])[1]] for first in (starts, starts + ahead)
        )
        back[there], back[again] = again, there
        for group in np.flatnonzero(~even & (ahead > 0) & (ahead < sizes)):
            members = order[starts[group] : starts[group] + sizes[group]]
            self._pair_up(members[: ahead[group]].tolist(), members[ahead[group] :].tolist(), back)
        return back

    def _pair_up(self, there: list[int], again: list[int], back: Nodes) -> None:
        """Pair the edges with the most similar lengths, until one side has no more edges."""
        while there and again:
            _, a, b = min((abs(self.length[a] - self.length[b]), a, b) for a in there for b in again)
            back[a], back[b] = b, a
            there.remove(a)
            again.remove(b)

    def take_edges(self, edges: ArrayLike) -> RoadNetwork:
        """Return the network with all nodes and some of the edges (numbers or a mask)."""
        picked = np.asarray(edges)
        picked = np.flatnonzero(picked) if picked.dtype == np.bool_ else picked.astype(np.int64)
        columns = {name: values[picked] for name in OF_EDGES if (values := getattr(self, name)) is not None}
        if self.shape_offsets is not None:
            x, y, offsets = self._bends
            offsets, point = ragged.taken(offsets, picked)
            columns |= {"shape_x": x[point], "shape_y": y[point], "shape_offsets": offsets}
        return replace(self, **columns)

    def take_nodes(self, kept: Flags) -> RoadNetwork:
        """Return the network of the nodes in a mask and the edges between them. Nodes get new numbers."""
        inner = self.take_edges(kept[self.source] & kept[self.target])
        number = np.cumsum(kept) - 1
        source, target = number[inner.source], number[inner.target]
        return replace(inner, x=self.x[kept], y=self.y[kept], source=source, target=target)

    def _cut_to(self, rest: RoadNetwork, reason: str, *notes: str) -> RoadNetwork:
        """Return a part of this network, with an account of why the rest was omitted."""
        edges, nodes = {reason: self.edges - rest.edges}, {reason: self.nodes - rest.nodes}
        return replace(rest, account=rest.account.without(edges=edges, nodes=nodes, notes=notes))

    def largest_component(self) -> RoadNetwork:
        """Return the largest part of the network in which every node can be reached from every other node."""
        if self.edges == 0:
            raise InputError(f"{self.name}: there are no roads in it")
        ones = np.ones(self.edges, dtype=np.int8)
        links = csr_array((ones, (self.source, self.target)), shape=(self.nodes, self.nodes))
        part = connected_components(links, connection="strong")[1]
        kept = part == np.bincount(part).argmax()
        connected = self.take_nodes(kept)
        if connected.nodes < 2:
            raise InputError(
                f"{self.name}: no two of its {self.nodes:,} nodes can be reached from each other; "
                f"its {self.edges:,} edges do not make a road network"
            )
        share = connected.edges / self.edges
        torn = f"its roads are disconnected: the largest part holds {100 * share:.0f} % of them"
        return self._cut_to(
            connected, "outside the largest connected part", *([torn] if share < MOST else ())
        )

    def clipped(self, bounds: Bounds) -> RoadNetwork:
        """Return the part of the network inside the rectangle (x0, y0, x1, y1)."""
        x0, y0, x1, y1 = bounds
        kept = (self.x >= x0) & (self.x <= x1) & (self.y >= y0) & (self.y <= y1)
        inner = self.take_nodes(kept)
        if inner.edges == 0:
            raise InputError(
                f"{self.name}: none of its roads lies in the bounds {box_text(bounds)}; "
                f"they lie in {box_text(self.bounds())}"
            )
        return self._cut_to(inner, "outside the bounds")

    def to_crs(self, crs: str) -> RoadNetwork:
        """Return the network in another coordinate system, with the same lengths. Run `pip install '.[geo]'` first."""
        if self.crs is None:
            raise InputError(f"{self.name}: its coordinate system is not known, so it cannot be changed")
        source = self.crs
        return self.moved(lambda x, y: transform(x, y, source, crs), crs)

    def moved(self, move: Callable[[Floats, Floats], tuple[Floats, Floats]], crs: str | None) -> RoadNetwork:
        """Return the network with its points moved to another coordinate system, with the same lengths."""
        x, y = move(self.x, self.y)
        shape: dict[str, Any] = {}
        if self.shape_x is not None and self.shape_y is not None:
            shape = dict(zip(("shape_x", "shape_y"), move(self.shape_x, self.shape_y), strict=True))
        return replace(self, x=x, y=y, crs=crs, **shape)

    def check_against(self, bounds: Bounds, crs: str | None) -> None:
        """Raise an error if the network does not fit trajectories in these bounds and this coordinate system."""
        if self.crs is not None and crs is not None and not same_crs(self.crs, crs):
            raise InputError(
                f"{self.name}: its coordinates are {self.crs}, those of the trajectories {crs}; convert one of "
                f"them, for example with: ldptrace roads {self.name} -o FOLDER --to-crs {crs}"
            )
        x0, y0, x1, y1 = own = self.bounds()
        if x0 > bounds[2] or bounds[0] > x1 or y0 > bounds[3] or bounds[1] > y1:
            kinds = ["degrees" if fit_degrees(box) else "metres" for box in (own, bounds)]
            other = "" if kinds[0] == kinds[1] else f" ({kinds[0]} and {kinds[1]}: other coordinates)"
            raise InputError(
                f"{self.name}: there are no roads in the bounds {box_text(bounds)}; its roads lie in "
                f"{box_text(own)}{other}"
            )
        inside = self.clipped(bounds).nodes
        if inside < FEWEST:
            raise InputError(
                f"{self.name}: only {inside} of its nodes lie in the bounds {box_text(bounds)}; "
                f"a road network needs at least {FEWEST}"
            )
