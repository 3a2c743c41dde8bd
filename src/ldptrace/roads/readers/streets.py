"""Streets as they are in a file, and the directed network for one mode of travel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints32
from ldptrace.errors import InputError
from ldptrace.roads.classes import PACE, PEOPLE, Mode, class_speed, is_open_to, rank_speed
from ldptrace.roads.network import UNKNOWN, Nodes, Offsets, RoadAccount, RoadNetwork

KMH = 3.6
# Two rows are one street if their lengths differ by less than this share and their middles by less than that.
SAME_LENGTH, SAME_MIDDLE = 0.01, 0.05
PLAUSIBLE = 2.0  # lengths of a file may differ from those of its lines by this factor, in the median


@dataclass(frozen=True, eq=False)
class Streets:
    """One row per street: its two end nodes, and in which directions it may be used.

    `kind` is an index into `kinds`, or -1 if the class is not known. `length`, `seconds`, `speed` (actual) and `limit`
    (allowed, both in km/h) are NaN, or None for all streets, if the file does not state them. `ids` are the ids of the
    streets in the file, by default the row numbers from 0. `names` are what people call them; empty where the file does
    not say. `dropped` counts rows of the file that gave no street.
    """

    x: Floats
    y: Floats
    start: Nodes
    end: Nodes
    forward: Flags
    backward: Flags
    kind: Ints32
    kinds: tuple[str, ...]
    length: Floats | None = None
    seconds: Floats | None = None
    speed: Floats | None = None
    limit: Floats | None = None
    shape: tuple[Floats, Floats, Offsets] | None = None
    crs: str | None = None
    format: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    ids: NDArray[np.str_] | None = None
    names: NDArray[np.str_] | None = None

    def _known(self, name: str, row: Offsets) -> Floats:
        """Return a column of measures for some rows."""
        values: Floats | None = getattr(self, name)
        return np.full(len(row), np.nan) if values is None else values[row]

    def network(self, mode: Mode, name: str) -> RoadNetwork:
        """Return the directed network of the streets that the mode may use, with travel times if they can be
        computed."""
        if len(self.start) == 0:
            raise InputError(f"there are no roads in it{_reasons(self.dropped)}")
        closed = np.array([not is_open_to(kind, mode) for kind in (*self.kinds, "")])[self.kind]
        loop = self.start == self.end
        kept = ~closed & ~loop
        dropped = Counter(self.dropped)
        dropped[f"not for {PEOPLE[mode]}"] += int(closed.sum())
        dropped["from a node to itself"] += int((loop & ~closed).sum())
        # Signs for vehicles do not bind people on foot.
        everywhere = np.full(len(kept), mode == "foot")
        there = np.flatnonzero(kept & (self.forward | everywhere))
        back = np.flatnonzero(kept & (self.backward | everywhere))
        row, turned = np.r_[there, back], np.arange(len(there) + len(back)) >= len(there)
        if len(row) == 0:
            raise InputError(f"there are no roads for {PEOPLE[mode]} in it{_reasons(dropped)}")
        source = np.where(turned, self.end[row], self.start[row])
        target = np.where(turned, self.start[row], self.end[row])
        used = np.zeros(len(self.x), dtype=bool)
        used[source] = used[target] = True
        number = np.cumsum(used) - 1
        present, kind = np.unique(self.kind[row], return_inverse=True)
        # The first of them may be that of streets whose class is not known.
        unknown = int(present[0] == UNKNOWN)
        roads = RoadNetwork.of(
            self.x[used],
            self.y[used],
            number[source],
            number[target],
            road_class=kind - unknown,
            classes=tuple(self.kinds[code] for code in present[unknown:]),
            shape=None if self.shape is None else _shapes(self.shape, row, turned),
            crs=self.crs,
            name=name,
        )
        roads, length_notes = _with_lengths(roads, self._known("length", row))
        first = _first_of_each(roads)
        # The way back of a two-way street is often a row of its own: nothing is lost with it.
        dropped["the same street again"] += int((~first & ~turned).sum())
        roads, row = roads.take_edges(first), row[first]
        ids = np.arange(len(self.start)).astype(np.str_) if self.ids is None else self.ids
        seconds, time_notes = self._seconds(roads, row, mode)
        account = RoadAccount(name, self.format, notes=self.notes).without(
            streets=dropped,
            nodes={"without a road": int(len(used) - used.sum())},
            notes=(*length_notes, *time_notes),
        )
        street = None if self.names is None or not (self.names != "").any() else self.names[row]
        roads = replace(roads, edge_id=ids[row], backward=turned[first], street=street)
        return replace(roads, seconds=seconds, account=account)

    def _seconds(self, roads: RoadNetwork, row: Offsets, mode: Mode) -> tuple[Floats | None, tuple[str, ...]]:
        """Return the travel time on an empty road, from the file, from speeds or from the class; and what was
        assumed."""
        given, speed, limit = (self._known(name, row) for name in ("seconds", "speed", "limit"))
        speed, limit = speed / KMH, limit / KMH
        by_class = np.array([class_speed(word, mode) for word in (*roads.classes, "")])[roads.road_class]
        if mode in PACE:
            by_class = np.full(len(row), PACE[mode])
            # Times and speeds in a file are mostly those of cars.
            speed, limit = np.minimum(speed, by_class), np.minimum(limit, by_class)
            given = np.maximum(given, roads.length / by_class)
        speed = np.where(speed > 0, speed, np.where(limit > 0, limit, np.nan))
        known, of_class = np.isfinite(speed) | (given > 0), np.isfinite(by_class)
        guessed = ~known & ~of_class
        if guessed.all():
            return None, ("speeds and classes are not known, so that ways are judged by their length",)
        notes = []
        if mode in PACE:
            notes.append(f"at no more than {PACE[mode] * KMH:.3g} km/h")
        elif not known.all():
            share = np.mean(~known & of_class)
            if share > 0:
                notes.append(f"speeds by road class on {_percent(share)} of the edges")
            if guessed.any():
                notes.append(
                    f"neither speed nor class is known on {_percent(guessed.mean())} of the edges, "
                    "they count as residential streets"
                )
        speed = np.where(np.isfinite(speed), speed, np.where(of_class, by_class, rank_speed(3)))
        return np.where(given > 0, given, np.maximum(roads.length / speed, 1e-3)), tuple(notes)


def _with_lengths(roads: RoadNetwork, given: Floats) -> tuple[RoadNetwork, tuple[str, ...]]:
    """Return the lengths in the file, if they fit the coordinates; missing lengths are measured."""
    known = np.isfinite(given) & (given > 0)
    if not known.any():
        return roads, ()
    ratio = float(np.median(given[known] / roads.length[known]))
    if not 1 / PLAUSIBLE < ratio < PLAUSIBLE:
        said = f"its lengths are {ratio:.3g} times what the coordinates say, so that they were measured anew"
        return roads, (said,)
    return replace(roads, length=np.where(known, given, roads.length)), ()


def _shapes(
    shape: tuple[Floats, Floats, Offsets], row: Offsets, turned: Flags
) -> tuple[Floats, Floats, Offsets]:
    """Return the lines of some rows; the lines of `turned` rows are reversed."""
    x, y, offsets = shape
    sizes = np.diff(offsets)[row]
    ends = ragged.offsets_of(sizes)
    rank, last = ragged.places(ends), np.repeat(sizes - 1, sizes)
    point = np.repeat(offsets[row], sizes) + np.where(np.repeat(turned, sizes), last - rank, rank)
    return x[point], y[point], ends


def _first_of_each(roads: RoadNetwork) -> Flags:
    """Return which edges do not repeat an earlier edge with the same ends, the same length and the same middle."""
    x, y, offsets = roads.lines(np.arange(roads.edges))
    sizes = np.diff(offsets)
    across, up = roads.scale
    owner = np.repeat(np.arange(roads.edges), sizes)
    middle_x = np.bincount(owner, weights=(x - roads.x[0]) * across, minlength=roads.edges) / sizes
    middle_y = np.bincount(owner, weights=(y - roads.y[0]) * up, minlength=roads.edges) / sizes
    order = np.lexsort((np.arange(roads.edges), roads.length, roads.target, roads.source))
    before, after = order[:-1], order[1:]
    apart = np.hypot(middle_x[after] - middle_x[before], middle_y[after] - middle_y[before])
    same = (
        (roads.source[after] == roads.source[before])
        & (roads.target[after] == roads.target[before])
        & (roads.length[after] <= roads.length[before] * (1 + SAME_LENGTH))
        & (apart <= SAME_MIDDLE * roads.length[after])
    )
    first = np.ones(roads.edges, dtype=bool)
    first[np.maximum(before, after)[same]] = False
    return first


def _reasons(dropped: Mapping[str, int]) -> str:
    told = [f"{number:,} {reason}" for reason, number in dropped.items() if number]
    return f" (omitted: {', '.join(told)})" if told else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def coded(words: Sequence[str]) -> tuple[Ints32, tuple[str, ...]]:
    """Return classes as numbers, and their names in order, numbers last. An empty word is no class.

    >>> codes, names = coded(["trunk", "", "path", "10", "9"])
    >>> codes.tolist(), names
    ([1, -1, 0, 3, 2], ('path', 'trunk', '9', '10'))
    """
    known = set(words) - {""}
    names = sorted(known, key=lambda word: (word.isdecimal(), int(word) if word.isdecimal() else 0, word))
    number = {word: code for code, word in enumerate(names)}
    return np.array([number.get(word, UNKNOWN) for word in words], dtype=np.int32), tuple(names)
