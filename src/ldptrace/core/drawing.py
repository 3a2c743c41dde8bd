"""The options for drawing synthetic trips: their points, their day, and the public map that they follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date as Date
from pathlib import Path
from typing import Any, Literal

from ldptrace.core.reading import checked_zone
from ldptrace.errors import InputError
from ldptrace.options import option, settle

OffStreets = Literal["auto", "never"]
# The least time between two points of a synthetic trip, in seconds: file formats keep that much.
SHORTEST = 1e-3
# Trips that one command draws: more than anybody has needed, and few enough for the memory of a laptop.
MOST_TRIPS = 1_000_000_000


def day_of(date: Date | str) -> Date:
    """Return a day of the calendar.

    >>> day_of("2026-03-01")
    datetime.date(2026, 3, 1)
    """
    try:
        return Date.fromisoformat(date) if isinstance(date, str) else date
    except ValueError:
        raise InputError(f"a date is written as 2026-03-01, got {date!r}") from None


@dataclass(frozen=True)
class Points:
    """How far apart the points of a trip are: None and None for the points of the model."""

    spacing: float | None = option(
        None,
        help="Distance between two neighbouring points of a synthetic trip, in the unit of the bounds; in metres if "
        "the bounds are in degrees.",
        above=0,
    )
    interval: float | None = option(
        None,
        help="Seconds between two points of a synthetic trip; needs trips with times or streets with speeds.",
        least=SHORTEST,
    )

    def __post_init__(self) -> None:
        settle(self)
        check_one(self.spacing, self.interval)


def check_one(spacing: object, interval: object) -> None:
    """Raise an error if both a spacing and an interval of points are given."""
    if spacing is not None and interval is not None:
        raise InputError("points have a spacing or an interval, not both")


@dataclass(frozen=True)
class Drawing(Points):
    """How trips are drawn: how far apart their points are, and on which day. None means no particular day."""

    date: Date | str | None = option(
        None,
        metavar="DATE",
        help="Date of the synthetic trips, such as 2026-03-01; by default trips have a time of day only.",
        parse=day_of,
    )
    timezone: str | None = option(
        None,
        metavar="ZONE",
        help="Time zone of local times, such as Europe/Berlin; by default the zone of the input, otherwise UTC.",
        check=checked_zone,
    )

    @property
    def day(self) -> Date | None:
        """The day of the trips."""
        return None if self.date is None else day_of(self.date)

    def or_else(self, other: Drawing) -> Drawing:
        """Fill missing settings from another drawing. A given spacing or interval replaces both of the other."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        if {"spacing", "interval"} & given.keys():
            other = replace(other, spacing=None, interval=None)
        return replace(other, **given)

    def document(self) -> dict[str, Any]:
        """Return plain data for a file."""
        return vars(self) | {"date": None if self.day is None else self.day.isoformat()}


@dataclass(frozen=True, kw_only=True)
class Streets:
    """How closely synthetic trips follow the streets of a public map."""

    off_streets: OffStreets = option(
        "auto",
        help="auto: some synthetic trips leave the streets if the answers show that real trips do; never: all "
        "synthetic trips follow the streets.",
    )


@dataclass(frozen=True, kw_only=True)
class Ways(Streets):
    """Public knowledge that synthetic trips follow. In Python, an object in memory can be given instead of a file."""

    area: Any = option(
        None,
        metavar="FILE",
        help="GeoJSON file of public polygons, such as land; synthetic trips stay inside the polygons.",
        kind=Path | None,
    )
    roads: Any = option(
        None,
        metavar="NETWORK",
        help="Public road network; synthetic trips follow its streets.",
        kind=Path | None,
    )
    routes: Any = option(
        None,
        metavar="FILE",
        help="File of public trajectories that synthetic trips follow, instead of a road network.",
        kind=Path | None,
    )

    def __post_init__(self) -> None:
        settle(self)
