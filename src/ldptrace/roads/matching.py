"""Trips matched to streets, simply and fast: every piece of a line goes to the street that lies best under it.

A street is a line between two nodes, whichever way it is travelled. The index is a lattice of buckets; a piece of a
trip looks for streets in the nine buckets around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.roads.network import RoadNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A point is on a street if it is at most this far from its middle: the accuracy of a fix, in metres. On a planar map,
# whose unit may be any, it is this many units and at most this part of a usual street.
TOLERANCE = 25.0
PART_OF_STREET = 0.25
_MOST_BUCKETS = 2_000_000
_CHUNK = 512


@dataclass(frozen=True, eq=False)
class Followed:
    """What trips did on the streets.

    `way` is the length of all lines in the unit of the network, `on` the part of it on streets; `fixes` and
    `fixes_on` are the same of the points. `lengths` are the lengths of the trips along the streets.

    Pass `p` is the trip `trip[p]` on the street `street[p]`, entered at the time `entered[p]`, in the direction of
    the street's line where `forward[p]`. Passes of a trip are in their order; `joined[p]` is the node at which the pass
    began where the one before ended, or -1.
    """

    way: float
    on: float
    fixes: float
    fixes_on: float
    lengths: Floats
    trip: Ints
    street: Ints
    forward: NDArray[np.bool_]
    joined: Ints
    entered: Floats


@dataclass(frozen=True, eq=False)
class StreetIndex:
    """The streets of a network in a lattice of buckets.

    >>> cross = RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3])
    >>> trips = Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]])
    >>> [found] = StreetIndex.of(cross).follow(trips)
    >>> found.street.tolist(), found.joined.tolist(), found.forward.tolist()
    ([0, 1], [-1, 1], [True, True])
    """

    # The edge of the network along the line of each street, and the one that leads back, or the same.
    along: Ints
    back: Ints
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

    @classmethod
    def of(cls, roads: RoadNetwork) -> Self:
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
        return cls(
            once,
            np.where(back[once] < 0, once, back[once]),
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

    def follow(self, trips: Trajectories) -> list[Followed]:
        """What every trip did on the streets, a few hundred trips at a time."""
        x, y = trips.x * self.scale[0], trips.y * self.scale[1]
        t = np.zeros(1) if trips.t is None else trips.t
        index = (self.pieces, self.street, self.begins, self.ends, self.length, self.frame, self.shape)

        def work(_: int, start: int, stop: int) -> Followed:
            (way, on, fixes, fixes_on), lengths, passes, entered = _follow(
                x, y, t, trips.offsets, start, stop, self.tolerance, *index,
                self.first, self.held, self.at_first, self.at_node,
            )  # fmt: skip
            trip, street, forward, joined = passes
            return Followed(
                way, on, fixes, fixes_on, lengths, trip, street, forward.astype(np.bool_), joined, entered
            )

        return map_chunks(work, len(trips), _CHUNK)

    def edges(self, found: Followed) -> Ints:
        """The directed edge of each pass; of a one-way street its only one."""
        return np.where(found.forward, self.along[found.street], self.back[found.street])


def _buckets(pieces: Floats, frame: Floats, shape: tuple[int, int]) -> tuple[Ints, NDArray[np.int32]]:
    """First piece of each bucket, and the pieces of all buckets one after the other."""
    sizes = np.zeros(shape[0] * shape[1] + 1, dtype=np.int64)
    _fill(pieces, frame, shape, sizes, np.empty(0, dtype=np.int32))
    first = ragged.offsets_of(sizes[:-1])
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
def _follow(  # type: ignore[no-untyped-def]
    x, y, t, offsets, start, stop, tolerance, pieces, street, begins, ends, length, frame, shape,
    first, held, at_first, at_node,
):  # fmt: skip
    """Totals, lengths of the trips, and the passes: rows trip, street, forward, joined, with the time of each."""
    way = on = fixes = fixes_on = 0.0
    reach = 2.0 * tolerance
    timed = len(t) == len(x)
    passes, entered = np.empty((4, 1024), dtype=np.int64), np.empty(1024)
    filled = 0
    lengths = np.zeros(stop - start)
    for k in range(start, stop):
        # The street the trip is on, where on it, and a street that may follow, seen once so far.
        old, place, waiting = -1, 0.0, -1
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
                clock = t[p] + share * (t[p + 1] - t[p]) if timed else 0.0
                new, _away, at, nearest = _best(
                    px, py, dx / step, dy / step, old, reach, pieces, street, begins, frame, shape, first, held
                )  # fmt: skip
                way += step / parts
                on += step / parts * (nearest <= tolerance)
                if new < 0:
                    total += step / parts
                    waiting = -1
                    continue
                if old >= 0 and new == old:
                    total += abs(at - place)
                    if at != place:
                        passes[2, filled - 1] = at > place
                    place, waiting = at, -1
                    continue
                if old >= 0 and new != waiting:
                    # One look at another street is a crossing; two are a turn.
                    waiting = new
                    continue
                if filled + 2 > passes.shape[1]:
                    passes, entered = _larger(passes), _longer(entered)
                if old < 0:
                    passes[0, filled], passes[1, filled], passes[2, filled], passes[3, filled] = k, new, 1, -1
                    entered[filled] = clock
                    filled += 1
                    old, place = new, at
                    continue
                node, between, last = _link(old, new, ends, at_first, at_node)
                if node < 0:
                    total += step / parts
                else:
                    total += abs(place - (0.0 if ends[0, old] == node else length[old]))
                    passes[2, filled - 1] = ends[1, old] == node
                    if between >= 0:
                        total += length[between]
                        passes[0, filled], passes[1, filled], passes[3, filled] = k, between, node
                        passes[2, filled] = ends[1, between] == last
                        entered[filled] = clock
                        filled += 1
                        node = last
                    total += abs(at - (0.0 if ends[0, new] == node else length[new]))
                passes[0, filled], passes[1, filled], passes[3, filled] = k, new, node
                passes[2, filled] = node < 0 or ends[0, new] == node
                entered[filled] = clock
                filled += 1
                old, place, waiting = new, at, -1
        lengths[k - start] = total
    return (way, on, fixes, fixes_on), lengths, passes[:, :filled], entered[:filled]


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
def _larger(passes):  # type: ignore[no-untyped-def]
    larger = np.empty((passes.shape[0], 2 * passes.shape[1]), dtype=np.int64)
    larger[:, : passes.shape[1]] = passes
    return larger


@kernel
def _longer(values):  # type: ignore[no-untyped-def]
    longer = np.empty(2 * len(values))
    longer[: len(values)] = values
    return longer
