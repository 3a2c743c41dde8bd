"""Public knowledge, which costs no epsilon: an area, a road network, or published routes."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.area import Area
from ldptrace.core.crs import is_geographic
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.errors import InputError
from ldptrace.io import read
from ldptrace.io.geojson import read_area
from ldptrace.protocol.grid import Bounds

if TYPE_CHECKING:
    from ldptrace.roads.network import RoadNetwork
    from ldptrace.roads.routes import Routes

# Share of the fixes of public routes that may be fixes of the input, too: rounded coordinates meet by chance.
BY_CHANCE = 0.01
# Steps, from one fix to the next, are compared in five decimals of degrees, or five digits of the size of the map.
DEGREES, DIGITS = 1e-5, 5
AREA_NOTE = "Paths and points were kept in an area that is public; it was not learned from reports."


@dataclass(frozen=True, eq=False)
class Public:
    """Public knowledge: the area in which trips stay, and the road network or the routes that trips follow."""

    area: Area | None = None
    ways: RoadNetwork | Routes | None = None
    # The lines that the routes are made of; None for a map, whose corners trips may well pass.
    fixes: Trajectories | None = None

    @staticmethod
    def of(area: Any = None, roads: Any = None, routes: Any = None) -> Public:
        """Make public knowledge from files or from objects in memory."""
        if _is_name(area):
            area = read_area(area)
        if area is not None and not isinstance(area, Area):
            raise InputError(f"area must be an Area or a file, got {type(area).__name__}")
        if roads is None and routes is None:
            return Public(area)
        if roads is not None and routes is not None:
            raise InputError("give a road network or public routes, not both")
        # The rooms of the map load for those who have one.
        from ldptrace.roads import RoadNetwork, read_roads
        from ldptrace.roads.routes import Routes

        if routes is None:
            network = read_roads(roads) if _is_name(roads) else roads
            if not isinstance(network, RoadNetwork):
                raise InputError(f"roads must be a RoadNetwork or a file, got {type(roads).__name__}")
            return Public(area, network)
        fixes = read(routes) if _is_name(routes) else routes
        if isinstance(fixes, Routes):
            return Public(area, fixes, fixes.lines())
        if not isinstance(fixes, Trajectories):
            raise InputError(f"routes must be Trajectories, Routes or a file, got {type(routes).__name__}")
        made = Routes.from_trajectories(fixes)
        if _is_name(routes):
            made = replace(made, roads=replace(made.roads, name=Path(routes).name))
        return Public(area, made, fixes)

    @property
    def network(self) -> RoadNetwork | None:
        """The road network, or the lines of the routes."""
        ways: Any = self.ways
        network: RoadNetwork | None = getattr(ways, "roads", ways)
        return network

    @property
    def knows_speeds(self) -> bool:
        """Whether there are streets with known speeds."""
        return self.network is not None and self.network.seconds is not None

    @property
    def crs(self) -> str | None:
        """Coordinate system of the map. Trajectories that name none are in the coordinate system of the map."""
        return None if self.network is None else self.network.crs

    @property
    def notes(self) -> list[str]:
        """Sentences that name the public knowledge that was used."""
        notes = [] if self.area is None else [AREA_NOTE]
        if self.network is not None:
            notes.append(f"Trips follow {self.network.name}, which is public and costs no epsilon.")
        return notes

    def check(self, bounds: Bounds, crs: str | None) -> None:
        """Raise an error if the map does not fit trajectories in these bounds and this coordinate system."""
        from ldptrace.roads.network import RoadNetwork

        if isinstance(self.ways, RoadNetwork):
            self.ways.check_against(bounds, crs)

    def refuse_private(self, crowd: Crowd) -> None:
        """Raise an error if the routes contain fixes of the private trajectories, exact or rounded.

        All trajectories are compared, also trajectories that no device draws.
        """
        if self.fixes is None or self.network is None or self.fixes.points == 0:
            return
        grain = DEGREES if is_geographic(self.crs or crowd.crs) else _fifth_digit(self.network.bounds())
        fixes, steps = np.unique(_keys(self.fixes)), np.unique(_steps(self.fixes, grain))
        # The sum of truth values is whether any is true.
        seen = crowd.add_up(
            lambda block, _: np.append(np.isin(fixes, _keys(block)), np.isin(steps, _steps(block, grain))),
            np.zeros(len(fixes) + len(steps), dtype=bool),
        )
        for noun, same in (("fixes", seen[: len(fixes)]), ("rounded steps", seen[len(fixes) :])):
            share = float(same.mean()) if len(same) else 0.0
            if share > BY_CHANCE:
                raise InputError(
                    f"{share:.0%} of the {noun} of {self.network.name} are {noun} of the input: routes must be public, "
                    f"and at most {BY_CHANCE:.0%} may be the same by chance"
                )


def _keys(trajectories: Trajectories) -> NDArray[np.complex128]:
    """Turn each fix into one number."""
    return trajectories.x + 1j * trajectories.y


def _fifth_digit(bounds: Bounds) -> float:
    """Return the value of the last of five digits of the larger side of a box: 1 metre in a city of 20 km.

    >>> _fifth_digit((0, 0, 20_000, 9_000))
    1.0
    """
    side = max(bounds[2] - bounds[0], bounds[3] - bounds[1])
    return float(10.0 ** (math.floor(math.log10(side)) + 1 - DIGITS)) if side > 0 else 1.0


def _steps(trajectories: Trajectories, grain: float) -> NDArray[np.uint64]:
    """Turn each pair of consecutive fixes into one number, in multiples of `grain`."""
    x, y = (
        np.rint(values / grain).astype(np.int64).view(np.uint64)
        for values in (trajectories.x, trajectories.y)
    )
    fixes = x * _MIXED[0] + y * _MIXED[1]
    moved = ragged.inner_steps(trajectories.offsets) & (fixes[1:] != fixes[:-1])
    return (fixes[:-1] * _MIXED[2] + fixes[1:])[moved]


# Odd numbers without a pattern: sums of products with them, modulo 2^64, are equal by chance once in 2^64.
_MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], dtype=np.uint64)


def refuse_same_file(real: Any, **public: Any) -> None:
    """Raise an error if a file that should be public is the private input."""
    for name, given in public.items():
        if _is_name(real) and _is_name(given) and Path(real).resolve() == Path(given).resolve():
            raise InputError(f"{real} is the private input itself, and {name} must be public")


def _is_name(given: Any) -> TypeGuard[str | Path]:
    return isinstance(given, str | os.PathLike)
