"""Whose privacy is simulated: a user with several trajectories sends a report about one of them, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_POINTS
from ldptrace.protocol.trips import kept_places

# Extra column of simulated devices: how many trips the one they answer about was drawn from.
TRIPS = "trips_of_user"


@dataclass(frozen=True)
class Unit:
    """The unit of the promise: `user`, `trip`, or `trajectory` if users are unknown; and in words."""

    name: str
    sentence: str


def play_devices(real: Trajectories, unit: str, rng: np.random.Generator) -> tuple[Trajectories, Unit]:
    """Choose one trajectory per device: of each user one at random, unless every trip is to count.

    Of a trip that was cut, one piece is drawn. Of a user's trajectories those without points are no trips. How many
    trips there were is in the extra column `TRIPS`.

    >>> from dataclasses import replace
    >>> import pyarrow as pa
    >>> trips = Trajectories.from_lists([[(0, 0)], [(1, 1)], [(2, 2)]])
    >>> trips = replace(trips, extra=pa.table({"who": ["a", "a", "b"]}), user="who")
    >>> len(play_devices(trips, "user", np.random.default_rng(1))[0])
    2
    """
    whose = unit_of(unit, real.user)
    users, filled = (real.users if whose.name == "user" else None), real.sizes > 0
    chosen = one_each(users, real.trips, rng, filled)
    if chosen is None:
        return real, whose
    devices = replace(real if len(chosen) == len(real) else real.take(chosen), trips=None)
    return devices if users is None else with_counts(
        devices, trip_counts(users, real.trips, filled)[chosen]
    ), whose


def with_counts(devices: Trajectories, counts: Ints) -> Trajectories:
    """Add to each device how many trips the one that it answers about was drawn from."""
    column = pa.array(counts)
    extra = pa.table({TRIPS: column}) if devices.extra is None else devices.extra.append_column(TRIPS, column)
    return replace(devices, extra=extra)


def unit_of(unit: str, user: str | None) -> Unit:
    """Return the unit of the promise, given the column that names the users (None: unknown)."""
    if user is None:
        return Unit("trajectory", "No column names users, so each trajectory counts as one user.")
    if unit == "trip":
        return Unit(
            "trip",
            "The unit is the trip, not the person: epsilon holds for each trip, and a user with k trips is "
            "protected with k epsilon only.",
        )
    return Unit("user", f"The unit is the user (column {user}): one trajectory of each, drawn at random.")


def one_each(
    users: Ints | None,
    trips: Ints | None,
    rng: np.random.Generator,
    filled: Flags | None = None,
) -> Ints | None:
    """Draw one trip of each user, all equally likely, and one piece of it. Returns numbers of trajectories, ascending.

    What is not `filled` has no points and is drawn only where a user has nothing else. Without users every trip
    counts, and without trips every trajectory is one; without both, None: all of them.
    Pieces of one trip lie side by side.

    >>> one_each(None, np.array([0, 0, 1]), np.random.default_rng(1)).tolist()
    [0, 2]
    """
    if trips is None:
        return None if users is None else _one_trip_each(users, rng, filled)
    first = np.flatnonzero(np.diff(trips, prepend=-1))
    pieces = np.diff(first, append=len(trips))
    if users is not None:
        chosen = _one_trip_each(users[first], rng, None if filled is None else filled[first])
        first, pieces = first[chosen], pieces[chosen]
    return first + rng.integers(pieces)


def trip_counts(users: Ints, trips: Ints | None, filled: Flags) -> Ints:
    """Count for each trajectory the trips with points of its user; pieces of one trip count once.

    >>> trip_counts(np.array([7, 7, 7, 8]), np.array([0, 0, 1, 2]), np.array([True, True, True, False])).tolist()
    [2, 2, 2, 0]
    """
    once = filled if trips is None else filled & (np.diff(trips, prepend=-1) != 0)
    _, number = np.unique(users, return_inverse=True)
    return np.bincount(number, weights=once).astype(np.int64)[number]


def _one_trip_each(users: Ints, rng: np.random.Generator, filled: Flags | None) -> Ints:
    shuffled = rng.permutation(len(users))
    if filled is not None and not filled.all():
        shuffled = shuffled[np.argsort(~filled[shuffled], kind="stable")]
    _, first = np.unique(users[shuffled], return_index=True)
    return np.sort(shuffled[first])


@dataclass(frozen=True, eq=False)
class Trips:
    """The cell path of every trajectory, and its timing where trajectories have times; their points are left behind."""

    paths: CellPaths
    timing: Timing | None
    # Where the points of each trajectory began and ended: blocks are cut by them.
    offsets: Ints
    # How many trips each was drawn from; None: it is all that its device has.
    counts: Ints | None = None

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Trips:
        """Turn trajectories into the cell paths and times that devices know, of at most 4,096 points each.

        >>> Trips.of(Trajectories([0, 3, 9], [0, 4, 9], [0, 2, 3]), Grid((0, 0, 10, 10), 2)).paths.sizes.tolist()
        [1, 1]
        """
        known = _kept(trajectories)
        timing = None if known.t is None else Timing.of(known)
        counts = None
        if known.extra is not None and TRIPS in known.extra.column_names:
            counts = known.extra[TRIPS].to_numpy()
        return Trips(CellPaths.from_trajectories(known, grid), timing, trajectories.offsets, counts)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def points(self) -> int:
        """How many points the trajectories had."""
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, start: int, stop: int) -> Trips:
        """Return the trips from number `start` to before `stop`, uncopied."""
        timing = None if self.timing is None else self.timing.part(start, stop)
        counts = None if self.counts is None else self.counts[start:stop]
        return Trips(self.paths.part(start, stop), timing, self.offsets[start : stop + 1], counts)

    def take(self, indices: ArrayLike) -> Trips:
        """Return the trips at `indices` (numbers or a mask), in that order."""
        picked = np.asarray(indices)
        timing = None if self.timing is None else self.timing.take(picked)
        sizes = np.diff(self.offsets)[picked]
        counts = None if self.counts is None else self.counts[picked]
        return Trips(self.paths.take(picked), timing, ragged.offsets_of(sizes), counts)

    @staticmethod
    def concat(parts: Sequence[Trips]) -> Trips:
        """Join sets of one grid. Timing and counts are kept where every part has them."""
        timings = [part.timing for part in parts if part.timing is not None]
        counts = [part.counts for part in parts if part.counts is not None]
        return Trips(
            CellPaths.concat([part.paths for part in parts]),
            Timing.concat(timings) if len(timings) == len(parts) else None,
            ragged.offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate(counts) if len(counts) == len(parts) else None,
        )


def _kept(trajectories: Trajectories) -> Trajectories:
    """Keep the points that devices look at: of long trajectories 4,096 (section 4 of the protocol)."""
    sizes = trajectories.sizes
    if not len(sizes) or sizes.max() <= MAX_POINTS:
        return trajectories
    starts = trajectories.offsets[:-1]
    places = np.concatenate(
        [
            start + np.asarray(kept_places(size))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
    ).astype(np.int64)
    return replace(
        trajectories,
        x=trajectories.x[places],
        y=trajectories.y[places],
        t=None if trajectories.t is None else trajectories.t[places],
        offsets=ragged.offsets_of(np.minimum(sizes, MAX_POINTS)),
    )
