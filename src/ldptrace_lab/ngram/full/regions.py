"""Space-time-category regions: which places belong together, how far regions are apart, what can follow what.

Everything here is computed from the public table of places, so it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from os.path import commonprefix
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.crs import METRES_PER_DEGREE, is_geographic
from ldptrace.core.kernels import kernel
from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace_lab.campus.pois import Pois

Node = tuple[str, ...]


def node(category: str) -> Node:
    """Return the place of a category in the tree; the root is the empty path.

    >>> node("study/lecture hall")
    ('study', 'lecture hall')
    """
    return tuple(part for part in category.split("/") if part)


def common_ancestor(nodes: Iterable[Node]) -> Node:
    """Return the deepest node above all of them.

    >>> common_ancestor([("food", "cafe"), ("food", "bar")])
    ('food',)
    """
    # Of tuples, it compares part by part.
    return tuple(commonprefix(list(nodes)))  # noqa: RUF071


def tree_distances(nodes: Sequence[Node]) -> NDArray[np.float64]:
    """Return the number of edges between any two nodes of the tree.

    >>> tree_distances([("food", "cafe"), ("food",), ("study", "library")])[0].tolist()
    [0.0, 1.0, 4.0]
    """
    longest = max(map(len, nodes))
    padded = np.array([[*path, *[""] * (longest - len(path))] for path in nodes])
    # Many regions share a node.
    parts, at = np.unique(padded, axis=0, return_inverse=True)
    size = np.count_nonzero(parts != "", axis=1)
    shared = np.cumprod(parts[:, None] == parts, axis=2).sum(axis=2)
    between = np.add.outer(size, size) - 2.0 * np.minimum(shared, np.minimum.outer(size, size))
    return np.asarray(between[np.ix_(at.ravel(), at.ravel())])


DAY_MINUTES = 1440
DIMENSIONS = ("space", "time", "category")


def _order(merge: Any) -> tuple[str, ...]:
    """Return the dimensions in the order in which they are merged."""
    if set(merge) != set(DIMENSIONS):
        raise InputError(f"merge must name {', '.join(DIMENSIONS)}, got {merge!r}")
    return tuple(merge)


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """How the public knowledge is cut into regions. The literature pins down few of these values."""

    step: int = option(10, help="Minutes of the resolution of time.", least=1)
    interval: int = option(60, help="Minutes of the interval of a region.", least=1)
    side: int = option(8, help="Cells on a side of the map.", least=1)
    depth: int = option(2, help="Levels of the tree of categories that count.", least=0)
    kappa: int = option(10, help="Regions with fewer places are merged.", least=1)
    merge: tuple[str, ...] = option(
        DIMENSIONS,
        help="The order in which regions are merged: to twice as wide cells or intervals, or to the parent category.",
        parse=_order,
    )
    speed: float = option(1.7, help="Metres per second at which a place can be reached.", above=0)
    most_hours: float = option(12.0, help="Regions more hours apart count as so many.", above=0)
    most_edges: float = option(
        10.0, help="Regions more edges of the tree of categories apart count as so many.", above=0
    )

    def __post_init__(self) -> None:
        settle(self)
        if self.interval % self.step or DAY_MINUTES % self.interval:
            raise InputError(
                f"a step must be a part of the interval, and an interval a part of a day, got {self.step} and "
                f"{self.interval} minutes"
            )

    @property
    def per_interval(self) -> int:
        return self.interval // self.step


@dataclass(frozen=True, eq=False)
class Regions:
    """Places in regions: place `p` belongs in interval `h` to region `of[p, h]`; -1 when it is closed."""

    pois: Pois
    knowledge: Knowledge
    of: Ints32
    count: int
    # Places in metres of a plane, and whether each is open at the beginning of each step.
    x: Floats = field(repr=False)
    y: Floats = field(repr=False)
    open: NDArray[np.bool_] = field(repr=False)

    @staticmethod
    def build(pois: Pois, knowledge: Knowledge | None = None) -> Regions:
        """Cut and merge. Every open place is in exactly one region at any time."""
        settings = knowledge or Knowledge()
        if len(pois) == 0:
            raise InputError("ngram-full needs places: the table of places is empty")
        x, y = pois.x, pois.y
        if is_geographic(pois.crs):
            shrink = math.cos(math.radians(float(y.min() + y.max()) / 2))
            x, y = x * METRES_PER_DEGREE * shrink, y * METRES_PER_DEGREE
        every_step = np.arange(DAY_MINUTES // settings.step) * settings.step * 60.0
        open_ = pois.is_open(np.arange(len(pois))[:, None], every_step)
        slots: NDArray[np.bool_] = open_.reshape(len(pois), -1, settings.per_interval).max(axis=2)
        if not slots.any():
            raise InputError("no place of the table is ever open")
        of, count = _merged(pois, settings, x, y, slots)
        return Regions(pois, settings, of, count, x, y, open_)

    @cached_property
    def members(self) -> tuple[NDArray[np.int64], Ints32]:
        """Places of each region: offsets, and the places region after region."""
        place, hour = np.nonzero(self.of >= 0)
        pairs = np.unique(self.of[place, hour].astype(np.int64) * len(self.pois) + place)
        region, place = np.divmod(pairs, len(self.pois))
        offsets = np.searchsorted(region, np.arange(self.count + 1))
        return offsets.astype(np.int64), place.astype(np.int32)

    @cached_property
    def nearest(self) -> Ints32:
        """As `of`, and where a place is closed the region of its open interval nearest in time.

        A device whose visit contradicts the public knowledge answers all the same. A place that is never
        open counts for the region whose centre is nearest.
        """
        intervals = np.arange(self.of.shape[1])
        table = self.of.copy()
        for place in np.flatnonzero((self.of < 0).any(axis=1)):
            known = np.flatnonzero(self.of[place] >= 0)
            if len(known):
                closest = np.abs(intervals[:, None] - known[None, :]).argmin(axis=1)
                table[place] = self.of[place, known[closest]]
            else:
                here = np.array([self.x[place], self.y[place]])
                table[place] = np.linalg.norm(self.centres - here, axis=1).argmin()
        return table

    @cached_property
    def spans(self) -> tuple[Ints32, Ints32]:
        """First and last open step of each member in its region, in the order of `members`."""
        offsets, place = self.members
        region = np.repeat(np.arange(self.count), np.diff(offsets))
        own = (
            np.repeat(self.of[place] == region[:, None], self.knowledge.per_interval, axis=1)
            & self.open[place]
        )
        first, last = own.argmax(axis=1), own.shape[1] - 1 - own[:, ::-1].argmax(axis=1)
        return first.astype(np.int32), last.astype(np.int32)

    @cached_property
    def boxes(self) -> Floats:
        """Bounding boxes x0, y0, x1, y1 of the places of each region."""
        offsets, place = self.members
        sides = [(outer, axis) for outer in (np.minimum, np.maximum) for axis in (self.x, self.y)]
        return np.stack([outer.reduceat(axis[place], offsets[:-1]) for outer, axis in sides], axis=1)

    @cached_property
    def centres(self) -> Floats:
        """Mean place of each region, in metres."""
        offsets, place = self.members
        sums = [np.add.reduceat(axis[place], offsets[:-1]) for axis in (self.x, self.y)]
        return np.stack(sums, axis=1) / np.diff(offsets)[:, None]

    @cached_property
    def hours(self) -> Floats:
        """Mean hour of each region."""
        _, hour = np.nonzero(self.of >= 0)
        region = self.of[self.of >= 0]
        middle = (hour + 0.5) * self.knowledge.interval / 60
        return np.asarray(np.bincount(region, middle, self.count) / np.bincount(region, minlength=self.count))

    @cached_property
    def nodes(self) -> list[Node]:
        """The category of each region: the deepest one above those of its places."""
        offsets, place = self.members
        paths = [node(name) for name in self.pois.categories]
        kinds = self.pois.category[place]
        return [
            common_ancestor(paths[kind] for kind in np.unique(kinds[start:stop]))
            for start, stop in pairwise(offsets)
        ]

    @cached_property
    def distances(self) -> Floats:
        """Distance between any two regions: kilometres, hours and edges of the category tree together."""
        apart = (self.centres[:, None] - self.centres[None, :]) / 1000
        hours = np.minimum(np.abs(self.hours[:, None] - self.hours[None, :]), self.knowledge.most_hours)
        edges = np.minimum(tree_distances(self.nodes), self.knowledge.most_edges)
        return np.sqrt((apart**2).sum(axis=2) + hours**2 + edges**2)

    @cached_property
    def follows(self) -> NDArray[np.bool_]:
        """Whether region b can come right after region a, at [a, b]: some place is reached in time."""
        feasible = np.zeros((self.count, self.count), dtype=np.bool_)
        _follows(*self.members, self.spans, (self.x, self.y), self.metres_per_step, feasible)
        return feasible

    @property
    def metres_per_step(self) -> float:
        return self.knowledge.speed * 60.0 * self.knowledge.step


def _merged(
    pois: Pois, settings: Knowledge, x: Floats, y: Floats, slots: NDArray[np.bool_]
) -> tuple[Ints32, int]:
    """Return the region of each open slot (place, interval), and the number of regions.

    Level after level the slots that are left are put together by coarser and coarser keys; a group that has
    enough places becomes a region. What is left at the top joins the last region, the coarsest.
    """
    place, hour = np.nonzero(slots)
    column, row = (_cells(axis, settings.side)[place] for axis in (x, y))
    paths = [node(name)[: settings.depth] for name in pois.categories]
    of = np.full(slots.shape, -1, dtype=np.int32)
    count = 0
    left = np.arange(len(place))
    for space, time, category in _levels(settings):
        ancestors = [path[: max(settings.depth - category, 0)] for path in paths]
        numbers = {name: k for k, name in enumerate(sorted(set(ancestors)))}
        kind = np.array([numbers[name] for name in ancestors])[pois.category[place[left]]]
        keys = np.stack([column[left] >> space, row[left] >> space, hour[left] >> time, kind])
        _, group = np.unique(keys, axis=1, return_inverse=True)
        pairs = np.unique(np.stack([group, place[left]]), axis=1)
        enough = np.bincount(pairs[0]) >= settings.kappa
        number = count + np.cumsum(enough) - 1
        done = enough[group]
        of[place[left[done]], hour[left[done]]] = number[group[done]]
        count += int(enough.sum())
        left = left[~done]
        if len(left) == 0:
            return of, count
    count = max(count, 1)
    of[place[left], hour[left]] = count - 1
    return of, count


def _levels(settings: Knowledge) -> list[tuple[int, int, int]]:
    """Return how often space, time and category have been coarsened, merge after merge."""
    doublings = (math.ceil(math.log2(many)) for many in (settings.side, DAY_MINUTES // settings.interval))
    tops = dict(zip(DIMENSIONS, (*doublings, settings.depth), strict=True))
    level = dict.fromkeys(DIMENSIONS, 0)
    levels = [(0, 0, 0)]
    while level != tops:
        for name in settings.merge:
            if level[name] < tops[name]:
                level[name] += 1
                levels.append((level["space"], level["time"], level["category"]))
    return levels


def _cells(axis: Floats, side: int) -> NDArray[np.int64]:
    width = float(np.ptp(axis)) or 1.0
    return np.minimum(((axis - axis.min()) / width * side).astype(np.int64), side - 1)


@kernel
def _follows(offsets, place, spans, spots, metres_per_step, feasible):  # type: ignore[no-untyped-def]
    first, last = spans
    latest = np.array([last[offsets[b] : offsets[b + 1]].max() for b in range(len(offsets) - 1)])
    for a in range(len(offsets) - 1):
        earliest = first[offsets[a] : offsets[a + 1]].min()
        for b in range(len(offsets) - 1):
            if latest[b] > earliest:
                feasible[a, b] = _some_pair(offsets, a, b, place, spans, spots, metres_per_step)


@kernel
def _some_pair(offsets, a, b, place, spans, spots, metres_per_step):  # type: ignore[no-untyped-def]
    """Whether somebody who is at a place of region a can be at one of region b later."""
    (first, last), (x, y) = spans, spots
    for m in range(offsets[a], offsets[a + 1]):
        for k in range(offsets[b], offsets[b + 1]):
            steps = last[k] - first[m]
            if steps > 0:
                dx, dy = x[place[m]] - x[place[k]], y[place[m]] - y[place[k]]
                if dx * dx + dy * dy <= (metres_per_step * steps) ** 2:
                    return True
    return False
