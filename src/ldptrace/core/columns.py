"""Find the columns of a table by their usual names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

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
GEOMETRY_NAMES = (
    *("geometry", "geom", "the_geom", "wkt", "wkt_geom", "geojson", "linestring", "point", "location"),
    *("position", "points", "coordinates"),
)
# The cell of H3 of a point, and the cells of a whole trajectory.
CELL_NAMES = ("h3", "h3_cell", "h3_index", "h3_id", "h3_address", "hex", "hex_id", "hexagon")
CELLS_NAMES = (
    *("h3_cells", "h3_indexes", "h3_sequence", "h3_path"),
    *("cells", "cell_sequence", "hexes", "hexagons"),
)
# Where trips begin and end: a word before or after an axis or a time. Words between say nothing more.
ENDS = (
    *(("pickup", "dropoff"), ("origin", "destination"), ("orig", "dest"), ("start", "end"), ("begin", "end")),
    *(("start", "stop"), ("from", "to"), ("source", "target"), ("departure", "arrival"), ("o", "d")),
)
BETWEEN = "(centroid|station|location|point|pos|coord)?"
END_TIME = "(tpep|lpep|trip)?{}(ed)?(datetime|timestamp|time|date|at|ts|t)"
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
    If there are no columns x and y, `ends` are x, y and t of the first and of the last point of trips of two points,
    `geometry` holds points or lines as text, `cells` the cells of H3 of a trajectory, or `cell` the one of a point.
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
    cells: str | None = None
    cell: str | None = None
    ends: tuple[str | None, ...] = ()

    @property
    def used(self) -> set[str]:
        """All columns with a known meaning. The other columns are extra columns."""
        return {name for name in (*self.placing, self.id, self.order) if name is not None}

    @property
    def placing(self) -> set[str | None]:
        """The columns that say where and when a point was."""
        return {self.x, self.y, self.t, self.date, self.geometry, self.cells, self.cell, *self.ends}


def find_columns(names: Sequence[str], given: Names | None = None) -> Columns:
    """Return the given columns, and the other columns by their usual names.

    If there is a column of users but none of trips, each user has one trajectory.

    >>> find_columns(["User ID", "Latitude", "Longitude", "UTC Time"]).user
    'User ID'
    >>> columns = find_columns(["uid", "tid", "lat", "lng", "datetime"])
    >>> (columns.user, columns.id, columns.x, columns.crs)
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
            by_key.setdefault(key_of(name), name)

    def first(candidates: Sequence[str]) -> str | None:
        return next((by_key[key] for key in map(key_of, candidates) if key in by_key), None)

    x, y, crs = _axes(first, given)
    t, user = given.t or first(TIME_NAMES), given.user or user_column(names)
    columns = Columns(x, y, t, given.id or first(TRIP_NAMES) or user, user, crs)
    if (x is None or y is None) and (ends := _ends(by_key)):
        if given.t is not None:
            raise InputError(
                f"t cannot name {given.t!r}: a row has two points and two times, in columns such as {ends[0]}; name "
                "those of the times like start_time and end_time"
            )
        return replace(columns, t=None, crs=WGS84 if _in_degrees(ends[0], ends[1]) else None, ends=ends)
    if x is None or y is None:
        if given.x is not None and given.y is None:
            columns, x = replace(columns, x=None, crs=None, geometry=given.x), None
        elif (name := first(GEOMETRY_NAMES)) is not None:
            columns = replace(columns, crs=None, geometry=name)
        elif (name := first(CELLS_NAMES)) is not None:
            columns = replace(columns, crs=WGS84, cells=name)
        elif (name := first(CELL_NAMES)) is not None:
            columns = replace(columns, crs=WGS84, cell=name)
    if columns.placing <= {x, y, t, None} and (x is None or y is None):
        missing = " and ".join(
            f"{axis} ({', '.join((planar[0], *geographic[:3]))}, ...)"
            for axis, column, planar, geographic in zip("xy", (x, y), PLANAR, GEOGRAPHIC, strict=True)
            if column is None and first((*planar, *geographic)) is None
        )
        raise FormatError(
            f"no column for {missing or 'x and y of one kind'}; the columns are {', '.join(map(str, names))}; "
            "name them with x and y (--x, --y), or with --x alone a column of points or lines as WKT or GeoJSON"
        )
    date = first(("date",)) if t is not None and key_of(t) in {"time", "localtime", "utctime"} else None
    return replace(columns, date=date, order=first(ORDER_NAMES))


def _ends(by_key: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return the columns x, y and t of the first and the last point of trips of two points, or nothing. There are
    times if both points have one.

    >>> keys = ("pickuplongitude", "pickuplatitude", "dropofflongitude", "dropofflatitude", "tpeppickupdatetime")
    >>> _ends({key: key for key in keys})
    ('pickuplongitude', 'pickuplatitude', None, 'dropofflongitude', 'dropofflatitude', None)
    """

    def first(form: str) -> str | None:
        return next((name for key, name in by_key.items() if re.fullmatch(form, key)), None)

    def place(word: str, names: Sequence[str]) -> str | None:
        axis = f"({'|'.join(map(key_of, names))})"
        return first(f"{word}{BETWEEN}{axis}|{axis}{BETWEEN}{word}")

    both = ((first(END_TIME.format(begin)), first(END_TIME.format(end))) for begin, end in ENDS)
    t = next((times for times in both if None not in times), (None, None))
    for words in ENDS:
        for axes in (PLANAR, GEOGRAPHIC):
            places = [tuple(place(word, names) for names in axes) for word in words]
            if all(None not in pair for pair in places):
                return (*places[0], t[0], *places[1], t[1])
    return ()


def _in_degrees(*names: object) -> bool:
    """Whether the names of columns say that they hold longitude or latitude."""
    axes = tuple(key_of(name) for axis in GEOGRAPHIC for name in axis)
    return all(key_of(name).startswith(axes) or key_of(name).endswith(axes) for name in names)


def _axes(
    first: Callable[[Sequence[str]], str | None], given: Names
) -> tuple[str | None, str | None, str | None]:
    """Return the columns of x and y, and the coordinate system that their names imply."""
    degrees = {key_of(name) for axis in GEOGRAPHIC for name in axis}
    for x_names, y_names in (PLANAR, GEOGRAPHIC):
        x, y = given.x or first(x_names), given.y or first(y_names)
        if x is not None and y is not None:
            return x, y, WGS84 if {key_of(x), key_of(y)} <= degrees else None
    return given.x, given.y, None


def user_column(names: Sequence[str]) -> str | None:
    """Return the column that names users, by its usual name.

    >>> user_column(["mode", "User ID"])
    'User ID'
    """
    by_key = {key_of(name): name for name in reversed(names)}
    return next((by_key[key] for key in map(key_of, USER_NAMES) if key in by_key), None)


def may_own(name: str) -> bool:
    """Whether a column with this name may name the owner of trips.

    >>> may_own("Taxi ID"), may_own("vehicle"), may_own("mode")
    (True, True, False)
    """
    key = key_of(name)
    owners = {key_of(known).removesuffix("id") for known in (*OWNER_NAMES, *USER_NAMES)}
    return any(key.removesuffix(ending) in owners for ending in ("", "id", "no", "nr", "number", "name"))


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise FormatError(f"there are several columns named {', '.join(repeated)}")


def key_of(name: object) -> str:
    """Return the letters and digits of a name, by which columns are compared."""
    return re.sub(r"[^a-z0-9]", "", str(name).lower())
