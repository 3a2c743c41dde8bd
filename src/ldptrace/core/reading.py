"""The options for reading trajectories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.grid import Bounds, checked_bounds

# What happens to fixes outside the bounds: see `ldptrace.core.outside`.
Outside = Literal["cut", "drop", "clamp"]
CUT: Outside = "cut"


def checked_zone(name: str) -> str:
    from ldptrace.core.times import zone

    zone(name)
    return name


def _checked_crs(name: str) -> str:
    from ldptrace.core.crs import checked_crs

    return checked_crs(name)


@dataclass(frozen=True)
class Names:
    """Names of columns that the user gave. None means that the column is recognised by its usual name."""

    x: str | None = option(
        None,
        metavar="COL",
        help="Column that holds the x coordinate or longitude; by default, one with a usual name such as x or lon. "
        "Without --y: the column that holds points or lines as WKT or GeoJSON.",
    )
    y: str | None = option(
        None,
        metavar="COL",
        help="Column that holds the y coordinate or latitude; by default, one with a usual name such as y or lat.",
    )
    t: str | None = option(
        None,
        metavar="COL",
        help="Column that holds the times; by default, one with a usual name such as t or time.",
    )
    id: str | None = option(
        None,
        metavar="COL",
        help="Column that holds the trajectory id of each point; by default, one with a usual name such as traj_id.",
    )
    user: str | None = option(
        None,
        metavar="COL",
        help="Column that holds the user id of each trajectory; by default, one with a usual name such as user.",
    )


@dataclass(frozen=True)
class Reading:
    """The options of reading, the same for `ldptrace.read`, every command and every engine.

    >>> Reading(outside="keep")
    Traceback (most recent call last):
    ...
    ldptrace.errors.InputError: outside must be cut or drop or clamp, got 'keep'
    """

    format: str | None = option(
        None, help="Format of the input, such as gpx; by default the program recognises it."
    )
    crs: str | None = option(
        None,
        help='Coordinate system of the trips and of the bounds, such as "EPSG:4326".',
        check=_checked_crs,
    )
    names: Names = field(default_factory=Names)
    timezone: str | None = option(
        None,
        metavar="ZONE",
        help="Time zone of local times, such as Europe/Berlin; by default the zone stated in the file, otherwise UTC.",
        check=checked_zone,
    )
    bounds: Bounds | None = option(
        None,
        metavar="X0,Y0,X1,Y1",
        help="Public rectangle of the area: smallest x and y, then largest x and y.",
        parse=checked_bounds,
    )
    outside: Outside = option(
        CUT,
        help="What to do with trips that leave the bounds; cut: keep only the parts inside; drop: omit these trips; "
        "clamp: move outer points to the border.",
    )
    # One without points is a device that answers null.
    min_points: int = option(0, help="Omit trajectories with fewer points than this.", least=0)
    split_gap: float | None = option(
        None,
        metavar="SECONDS",
        help="Cut a trajectory between two points that are more than this many seconds apart.",
        above=0,
    )
    month_first: bool = option(
        False, help="Dates such as 05/04/2026 begin with the month; by default they begin with the day."
    )

    def __post_init__(self) -> None:
        settle(self)
        if not isinstance(self.names, Names):
            raise InputError(
                f"names must be names of columns, such as Names(x='lng', id='ride'), got {self.names!r}"
            )

    @property
    def single(self) -> bool:
        """Whether points without a trajectory id are one log, to be cut at its gaps."""
        return self.split_gap is not None
