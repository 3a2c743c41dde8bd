"""The data of an experiment: generated sets that resemble the paper's, or a set of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators import city_traffic
from ldptrace.generators.cities import PRESETS
from ldptrace.protocol.grid import Bounds
from ldptrace_lab.campus.pois import Pois
from ldptrace_lab.campus.walks import PRESETS as CAMPUS
from ldptrace_lab.campus.walks import campus_walks
from ldptrace_lab.kept import digest_of
from ldptrace_lab.reproduce.published import SETS


def granularity(users: int, mean_points: float, interval: float, epsilon: float, lam: float = 2.5) -> int:
    """Return the guideline for N (eq. 16), from public facts: users, points per trajectory, seconds between points.

    The paper's "sampling ratio" is one over the interval; with that its own data sets get its own values.

    >>> granularity(500_000, 69.75, 15.6, 1.0), granularity(348_144, 125.02, 5, 1.0)
    (6, 8)
    """
    if not (users > 0 and mean_points > 0 and interval > 0 and epsilon > 0 and lam > 0):
        raise InputError(
            "the guideline needs positive numbers: users "
            f"{users}, points {mean_points}, interval {interval}, epsilon {epsilon}, lambda {lam}"
        )
    x = epsilon / (interval * mean_points)
    return max(2, round(lam * (users * mean_points * math.expm1(x) ** 2 / math.exp(x)) ** 0.25))


GENERATED = ("oldenburg", "porto", "campus")
INTERVAL = 15.0


@dataclass(frozen=True, eq=False)
class DataSet:
    """Trajectories with what the experiments need to know of them; generated ones are made when first used.

    `key` identifies the trajectories in the cache of results. `beside` is the set of the paper whose published
    values may be drawn beside the measured ones. `grid` is the N of experiments that do not vary it.
    """

    name: str
    title: str
    key: str
    load: Callable[[], tuple[Trajectories, Pois | None]] = field(repr=False)
    grid: int = 6
    beside: str | None = None
    # Public bounds of the area; the smallest box around the data, as in the paper, if None.
    given_bounds: Bounds | None = None

    @cached_property
    def _loaded(self) -> tuple[Trajectories, Pois | None]:
        return self.load()

    @property
    def trajectories(self) -> Trajectories:
        return self._loaded[0]

    @property
    def pois(self) -> Pois | None:
        """The public table of places, where there is one."""
        return self._loaded[1]

    @cached_property
    def bounds(self) -> Bounds:
        return self.given_bounds or self.trajectories.bounds()

    @cached_property
    def interval(self) -> float:
        """Seconds between points, for the guideline for N."""
        if self.beside is not None:
            return SETS[self.beside].interval
        t = self.trajectories.t
        if t is None or len(t) < 2:
            return INTERVAL
        steps = np.diff(t)
        positive = steps[ragged.inner_steps(self.trajectories.offsets) & (steps > 0)]
        return float(np.median(positive)) if len(positive) else INTERVAL

    def guideline(self, epsilon: float, lam: float = 2.5) -> int:
        """Return the number N of cells per side for this set by the guideline of the paper (eq. 16)."""
        points = max(self.trajectories.points / max(len(self.trajectories), 1), 1.0)
        return granularity(len(self.trajectories), points, self.interval, epsilon, lam)


def generated(name: str, users: int, seed: int, grid: int | None = None) -> DataSet:
    """Return a made-up set that resembles one of the paper's in size, length and sampling interval.

    >>> small = generated("campus", 30, seed=1)
    >>> small.title, len(small.trajectories)
    ('Campus-like', 30)
    """

    def load() -> tuple[Trajectories, Pois | None]:
        world, day = np.random.default_rng(seed).spawn(2)
        if name in CAMPUS:
            campus = campus_walks(world, **CAMPUS[name])
            return campus.trips(users, day), campus.pois
        return city_traffic(world, **PRESETS[name]).trips(users, day), None

    published = SETS[name]
    key = f"{name}-like, {users} trajectories, seed {seed}"
    return DataSet(name, f"{published.title}-like", key, load, grid or published.n, name)


def own(
    trajectories: Trajectories,
    path: Path,
    *,
    bounds: Bounds | None = None,
    grid: int | None = None,
    pois: Pois | None = None,
    beside: str | None = None,
) -> DataSet:
    """Return the user's set. Published values are drawn beside it where its name is that of a set of the paper."""
    name = path.name.split(".")[0]
    resembled = beside or next((key for key in SETS if key in name.lower()), None)
    chosen = grid or (SETS[resembled].n if resembled in SETS else 6)
    digest = digest_of(trajectories.offsets, trajectories.x, trajectories.y)
    box = "data" if bounds is None else ",".join(f"{value!r}" for value in bounds)
    key = f"{digest}, {len(trajectories)} trajectories, bounds {box}"
    beside = resembled if resembled in SETS else None
    return DataSet(name, name, key, lambda: (trajectories, pois), chosen, beside, bounds)
