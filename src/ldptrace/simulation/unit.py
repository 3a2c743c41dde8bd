"""Whose privacy is simulated: a user with several trajectories sends a report about one of them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError

UnitName = Literal["user", "trip"]
UNITS: tuple[UnitName, ...] = ("user", "trip")
# Extra column of simulated devices: how many trips the one they answer about was drawn from.
TRIPS = "trips_of_user"


@dataclass(frozen=True)
class Unit:
    """The unit of the promise: `user`, `trip`, or `trajectory` if users are unknown; and in words."""

    name: str
    sentence: str


def play_devices(real: Trajectories, unit: str, rng: np.random.Generator) -> tuple[Trajectories, Unit]:
    """One trajectory per device: of each user one at random, unless every trip is to count.

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
    """Devices that know how many trips the one they answer about was drawn from."""
    column = pa.array(counts)
    extra = pa.table({TRIPS: column}) if devices.extra is None else devices.extra.append_column(TRIPS, column)
    return replace(devices, extra=extra)


def unit_of(unit: str, user: str | None) -> Unit:
    """The unit of the promise, where that column names the users (None: unknown)."""
    if unit not in UNITS:
        raise InputError(f"the unit is user or trip, got {unit!r}")
    if user is None:
        return Unit("trajectory", "Every trajectory is taken to be all that one user has.")
    if unit == "trip":
        return Unit(
            "trip",
            "The unit is the trip, not the person: epsilon holds for each trip, and a user with k trips gives "
            "away up to k times as much.",
        )
    return Unit("user", f"The unit is the user (column {user}): one trajectory of each, drawn at random.")


def one_each(
    users: Ints | None,
    trips: Ints | None,
    rng: np.random.Generator,
    filled: Flags | None = None,
) -> Ints | None:
    """Numbers of trajectories, in their order: one trip of each user, every one equally likely, and a piece of it.

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
    """For each trajectory, how many trips with points its user has; pieces of one trip count once.

    >>> trip_counts(np.array([7, 7, 7, 8]), np.array([0, 0, 1, 2]), np.array([True, True, True, False])).tolist()
    [2, 2, 2, 0]
    """
    once = filled if trips is None else filled & (np.diff(trips, prepend=-1) != 0)
    _, number = np.unique(users, return_inverse=True)
    found: Ints = np.bincount(number, weights=once).astype(np.int64)[number]
    return found


def _one_trip_each(users: Ints, rng: np.random.Generator, filled: Flags | None) -> Ints:
    shuffled = rng.permutation(len(users))
    if filled is not None and not filled.all():
        shuffled = shuffled[np.argsort(~filled[shuffled], kind="stable")]
    _, first = np.unique(users[shuffled], return_index=True)
    return np.sort(shuffled[first])
