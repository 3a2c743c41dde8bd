"""Settings with which generated data resemble the paper's data sets in size, length and sampling interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.campuses import Walks, campus_walks
from ldptrace.generators.cities import city_traffic
from ldptrace.generators.traffic import Seed, Traffic


@dataclass(frozen=True)
class Preset:
    """A kind of place, its settings, and what the paper's table says of the set it resembles."""

    place: str
    settings: dict[str, Any] = field(hash=False)
    trajectories: int
    mean_points: float


PRESETS = {
    "campus": Preset("campus", {"interval": 25.0, "minutes": 2.85}, 1_000_000, 35.98),
    "oldenburg": Preset("city", {"size": 30_000.0, "interval": 15.6, "minutes": 17.8}, 500_000, 69.75),
    "porto": Preset("city", {"size": 13_000.0, "interval": 15.0, "minutes": 8.15}, 361_591, 34.13),
}


def preset(name: str, place: str | None = None) -> Preset:
    """The preset of that name, for a kind of place if one is given.

    >>> preset("porto").settings["interval"]
    15.0
    """
    names = [key for key, value in PRESETS.items() if place is None or value.place == place]
    if name not in names:
        raise InputError(f"there is no preset {name!r} here; there are {', '.join(names)}")
    return PRESETS[name]


def like(name: str, trajectories: int = 10_000, seed: Seed = None) -> Trajectories:
    """Data that resemble one of the paper's sets: `campus`, `oldenburg` or `porto`.

    >>> len(like("campus", 10, seed=1))
    10
    """
    world, day = np.random.default_rng(seed).spawn(2)
    return world_like(name, world).trips(trajectories, day)


def world_like(name: str, seed: Seed = None) -> Traffic | Walks:
    """The place alone, ready to draw trips, also in batches."""
    chosen = preset(name)
    if chosen.place == "campus":
        return campus_walks(seed, **chosen.settings)
    return city_traffic(seed, **chosen.settings)
