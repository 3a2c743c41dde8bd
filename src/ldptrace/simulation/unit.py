"""Whose privacy is simulated: a user with several trajectories sends a report about one of them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError

UnitName = Literal["user", "trip"]
UNITS: tuple[UnitName, ...] = ("user", "trip")


@dataclass(frozen=True)
class Unit:
    """The unit of the promise: `user`, `trip`, or `trajectory` where nobody says whose is whose; and in words."""

    name: str
    sentence: str


def play_devices(real: Trajectories, unit: str, rng: np.random.Generator) -> tuple[Trajectories, Unit]:
    """One trajectory per device: of each user one at random, unless every trip is to count.

    >>> from dataclasses import replace
    >>> import pyarrow as pa
    >>> trips = Trajectories.from_lists([[(0, 0)], [(1, 1)], [(2, 2)]])
    >>> trips = replace(trips, extra=pa.table({"who": ["a", "a", "b"]}), user="who")
    >>> len(play_devices(trips, "user", np.random.default_rng(1))[0])
    2
    """
    whose = unit_of(unit, real.user)
    if whose.name != "user":
        return real, whose
    chosen = one_each(real.users, rng)
    return real if len(chosen) == len(real) else real.take(chosen), whose


def unit_of(unit: str, user: str | None) -> Unit:
    """The unit of the promise, where that column says whose is whose (None: nobody does)."""
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
    users: np.ndarray[tuple[int], np.dtype[np.int64]], rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Numbers of trajectories, one of each user, every one of a user's equally likely; in their order."""
    shuffled = rng.permutation(len(users))
    _, first = np.unique(users[shuffled], return_index=True)
    return np.sort(shuffled[first])
