"""Trips matched to streets, simply and fast: every piece of a line goes to the street that lies best under it.

Streets are undirected here: where a trip is, not whether it may drive there. The index is a lattice of buckets; a
piece of a trip looks for streets in the nine buckets around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.evaluation.traces import CLASSES, LOWEST, PER_DOUBLING
from ldptrace.roads.network import RoadNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# On a street is whoever is at most so far from its middle: the accuracy of a fix, in metres. On a planar map, whose
# unit may be any, it is so many units and at most this part of a usual street.
TOLERANCE = 25.0
PART_OF_STREET = 0.25
# Trips of a set that are matched, fewer of those that are long: looks for a street, one for every tolerance of way.
MATCHED, LOOKS = 5_000, 3_000_000
JUNCTIONS = 100
# Real lines that follow the streets for less of their way do not tell which turns were taken.
FOLLOWED = 0.7
_MOST_BUCKETS = 2_000_000
_CHUNK = 512


@dataclass(frozen=True, eq=False)
class StreetUse:
    """How a set uses streets: a monoid, so that batches can be matched apart.

    `way` is the length of all lines in the unit of the network, `on` the part of it on streets; `fixes` and
    `fixes_on` are the same of the points. `lengths` are the trips by length along the streets, in the fine
    logarithmic classes of `Traces`. `turns` are pairs (street, next street), one number each, at the junctions
    `nodes`; `passed` says how often.
    """

    way: float
    on: float
    fixes: float
    fixes_on: float
    lengths: Floats
    turns: Ints
    nodes: Ints
    passed: Floats

    @property
    def on_streets(self) -> float:
        """Share of the way on streets; of the points where nothing moves."""
        if self.way > 0:
            return self.on / self.way
        return self.fixes_on / self.fixes if self.fixes else math.nan

    @property
    def tells_turns(self) -> bool:
        """Whether lines follow the streets closely enough: those between fixes a minute apart cut through blocks."""
        return self.on_streets >= FOLLOWED

    @property
    def fixes_on_streets(self) -> float:
        return self.fixes_on / self.fixes if self.fixes else math.nan

    def __add__(self, other: StreetUse) -> StreetUse:
        turns, place = np.unique(np.concatenate((self.turns, other.turns)), return_inverse=True)
        nodes = np.empty(len(turns), dtype=np.int64)
        nodes[place] = np.concatenate((self.nodes, other.nodes))
        passed: Floats = np.zeros(len(turns))
        np.add.at(passed, place, np.concatenate((self.passed, other.passed)))
        return StreetUse(
            self.way + other.way,
            self.on + other.on,
            self.fixes + other.fixes,
            self.fixes_on + other.fixes_on,
            self.lengths + other.lengths,
            turns,
            nodes,
            passed,
        )


@dataclass(frozen=True, eq=False)
class StreetMap:
    """The streets of a network in a lattice of buckets.

    >>> cross = RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3])
    >>> streets = StreetMap.of(cross)
    >>> use = streets.match(Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]]))
    >>> round(use.on_streets, 3), len(use.turns)
    (1.0, 1)
    """

    tolerance: float
    scale: tuple[float, float]
    # Ends of the straight pieces of all streets in scaled units, the street of each, and where on it each begins.
    pieces: Floats
    street: NDArray[np.int32]
    begins: Floats
    # Of each street: its two nodes and its length along its line.
    ends: Ints
    length: Floats
    junction: NDArray[np.bool_]
    # Streets at each node.
    at_node: Ints
    at_first: Ints
    # Buckets: origin and width, how many, and their pieces.
    frame: Floats
    shape: tuple[int, int]
    first: Ints
    held: NDArray[np.int32]

    @staticmethod
    def of(roads: RoadNetwork) -> StreetMap:
        """Index a network; of a street with two directions one line is kept."""
        back = roads.opposite
        once = np.flatnonzero((back < 0) | (np.arange(roads.edges) < back))
        x, y, offsets = roads.lines(once)
        scale = roads.scale
        x, y = x * scale[0], y * scale[1]
        inner = np.ones(len(x), dtype=bool)
        inner[offsets[1:] - 1] = False
        here = np.flatnonzero(inner)
        pieces = np.stack((x[here], y[here], x[here + 1], y[here + 1]))
        street = np.repeat(np.arange(len(once), dtype=np.int32), np.diff(offsets) - 1)
        steps = np.hypot(pieces[2] - pieces[0], pieces[3] - pieces[1])
        length = np.zeros(len(once))
        np.add.at(length, street, steps)
        before = np.cumsum(steps) - steps
        begins = before - before[np.searchsorted(street, street)]
        ends = np.stack((roads.source[once], roads.target[once])).astype(np.int64)
        both = ends.ravel()
        order = np.argsort(both, kind="stable")
        at_first = np.searchsorted(both[order], np.arange(roads.nodes + 1))
        tolerance = TOLERANCE
        if not roads.is_geographic:
            tolerance = min(TOLERANCE, PART_OF_STREET * float(np.median(length)))
        low_x, low_y = float(x.min()), float(y.min())
        wide, high = float(np.ptp(x)), float(np.ptp(y))
        # A bucket is so wide that nine of them hold whatever lies within twice the tolerance.
        width = max(2.7 * tolerance, math.sqrt(wide * high / _MOST_BUCKETS), max(wide, high) / _MOST_BUCKETS)
        frame = np.array([low_x, low_y, width])
        shape = (int(wide / width) + 1, int(high / width) + 1)
        first, held = _buckets(pieces, frame, shape)
        return StreetMap(
            tolerance,
            scale,
            pieces,
            street,
            begins,
            ends,
            length,
            np.bincount(both, minlength=roads.nodes) >= 3,
            order % len(once),
            at_first,
            frame,
            shape,
            first,
            held,
        )

    def affordable(self, mean: float, many: int) -> int:
        """How many of so many trips of such a mean length are matched."""
        return int(min(MATCHED, many, max(100.0, LOOKS * self.tolerance / max(mean, self.tolerance))))

    def match(self, trajectories: Trajectories) -> StreetUse:
        """Match every trajectory to the streets."""
        x, y = trajectories.x * self.scale[0], trajectories.y * self.scale[1]
        index = (self.pieces, self.street, self.begins, self.ends, self.length, self.frame, self.shape)

        def work(_: int, start: int, stop: int) -> StreetUse:
            lengths = np.zeros(CLASSES)
            (way, on, fixes, fixes_on), turns, nodes = _match(
                x, y, trajectories.offsets, start, stop, self.tolerance, *index,
                self.first, self.held, self.at_first, self.at_node, self.junction, lengths,
            )  # fmt: skip
            found, first, passed = np.unique(turns, return_index=True, return_counts=True)
            return StreetUse(
                way, on, fixes, fixes_on, lengths, found, nodes[first], passed.astype(np.float64)
            )

        total = StreetMap.nothing()
        for part in map_chunks(work, len(trajectories), _CHUNK):
            total = total + part
        return total

    @staticmethod
    def nothing() -> StreetUse:
        """The use of no trip at all."""
        none = np.empty(0, dtype=np.int64)
        return StreetUse(0.0, 0.0, 0.0, 0.0, np.zeros(CLASSES), none, none, np.empty(0))


def turn_divergence(real: StreetUse, synthetic: StreetUse) -> float:
    """Divergence of the turns at the hundred junctions that real trips pass most; undefined without any."""
    nodes, place = np.unique(real.nodes, return_inverse=True)
    if len(nodes) == 0:
        return math.nan
    busy = nodes[np.argsort(-np.bincount(place, weights=real.passed), kind="stable")[:JUNCTIONS]]
    (a, counted), (b, other) = (
        (use.turns[kept], use.passed[kept])
        for use, kept in ((use, np.isin(use.nodes, busy)) for use in (real, synthetic))
    )
    both = np.union1d(a, b)
    tables = np.zeros((2, len(both)))
    tables[0, np.searchsorted(both, a)] = counted
    tables[1, np.searchsorted(both, b)] = other
    return count_divergence(tables[0], tables[1])


def spacing(trajectories: Trajectories, scale: tuple[float, float]) -> float:
    """Median distance between consecutive points that differ."""
    steps = np.hypot(np.diff(trajectories.x) * scale[0], np.diff(trajectories.y) * scale[1])
    inner = np.ones(len(steps), dtype=bool)
    ends = trajectories.offsets[1:-1] - 1
    inner[ends[(ends >= 0) & (ends < len(steps))]] = False
    moving = steps[inner & (steps > 0)]
    return float(np.median(moving)) if len(moving) else 0.0


def _buckets(pieces: Floats, frame: Floats, shape: tuple[int, int]) -> tuple[Ints, NDArray[np.int32]]:
    """First piece of each bucket, and the pieces of all buckets one after the other."""
    sizes = np.zeros(shape[0] * shape[1] + 1, dtype=np.int64)
    _fill(pieces, frame, shape, sizes, np.empty(0, dtype=np.int32))
    first = np.concatenate(([0], np.cumsum(sizes[:-1])))
    held = np.empty(first[-1], dtype=np.int32)
    _fill(pieces, frame, shape, first[:-1].copy(), held)
    return first, held


@kernel
def _fill(pieces, frame, shape, place, held):  # type: ignore[no-untyped-def]
    """Count the pieces per bucket, or put them there if `held` has room; a long piece is in every bucket it passes."""
    for piece in range(pieces.shape[1]):
        ax, ay = (pieces[0, piece] - frame[0]) / frame[2], (pieces[1, piece] - frame[1]) / frame[2]
        bx, by = (pieces[2, piece] - frame[0]) / frame[2], (pieces[3, piece] - frame[1]) / frame[2]
        steps = int(4.0 * max(abs(bx - ax), abs(by - ay))) + 1
        last = -1
        for step in range(steps + 1):
            share = step / steps
            i = min(max(int(ax + share * (bx - ax)), 0), shape[0] - 1)
            j = min(max(int(ay + share * (by - ay)), 0), shape[1] - 1)
            bucket = i * shape[1] + j
            if bucket != last:
                if len(held):
                    held[place[bucket]] = piece
                place[bucket] += 1
                last = bucket


@kernel
def _best(px, py, hx, hy, old, reach, pieces, street, begins, frame, shape, first, held):  # type: ignore[no-untyped-def]
    """Street that lies best under a point with a heading, how far it is, and where on it the point is; -1: none.

    Far away and across count against a street; the one that the trip was on is favoured a little.
    """
    found, away, at, least = -1, math.inf, 0.0, math.inf
    nearest = math.inf
    ci = math.floor((px - frame[0]) / frame[2])
    cj = math.floor((py - frame[1]) / frame[2])
    for i in range(max(ci - 1, 0), min(ci + 2, shape[0])):
        for j in range(max(cj - 1, 0), min(cj + 2, shape[1])):
            for entry in range(first[i * shape[1] + j], first[i * shape[1] + j + 1]):
                piece = held[entry]
                ax, ay = pieces[0, piece], pieces[1, piece]
                dx, dy = pieces[2, piece] - ax, pieces[3, piece] - ay
                size = dx * dx + dy * dy
                share = ((px - ax) * dx + (py - ay) * dy) / size if size > 0.0 else 0.0
                share = min(max(share, 0.0), 1.0)
                gx, gy = ax + share * dx - px, ay + share * dy - py
                gap = math.sqrt(gx * gx + gy * gy)
                nearest = min(nearest, gap)
                if gap > reach:
                    continue
                cost = gap
                long = math.sqrt(size)
                if long > 0.0 and (hx != 0.0 or hy != 0.0):
                    cost += reach * (1.0 - abs(hx * dx + hy * dy) / long)
                if street[piece] == old:
                    cost -= 0.1 * reach
                if cost < least:
                    least, found, away = cost, street[piece], gap
                    at = begins[piece] + share * long
    return found, away, at, nearest


@kernel
def _match(  # type: ignore[no-untyped-def]
    x, y, offsets, start, stop, tolerance, pieces, street, begins, ends, length, frame, shape,
    first, held, at_first, at_node, junction, lengths,
):  # fmt: skip
    way = on = fixes = fixes_on = 0.0
    reach = 2.0 * tolerance
    room = 1024
    turns = np.empty(room, dtype=np.int64)
    nodes = np.empty(room, dtype=np.int64)
    filled = 0
    streets = ends.shape[1]
    for k in range(start, stop):
        # The street the trip is on, where on it, and a street that may follow, seen once so far.
        old, place, waiting, _waiting_at = -1, 0.0, -1, 0.0
        total = 0.0
        for p in range(offsets[k], offsets[k + 1]):
            _, _, _, nearest = _best(
                x[p], y[p], 0.0, 0.0, -1, reach, pieces, street, begins, frame, shape, first, held
            )
            fixes += 1.0
            fixes_on += nearest <= tolerance
            if p + 1 == offsets[k + 1]:
                break
            dx, dy = x[p + 1] - x[p], y[p + 1] - y[p]
            step = math.sqrt(dx * dx + dy * dy)
            if step == 0.0:
                continue
            parts = int(step / tolerance) + 1
            for part in range(parts):
                share = (part + 0.5) / parts
                px, py = x[p] + share * dx, y[p] + share * dy
                new, _away, at, nearest = _best(
                    px,
                    py,
                    dx / step,
                    dy / step,
                    old,
                    reach,
                    pieces,
                    street,
                    begins,
                    frame,
                    shape,
                    first,
                    held,
                )
                way += step / parts
                on += step / parts * (nearest <= tolerance)
                if new < 0:
                    total += step / parts
                    waiting = -1
                    continue
                if old < 0:
                    old, place = new, at
                    continue
                if new == old:
                    total += abs(at - place)
                    place, waiting = at, -1
                    continue
                if new != waiting:
                    # One look at another street is a crossing; two are a turn.
                    waiting, _waiting_at = new, at
                    continue
                node, between, node2 = _link(old, new, ends, at_first, at_node)
                if node < 0:
                    total += step / parts
                else:
                    total += abs(place - (0.0 if ends[0, old] == node else length[old]))
                    last = node if between < 0 else node2
                    total += abs(at - (0.0 if ends[0, new] == last else length[new]))
                    if filled + 2 > room:
                        room *= 2
                        turns, nodes = _larger(turns, room), _larger(nodes, room)
                    if between >= 0:
                        total += length[between]
                        if junction[node]:
                            turns[filled], nodes[filled] = old * streets + between, node
                            filled += 1
                        if junction[node2]:
                            turns[filled], nodes[filled] = between * streets + new, node2
                            filled += 1
                    elif junction[node]:
                        turns[filled], nodes[filled] = old * streets + new, node
                        filled += 1
                old, place, waiting = new, at, -1
        if offsets[k + 1] > offsets[k]:
            lengths[_length_class(total)] += 1.0
    return (way, on, fixes, fixes_on), turns[:filled], nodes[:filled]


@kernel
def _link(a, b, ends, at_first, at_node):  # type: ignore[no-untyped-def]
    """The node where two streets meet; or the two nodes between which one short street joins them; -1: neither."""
    for side in range(2):
        if ends[side, a] == ends[0, b] or ends[side, a] == ends[1, b]:
            return ends[side, a], -1, -1
    for side in range(2):
        node = ends[side, a]
        for entry in range(at_first[node], at_first[node + 1]):
            between = at_node[entry]
            other = ends[0, between] + ends[1, between] - node
            if between != a and (other == ends[0, b] or other == ends[1, b]):
                return node, between, other
    return -1, -1, -1


@kernel
def _larger(values, room):  # type: ignore[no-untyped-def]
    larger = np.empty(room, dtype=np.int64)
    for place in range(len(values)):
        larger[place] = values[place]
    return larger


@kernel
def _length_class(value):  # type: ignore[no-untyped-def]
    if value <= 0.0:
        return 0
    return min(max(math.floor((math.log2(value) - LOWEST) * PER_DOUBLING), 0), CLASSES - 1)
