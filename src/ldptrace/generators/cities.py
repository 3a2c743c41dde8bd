"""Trips in a city that does not exist."""

from __future__ import annotations

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.legs import GPS_LIMIT, Recorder
from ldptrace.generators.streets import MARGIN, CityMap
from ldptrace.generators.traffic import Attraction, Seed, Traffic, whole


def city(
    trajectories: int = 10_000,
    seed: Seed = None,
    *,
    size: float = 20_000.0,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = 11.0,
) -> Trajectories:
    """Trips by car in a made-up city of `size` x `size` metres; `t` is in seconds after midnight.

    Points come every `interval` seconds with a GPS error of `noise` metres (standard deviation). A trip
    takes `minutes` on average. All points lie in the bounds (0, 0, size, size), which are known beforehand
    and therefore public. The seed decides everything; the same seed with another number of trajectories is
    the same city.

    >>> trips = city(50, seed=1)
    >>> len(trips), bool(trips.sizes.min() >= 2)
    (50, True)
    """
    count = whole(trajectories)
    world, day = np.random.default_rng(seed).spawn(2)
    return city_traffic(world, size=size, interval=interval, noise=noise, minutes=minutes).trips(count, day)


def city_traffic(
    seed: Seed = None,
    *,
    size: float = 20_000.0,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = 11.0,
) -> Traffic:
    """A made-up city with its destinations, ready to draw trips, also in batches."""
    if not (np.isfinite(size) and size >= 3000):
        raise InputError(f"a city needs a side of at least 3,000 metres, got {size!r}")
    recorder = Recorder.driving(interval, noise)
    if noise * GPS_LIMIT > MARGIN * size:
        raise InputError(
            f"noise may be up to {MARGIN * size / GPS_LIMIT:g} metres in a city of {size:g}, got {noise:g}"
        )
    rng = np.random.default_rng(seed)
    town = CityMap.generate(float(size), rng)
    hubs = town.hubs
    attraction = Attraction.around(town.roads, hubs.x, hubs.y, hubs.pull, hubs.reach)
    return Traffic.prepare(town.roads, attraction, recorder, minutes, (0.0, 0.0, town.size, town.size), rng)
