"""Find the columns of a table by their usual names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Names
from ldptrace.errors import FormatError, InputError

# Usual names, the most telling first; case, spaces and punctuation do not matter.
TRIP_NAMES = (
    *("traj_id", "trajectory_id", "traj", "trajectory", "trip_id", "trip", "track_id", "track", "ride_id"),
    *("journey_id", "journey", "segment_id", "tripleg_id", "shape_id", "tid", "id", "object_id", "oid"),
    *("vehicle_id", "taxi_id", "cab_id", "mmsi", "vessel_id", "icao24"),
)
USER_NAMES = (
    *("user_id", "uid", "user", "person_id", "person", "participant_id", "participant", "respondent_id"),
    *("agent_id", "agent", "driver_id", "rider_id", "individual_local_identifier", "individual_id"),
    *("individual", "animal_id", "device_id", "device", "imei", "caid", "maid", "ad_id", "advertiser_id"),
    *("subscriber_id", "whole_id"),
)
# Whose trips they may be: never taken by guess, only suggested where the column repeats between trips.
OWNER_NAMES = (
    *("taxi", "cab", "vehicle", "car", "bike", "bicycle", "scooter", "truck", "bus", "vessel", "ship"),
    *("aircraft", "driver", "rider", "phone", "sim", "msisdn", "card", "member", "customer", "client"),
    *("account", "owner", "mmsi", "icao24", "plate", "tag", "logger", "tracker"),
)
PLANAR = (
    ("x", "x_coord", "coord_x", "easting", "pos_x", "utm_x"),
    ("y", "y_coord", "coord_y", "northing", "pos_y", "utm_y"),
)
GEOGRAPHIC = (
    (
        *("lon", "lng", "long", "longitude", "location_long", "location_lon", "location_lng", "gps_lon"),
        *("gps_longitude", "shape_pt_lon", "longitud", "laengengrad", "längengrad"),
    ),
    (
        *("lat", "latitude", "location_lat", "gps_lat"),
        *("gps_latitude", "shape_pt_lat", "latitud", "breitengrad"),
    ),
)
GEOMETRY_NAMES = ("geometry", "geom", "the_geom", "wkt", "geojson", "point", "location", "position")
TIME_NAMES = (
    *("t", "time", "timestamp", "datetime", "date_time", "utc_time", "ts", "gps_time", "utc", "tracked_at"),
    *("base_date_time", "event_time", "recorded_at", "location_time", "fix_time", "epoch", "unix_time"),
    *("unixtime", "timestamp_ms", "time_ms", "epoch_ms", "timestamp_us", "local_time", "date"),
)
ORDER_NAMES = ("shape_pt_sequence", "sequence", "seq", "point_seq", "point_index")


@dataclass(frozen=True)
class Columns:
    """Names of the columns of trajectories, and the coordinate system if the names imply it.

    `date` is the column with the day if `t` has only the time of day. `order` numbers the points of a trajectory.
    `geometry` holds points as text if there are no columns x and y.
    """

    x: str | None
    y: str | None
    t: str | None
    id: str | None
    user: str | None
    crs: str | None
    date: str | None = None
    order: str | None = None
    geometry: str | None = None

    @property
    def used(self) -> set[str]:
        """All columns with a known meaning. The other columns are extra columns."""
        return {name for key, name in asdict(self).items() if name is not None and key not in {"crs", "user"}}

    @property
    def placing(self) -> set[str | None]:
        """The columns that say where and when a point was."""
        return {self.x, self.y, self.t, self.date, self.geometry}


def find_columns(names: Sequence[str], given: Names | None = None) -> Columns:
    """Return the given columns, and the other columns by their usual names.

    If there is a column of users but none of trips, each user has one trajectory.

    >>> find_columns(["User ID", "Latitude", "Longitude", "UTC Time"]).user
    'User ID'
    >>> found = find_columns(["uid", "tid", "lat", "lng", "datetime"])
    >>> (found.user, found.id, found.x, found.crs)
    ('uid', 'tid', 'lng', 'EPSG:4326')
    """
    refuse_repeats(names)
    given = given or Names()
    for option, name in asdict(given).items():
        if name is not None and name not in names:
            raise InputError(
                f"there is no column {name!r} for {option}; the columns are {', '.join(map(str, names))}"
            )
    by_key: dict[str, str] = {}
    for name in names:
        if name not in asdict(given).values():
            by_key.setdefault(_key(name), name)

    def first(candidates: Sequence[str]) -> str | None:
        return next((by_key[key] for key in map(_key, candidates) if key in by_key), None)

    x, y, crs = _axes(first, given)
    geometry = first(GEOMETRY_NAMES) if x is None or y is None else None
    if geometry is None and (x is None or y is None):
        missing = " and ".join(
            f"{axis} ({', '.join((*planar, *geographic))})"
            for axis, found, planar, geographic in zip("xy", (x, y), PLANAR, GEOGRAPHIC, strict=True)
            if found is None and first((*planar, *geographic)) is None
        )
        raise FormatError(
            f"no column for {missing or 'x and y of one kind'}; the columns are {', '.join(map(str, names))}; "
            "name them with x and y (--x, --y)"
        )
    t = given.t or first(TIME_NAMES)
    date = first(("date",)) if t is not None and _key(t) in {"time", "localtime", "utctime"} else None
    user = given.user or user_column(names)
    return Columns(
        x, y, t, given.id or first(TRIP_NAMES) or user, user, crs, date, first(ORDER_NAMES), geometry
    )


def _axes(
    first: Callable[[Sequence[str]], str | None], given: Names
) -> tuple[str | None, str | None, str | None]:
    """Return the columns of x and y, and the coordinate system that their names imply."""
    degrees = {_key(name) for name in (*GEOGRAPHIC[0], *GEOGRAPHIC[1])}
    for x_names, y_names in (PLANAR, GEOGRAPHIC):
        x, y = given.x or first(x_names), given.y or first(y_names)
        if x is not None and y is not None:
            return x, y, WGS84 if {_key(x), _key(y)} <= degrees else None
    return given.x, given.y, None


def user_column(names: Sequence[str]) -> str | None:
    """Return the column that names users, by its usual name.

    >>> user_column(["mode", "User ID"])
    'User ID'
    """
    wanted = [_key(known) for known in USER_NAMES]
    return min(
        (name for name in names if _key(name) in wanted),
        key=lambda name: wanted.index(_key(name)),
        default=None,
    )


def may_own(name: str) -> bool:
    """Whether a column with this name may name the owner of trips.

    >>> may_own("Taxi ID"), may_own("vehicle"), may_own("mode")
    (True, True, False)
    """
    key = _key(name)
    owners = {_key(known).removesuffix("id") for known in (*OWNER_NAMES, *USER_NAMES)}
    return any(key.removesuffix(ending) in owners for ending in ("", "id", "no", "nr", "number", "name"))


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise FormatError(f"there are several columns named {', '.join(repeated)}")


def _key(name: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(name).lower())
