"""Match trips to streets, simply and fast: each piece of a line is matched to the street that fits it best.

A street is a line between two nodes, in both directions. The index is a grid of buckets. Each bucket has the straight
pieces of streets that are near any of its points, so a piece of a trip needs one bucket. Most pieces of a trip continue
on the street of the piece before, and then no other street is checked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import grown
from ldptrace.core.trajectories import Trajectories
from ldptrace.roads.network import RoadNetwork

# A point is on a street if it is at most this far from its middle: the accuracy of a fix, in metres. On a planar map,
# whose unit may be any, it is this many units and at most this part of a usual street.
TOLERANCE = 25.0
PART_OF_STREET = 0.25
# A street may lie under a point up to this many tolerances away; the street that a trip is on counts as nearer by this
# part of that reach.
REACH, FAVOUR = 2.0, 0.1
_MOST_BUCKETS = 2_000_000
_CHUNK = 512


@dataclass(frozen=True, eq=False)
class Followed:
    """The streets that trips used.

    `way` is the length of all trips in the unit of the network, and `on` the part of it on streets. `fixes` and
    `fixes_on` are the same for points. `lengths` are the lengths of the trips along the streets.

    Pass `p` is the trip `trip[p]` on the street `street[p]`, which it entered at the time `entered[p]`. `forward[p]`
    says whether it followed the direction of the street's line. The passes of a trip are in order. `joined[p]` is the
    node at which the pass begins and the pass before ends, or -1.
    """

    way: float
    on: float
    fixes: float
    fixes_on: float
    lengths: Floats
    trip: Ints
    street: Ints
    forward: Flags
    joined: Ints
    entered: Floats


@dataclass(frozen=True, eq=False)
class StreetIndex:
    """The streets of a network in a grid of buckets.

    >>> cross = RoadNetwork.of([0, 100, 100, 200], [0, 0, 100, 0], [0, 1, 1], [1, 2, 3])
    >>> trips = Trajectories.from_lists([[(0.0, 1.0), (100.0, 1.0), (100.0, 100.0)]])
    >>> followed = StreetIndex.of(cross).follow(trips)
    >>> followed.street.tolist(), followed.joined.tolist(), followed.forward.tolist()
    ([0, 1], [-1, 1], [True, True])
    """

    # The edge of the network along the line of each street, and the one that leads back, or the same.
    along: Ints
    back: Ints
    tolerance: float
    scale: tuple[float, float]
    # Of each straight piece of all streets: where it begins in scaled units, its direction, its length, and how far
    # along its street it begins; then its street.
    pieces: Floats
    street: Ints32
    # Of each street: its two nodes and its length along its line.
    ends: Ints
    length: Floats
    junction: Flags
    # Streets at each node.
    at_node: Ints
    at_first: Ints
    # Buckets: their origin, width, columns and rows; then their pieces.
    lattice: Floats
    first: Ints
    held: Ints32

    @classmethod
    def of(cls, roads: RoadNetwork) -> Self:
        """Make the index of a network. A street with two directions is stored as one line."""
        back = roads.opposite
        once = np.flatnonzero((back < 0) | (np.arange(roads.edges) < back))
        x, y, offsets = roads.lines(once)
        scale = roads.scale
        x, y = x * scale[0], y * scale[1]
        here = np.flatnonzero(ragged.inner_steps(offsets))
        street = np.repeat(np.arange(len(once), dtype=np.int32), np.diff(offsets) - 1)
        dx, dy = x[here + 1] - x[here], y[here + 1] - y[here]
        steps = np.hypot(dx, dy)
        length = np.bincount(street, steps, len(once)).astype(np.float64)
        before = np.cumsum(steps) - steps
        begins = before - before[np.searchsorted(street, street)]
        some = np.where(steps > 0, steps, 1.0)
        pieces = np.stack((x[here], y[here], dx / some, dy / some, steps, begins), axis=1)
        ends = np.stack((roads.source[once], roads.target[once])).astype(np.int64)
        both = ends.ravel()
        order = np.argsort(both, kind="stable")
        at_first = np.searchsorted(both[order], np.arange(roads.nodes + 1))
        tolerance = TOLERANCE
        if not roads.is_geographic:
            tolerance = min(TOLERANCE, PART_OF_STREET * float(np.median(length)))
        reach = REACH * tolerance
        wide, high = float(np.ptp(x)) + 2 * reach, float(np.ptp(y)) + 2 * reach
        width = max(reach, math.sqrt(wide * high / _MOST_BUCKETS), max(wide, high) / _MOST_BUCKETS)
        columns, rows = int(wide / width) + 1, int(high / width) + 1
        lattice = np.array([float(x.min()) - reach, float(y.min()) - reach, width, columns, rows])
        sizes = np.zeros(columns * rows, dtype=np.int64)
        _fill(pieces, lattice, reach, sizes, np.empty(0, dtype=np.int32))
        first = ragged.offsets_of(sizes)
        held = np.empty(first[-1], dtype=np.int32)
        _fill(pieces, lattice, reach, first[:-1].copy(), held)
        return cls(
            along=once,
            back=np.where(back[once] < 0, once, back[once]),
            tolerance=tolerance,
            scale=scale,
            pieces=pieces,
            street=street,
            ends=ends,
            length=length,
            junction=np.bincount(both, minlength=roads.nodes) >= 3,
            at_node=order % len(once),
            at_first=at_first,
            lattice=lattice,
            first=first,
            held=held,
        )

    def follow(self, trips: Trajectories) -> Followed:
        """Find the streets that every trip used."""
        x, y = trips.x * self.scale[0], trips.y * self.scale[1]
        t = np.zeros(1) if trips.t is None else trips.t
        index = (self.pieces, self.street, self.lattice, self.first, self.held)
        nodes = (self.ends, self.length, self.at_first, self.at_node)

        def work(_: int, start: int, stop: int) -> tuple[Any, ...]:
            return _follow(x, y, t, trips.offsets, start, stop, self.tolerance, *index, *nodes)

        parts = map_chunks(work, len(trips), _CHUNK) or [work(0, 0, 0)]
        totals, lengths, passes, entered = zip(*parts, strict=True)
        trip, street, forward, joined = np.concatenate(passes, axis=1)
        way, on, fixes, fixes_on = (sum(values) for values in zip(*totals, strict=True))
        return Followed(
            *(way, on, fixes, fixes_on, np.concatenate(lengths)),
            *(trip, street, forward.astype(np.bool_), joined, np.concatenate(entered)),
        )

    def edges(self, followed: Followed) -> Ints:
        """Return the directed edge of each pass; for a one-way street its only edge."""
        return np.where(followed.forward, self.along[followed.street], self.back[followed.street])


@kernel
def _fill(pieces, lattice, reach, place, held):  # type: ignore[no-untyped-def]
    """Count the pieces of each bucket, or store them if `held` has room.

    The function goes through the columns of buckets: it finds the part of a piece that is near the column, and then the
    buckets near this part.
    """
    wide, far, columns, rows = lattice[2], reach / lattice[2], int(lattice[3]), int(lattice[4])
    for piece in range(len(pieces)):
        ax, ay = (pieces[piece, 0] - lattice[0]) / wide, (pieces[piece, 1] - lattice[1]) / wide
        dx, dy = pieces[piece, 2] * pieces[piece, 4] / wide, pieces[piece, 3] * pieces[piece, 4] / wide
        left, right = min(ax, ax + dx) - far, max(ax, ax + dx) + far
        for i in range(max(int(left), 0), min(int(right), columns - 1) + 1):
            low, high = 0.0, 1.0
            if dx != 0.0:
                one, other = (i - far - ax) / dx, (i + 1 + far - ax) / dx
                low, high = max(min(one, other), 0.0), min(max(one, other), 1.0)
            bottom = min(ay + low * dy, ay + high * dy) - far
            top = max(ay + low * dy, ay + high * dy) + far
            for j in range(max(int(bottom), 0), min(int(top), rows - 1) + 1):
                bucket = i * rows + j
                if len(held):
                    held[place[bucket]] = piece
                place[bucket] += 1


@kernel(error_model="numpy")
def _foot(px, py, pieces, piece):  # type: ignore[no-untyped-def]
    """Return the squared distance of a point from a piece, and the position of the nearest point along the piece."""
    ax, ay, ux, uy = pieces[piece, 0], pieces[piece, 1], pieces[piece, 2], pieces[piece, 3]
    along = min(max((px - ax) * ux + (py - ay) * uy, 0.0), pieces[piece, 4])
    gx, gy = ax + along * ux - px, ay + along * uy - py
    return gx * gx + gy * gy, along


@kernel(error_model="numpy")
def _across(hx, hy, pieces, piece):  # type: ignore[no-untyped-def]
    """Return the angle between a piece and a heading as a number: 0 if parallel (in either direction), 1 at a right
    angle."""
    if pieces[piece, 4] == 0.0:
        return 0.0
    return 1.0 - abs(hx * pieces[piece, 2] + hy * pieces[piece, 3])


@kernel(error_model="numpy")
def _is_near(px, py, distance, on, pieces, lattice, first, held):  # type: ignore[no-untyped-def]
    """Whether any street is within a distance, which is at most the reach. The piece `on` is checked first."""
    if on >= 0 and _foot(px, py, pieces, on)[0] <= distance * distance:
        return True
    i, j = math.floor((px - lattice[0]) / lattice[2]), math.floor((py - lattice[1]) / lattice[2])
    if i < 0 or j < 0 or i >= lattice[3] or j >= lattice[4]:
        return False
    bucket = int(i * lattice[4] + j)
    for entry in range(first[bucket], first[bucket + 1]):
        if _foot(px, py, pieces, held[entry])[0] <= distance * distance:
            return True
    return False


@kernel(error_model="numpy")
def _best(px, py, hx, hy, old, reach, pieces, street, lattice, first, held):  # type: ignore[no-untyped-def]
    """Return the piece of a street that fits a point with a heading best, the position of the point along it, and the
    distance of the nearest street.

    Distance and angle count against a street; the present street of the trip is slightly preferred. -1 means that no
    street is in reach.
    """
    best, at, least, nearest = -1, 0.0, math.inf, math.inf
    i, j = math.floor((px - lattice[0]) / lattice[2]), math.floor((py - lattice[1]) / lattice[2])
    if i < 0 or j < 0 or i >= lattice[3] or j >= lattice[4]:
        return best, at, nearest
    bucket = int(i * lattice[4] + j)
    for entry in range(first[bucket], first[bucket + 1]):
        piece = held[entry]
        square, along = _foot(px, py, pieces, piece)
        if square > reach * reach:
            continue
        gap = math.sqrt(square)
        nearest = min(nearest, gap)
        cost = gap + reach * _across(hx, hy, pieces, piece)
        if street[piece] == old:
            cost -= FAVOUR * reach
        if cost < least:
            least, best, at = cost, piece, along
    return best, at, nearest


@kernel(error_model="numpy")
def _ahead(x, y, dx, dy, part, parts, hx, hy, on, reach, pieces):  # type: ignore[no-untyped-def]
    """Return the last part of a straight step, from `part` on, that certainly stays on the piece `on`, and the
    positions of the first and last such part along the piece. A number below `part` means that not even the first part
    stays.

    The cost of the present street is negative while it is preferred, and the cost of any other street never is. Along a
    straight line the distance from a piece is convex: if it is small at two points, it is small between them.
    """
    most = reach * (FAVOUR - _across(hx, hy, pieces, on))
    if most <= 0.0:
        return part - 1, 0.0, 0.0
    share = (part + 0.5) / parts
    square, begin = _foot(x + share * dx, y + share * dy, pieces, on)
    if square >= most * most:
        return part - 1, 0.0, 0.0
    # As far as the step, or else as the piece goes.
    forward = dx * pieces[on, 2] + dy * pieces[on, 3]
    rest = pieces[on, 4] - begin if forward > 0.0 else begin
    for last in (parts - 1, part + int(rest / abs(forward) * parts)):
        if part < last < parts:
            share = (last + 0.5) / parts
            square, end = _foot(x + share * dx, y + share * dy, pieces, on)
            if square < most * most:
                return last, begin, end
    return part, begin, begin


@kernel(error_model="numpy")
def _follow(  # type: ignore[no-untyped-def]
    x, y, t, offsets, start, stop, tolerance, pieces, street, lattice, first, held, ends, length, at_first, at_node
):  # fmt: skip
    """Return totals, the lengths of the trips, and the passes (rows: trip, street, forward, joined) with the time of
    each."""
    way = way_on = fixes = fixes_on = 0.0
    reach = REACH * tolerance
    timed = len(t) == len(x)
    passes, entered = np.empty((4, 1024), dtype=np.int64), np.empty(1024)
    filled = 0
    lengths = np.zeros(stop - start)
    for k in range(start, stop):
        # The street the trip is on, its piece, where on it, and a street that may follow, seen once so far.
        old, on, place, waiting = -1, -1, 0.0, -1
        total = 0.0
        for p in range(offsets[k], offsets[k + 1]):
            fixes += 1.0
            fixes_on += _is_near(x[p], y[p], tolerance, on, pieces, lattice, first, held)
            if p + 1 == offsets[k + 1]:
                break
            dx, dy = x[p + 1] - x[p], y[p + 1] - y[p]
            step = math.sqrt(dx * dx + dy * dy)
            if step == 0.0:
                continue
            hx, hy = dx / step, dy / step
            parts = int(step / tolerance) + 1
            part = -1
            while part + 1 < parts:
                part += 1
                if old >= 0 and waiting < 0:
                    last, begin, end = _ahead(x[p], y[p], dx, dy, part, parts, hx, hy, on, reach, pieces)
                    if last >= part:
                        begin, end = begin + pieces[on, 5], end + pieces[on, 5]
                        total += abs(begin - place) + abs(end - begin)
                        if end != begin or begin != place:
                            passes[2, filled - 1] = end > begin or (end == begin and begin > place)
                        way += step * (last + 1 - part) / parts
                        way_on += step * (last + 1 - part) / parts
                        place, part = end, last
                        continue
                share = (part + 0.5) / parts
                px, py = x[p] + share * dx, y[p] + share * dy
                piece, along, nearest = _best(
                    px, py, hx, hy, old, reach, pieces, street, lattice, first, held
                )
                way += step / parts
                way_on += step / parts * (nearest <= tolerance)
                if piece < 0:
                    total += step / parts
                    waiting = -1
                    continue
                new, at = street[piece], pieces[piece, 5] + along
                if new == old:
                    total += abs(at - place)
                    if at != place:
                        passes[2, filled - 1] = at > place
                    on, place, waiting = piece, at, -1
                    continue
                if old >= 0 and new != waiting:
                    # One look at another street is a crossing; two are a turn.
                    waiting = new
                    continue
                clock = t[p] + share * (t[p + 1] - t[p]) if timed else 0.0
                if filled + 2 > passes.shape[1]:
                    passes, entered = _larger(passes), grown(entered)
                node = -1
                if old >= 0:
                    node, between, other = _link(old, new, ends, at_first, at_node)
                    if node < 0:
                        total += step / parts
                    else:
                        total += abs(place - (0.0 if ends[0, old] == node else length[old]))
                        passes[2, filled - 1] = ends[1, old] == node
                        if between >= 0:
                            total += length[between]
                            passes[0, filled], passes[1, filled], passes[3, filled] = k, between, node
                            passes[2, filled] = ends[1, between] == other
                            entered[filled] = clock
                            filled += 1
                            node = other
                        total += abs(at - (0.0 if ends[0, new] == node else length[new]))
                passes[0, filled], passes[1, filled], passes[3, filled] = k, new, node
                passes[2, filled] = node < 0 or ends[0, new] == node
                entered[filled] = clock
                filled += 1
                old, on, place, waiting = new, piece, at, -1
        lengths[k - start] = total
    return (way, way_on, fixes, fixes_on), lengths, passes[:, :filled], entered[:filled]


@kernel
def _link(a, b, ends, at_first, at_node):  # type: ignore[no-untyped-def]
    """Return the node where two streets meet, or the two nodes of a short street that connects them, or -1."""
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
