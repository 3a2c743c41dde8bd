"""What is public and costs no epsilon: an area, a road network, or routes that somebody published."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.area import Area
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.errors import InputError
from ldptrace.io import read
from ldptrace.io.area import read_area
from ldptrace.protocol.grid import Bounds

if TYPE_CHECKING:
    from ldptrace.roads.network import RoadNetwork
    from ldptrace.roads.routes import Routes

# Share of the fixes of public routes that may be fixes of the input, too: rounded coordinates meet by chance.
BY_CHANCE = 0.01
AREA_NOTE = "Paths and points were kept in an area that is public; it was not learned from reports."


@dataclass(frozen=True, eq=False)
class Public:
    """What is known without asking anybody: where trips can be, and the ways that they can take."""

    area: Area | None = None
    ways: RoadNetwork | Routes | None = None
    # The trajectories that the routes were made of.
    fixes: Trajectories | None = None

    @staticmethod
    def of(area: Any = None, roads: Any = None, routes: Any = None) -> Public:
        """From files, or from what is in memory."""
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
            found = read_roads(roads) if _is_name(roads) else roads
            if not isinstance(found, RoadNetwork):
                raise InputError(f"roads must be a RoadNetwork or a file, got {type(roads).__name__}")
            return Public(area, found)
        fixes = read(routes) if _is_name(routes) else routes
        if isinstance(fixes, Routes):
            return Public(area, fixes)
        if not isinstance(fixes, Trajectories):
            raise InputError(f"routes must be Trajectories, Routes or a file, got {type(routes).__name__}")
        made = Routes.from_trajectories(fixes)
        if _is_name(routes):
            made = replace(made, roads=replace(made.roads, name=Path(routes).name))
        return Public(area, made, fixes)

    @property
    def network(self) -> RoadNetwork | None:
        """The streets, or the lines of the routes."""
        ways: Any = self.ways
        network: RoadNetwork | None = getattr(ways, "roads", ways)
        return network

    @property
    def knows_speeds(self) -> bool:
        """Whether there are streets, and it is known how fast they are."""
        return self.network is not None and self.network.seconds is not None

    @property
    def crs(self) -> str | None:
        """Coordinate system of the map: that of the trajectories, where they name none."""
        return None if self.network is None else self.network.crs

    @property
    def notes(self) -> list[str]:
        """Public knowledge is named as such."""
        notes = [] if self.area is None else [AREA_NOTE]
        if self.network is not None:
            notes.append(f"Trips follow {self.network.name}, which is public and costs no epsilon.")
        return notes

    def check(self, bounds: Bounds, crs: str | None) -> None:
        """An error unless the map is one for trajectories in these bounds and coordinates."""
        from ldptrace.roads.network import RoadNetwork

        if isinstance(self.ways, RoadNetwork):
            self.ways.check_against(bounds, crs)

    def refuse_private(self, crowd: Crowd) -> None:
        """An error where the routes hold fixes of the trajectories that are to be protected."""
        if self.fixes is None or self.network is None or self.fixes.points == 0:
            return
        public = np.unique(_keys(self.fixes))
        seen = crowd.add_up(
            lambda block, _: _Seen(np.isin(public, _keys(block))), _Seen(np.zeros(len(public), bool))
        )
        share = float(seen.fixes.mean())
        if share > BY_CHANCE:
            raise InputError(
                f"{share:.0%} of the fixes of {self.network.name} are fixes of the input: routes must be public, and "
                f"at most {BY_CHANCE:.0%} may be the same by chance"
            )


@dataclass(frozen=True, eq=False)
class _Seen:
    """Which fixes occur somewhere."""

    fixes: NDArray[np.bool_]

    def __add__(self, other: _Seen) -> _Seen:
        return _Seen(self.fixes | other.fixes)


def _keys(trajectories: Trajectories) -> NDArray[np.complex128]:
    """Fixes as single numbers."""
    return trajectories.x + 1j * trajectories.y


def is_same_file(one: Any, other: Any) -> bool:
    """Whether two names are of one file."""
    return _is_name(one) and _is_name(other) and Path(one).resolve() == Path(other).resolve()


def _is_name(given: Any) -> TypeGuard[str | Path]:
    return isinstance(given, str | os.PathLike)
