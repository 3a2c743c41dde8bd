"""Trajectories as ragged columns: x, y and optional t, cut into trajectories by offsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from ldptrace.core import frames, ragged
from ldptrace.core.arrays import Flags, Floats, Ints, make_columns
from ldptrace.core.columns import find_columns
from ldptrace.core.crs import is_geographic
from ldptrace.core.extras import needed
from ldptrace.core.layers import geometries_of, shapes_of
from ldptrace.core.positions import X, Y, are_lines, of_lines, of_points
from ldptrace.core.reading import Names
from ldptrace.core.tables import RaggedTable, read_table
from ldptrace.core.times import are_dates, zone
from ldptrace.core.values import column_of, common, pc
from ldptrace.core.words import count
from ldptrace.errors import InputError

ID = "traj_id"
# The column that says what a piece was cut from.
WHOLE = "whole_id"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One trajectory of a set, as a view of the columns of the set."""

    x: Floats
    y: Floats
    t: Floats | None = None
    id: int | None = None
    user: object = None

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        name = "" if self.id is None else f" {self.id}"
        return f"<Trajectory{name}: {count(len(self), 'point')}>"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories:
    """A set of trajectories, stored as columns of points.

    Trajectory `k` has the points from `offsets[k]` to `offsets[k + 1] - 1`.

    - `x`, `y`: the coordinates of each point.
    - `t`: the time of each point in seconds since 1970 in UTC. Times below 172,800 (two days) are seconds since local
      midnight. NaN means that the time of a point is missing.
    - `timezone`: the local time zone; None means UTC.
    - `crs`: the coordinate system, such as "EPSG:4326"; None means plane coordinates.
    - `ids`: the identifier of each trajectory in its data set.
    - `extra`: a table of further columns, with one row per trajectory.
    - `user`: the name of the column of `extra` that identifies the users.
    - `provenance`: the privacy promise of synthetic trips; None for real trips.
    - `trips`: for trips in pieces, such as those that were cut at the bounds, the number of the trip of each piece.

    >>> two = Trajectories.from_lists([[(0, 0), (1, 1)], [(5, 5)]])
    >>> len(two), two.points, two.sizes.tolist()
    (2, 3, [2, 1])
    >>> two
    <Trajectories: 2 trajectories, 3 points, no times, coordinate system not known>
    >>> [len(trip) for trip in two], two[1].x.tolist(), len(two[:1])
    ([2, 1], [5.0], 1)
    """

    x: Floats
    y: Floats
    offsets: Ints
    t: Floats | None = None
    ids: Ints | None = None
    crs: str | None = None
    extra: pa.Table | None = None
    user: str | None = None
    timezone: str | None = None
    provenance: Mapping[str, Any] | None = None
    trips: Ints | None = None

    def __post_init__(self) -> None:
        make_columns(self, np.float64, "x", "y", "t")
        make_columns(self, np.int64, "offsets", "ids", "trips")
        for name in ("y", "t"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.x):
                raise InputError(f"column {name} has {len(column)} points where x has {len(self.x)}")
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.x):
            raise InputError(f"offsets must run from 0 to the number of points, {len(self.x)}")
        if np.any(np.diff(self.offsets) < 0):
            raise InputError("offsets must not decrease")
        for name in ("ids", "trips"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self):
                raise InputError(f"there are {len(column)} {name} for {len(self)} trajectories")
        if self.extra is not None and self.extra.num_rows != len(self):
            raise InputError(f"extra columns have {self.extra.num_rows} rows for {len(self)} trajectories")
        if self.user is not None and (self.extra is None or self.user not in self.extra.column_names):
            raise InputError(f"the user column {self.user!r} is not among the extra columns")
        if self.timezone is not None:
            zone(self.timezone)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Trajectory]:
        return (self._one(number) for number in range(len(self)))

    @overload
    def __getitem__(self, which: int) -> Trajectory: ...

    @overload
    def __getitem__(self, which: slice | ArrayLike) -> Trajectories: ...

    def __getitem__(self, which: int | slice | ArrayLike) -> Trajectory | Trajectories:
        """Return one trajectory by its index, or several by a slice, a list of indices or a mask."""
        if isinstance(which, int | np.integer):
            if not -len(self) <= which < len(self):
                raise IndexError(f"there is no trajectory {which}, there are {len(self)}")
            return self._one(int(which) % len(self))
        return self.take(np.arange(len(self))[which] if isinstance(which, slice) else which)

    def _one(self, number: int) -> Trajectory:
        part = slice(self.offsets[number], self.offsets[number + 1])
        return Trajectory(
            self.x[part],
            self.y[part],
            None if self.t is None else self.t[part],
            None if self.ids is None else int(self.ids[number]),
            None if self.user is None or self.extra is None else self.extra[self.user][number].as_py(),
        )

    def _repr_html_(self) -> str:
        """Return a small map with a caption, for notebooks."""
        return frames.thumbnail(
            self.x, self.y, self.offsets, geographic=self.is_geographic, caption=repr(self)[1:-1]
        )

    def __repr__(self) -> str:
        parts = [count(len(self), "trajectory"), count(self.points, "point")]
        if self.user is not None:
            parts.append(f"of {len(np.unique(self.users)):,} users")
        timed = self.t is not None and not np.isnan(self.t).all()
        parts.append("no times" if not timed else "with dates" if self.has_dates else "with times of day")
        parts.append(self.crs or "coordinate system not known")
        if self.provenance is not None:
            parts.append(f"synthetic, epsilon {self.provenance.get('epsilon', 'not said')}")
        return f"<Trajectories: {', '.join(parts)}>"

    @property
    def users(self) -> Ints:
        """A number for each trajectory that identifies its user. Without a user column, each trip has its own user."""
        trips = np.arange(len(self)) if self.trips is None else self.trips
        if self.user is None or self.extra is None:
            return trips
        column = self.extra[self.user].combine_chunks()
        users: Ints = pc.dictionary_encode(column, null_encoding="encode").indices.to_numpy().astype(np.int64)
        # Who is not named is a user of their own, not all of them the same one.
        missing = column.is_null().to_numpy(zero_copy_only=False)
        users[missing] = len(users) + trips[missing]
        return users

    @property
    def trip_count(self) -> int:
        """Number of trips, where all pieces of one trip count as one."""
        return len(self) if self.trips is None else len(np.unique(self.trips))

    @property
    def has_dates(self) -> bool:
        """Whether times have a date: True for seconds since 1970, False for seconds of a day."""
        return are_dates(self.t)

    def with_all_times(self) -> Trajectories:
        """Return the set without times, unless each point has one."""
        return self if self.t is None or np.isfinite(self.t).all() else replace(self, t=None)

    @property
    def points(self) -> int:
        return len(self.x)

    @property
    def sizes(self) -> Ints:
        """Number of points of each trajectory."""
        return np.diff(self.offsets)

    @property
    def numbers(self) -> Ints:
        """The ids of the trajectories, or 0, 1, 2, ... if the trajectories have no ids."""
        return np.arange(len(self), dtype=np.int64) if self.ids is None else self.ids

    @property
    def is_geographic(self) -> bool:
        """Whether coordinates are longitude and latitude in degrees."""
        return is_geographic(self.crs)

    def bounds(self) -> tuple[float, float, float, float]:
        """Return the smallest rectangle around all points. For real trips, the rectangle reveals the outermost
        points."""
        if self.points == 0:
            raise InputError("a set without points has no bounds")
        return float(self.x.min()), float(self.y.min()), float(self.x.max()), float(self.y.max())

    def take(self, indices: ArrayLike) -> Trajectories:
        """Return the trajectories at these indices (numbers or a mask), in the order of the indices."""
        picked = np.asarray(indices)
        # A mask keeps the order, so a mask of points will do; their numbers would be eight times as large.
        if picked.dtype == np.bool_:
            source, picked = np.repeat(picked, self.sizes), np.flatnonzero(picked)
            offsets = ragged.offsets_of(self.sizes[picked])
        else:
            picked = picked.astype(np.int64)
            offsets, source = ragged.taken(self.offsets, picked)
        extra = None if self.extra is None else self.extra.take(pa.array(picked))
        return self._some(source, offsets, picked, extra)

    def part(self, start: int, stop: int) -> Trajectories:
        """Return the trajectories from index `start` up to, but not including, `stop`. Points are not copied."""
        first, last = self.offsets[start], self.offsets[stop]
        offsets = self.offsets[start : stop + 1] - first
        extra = None if self.extra is None else self.extra.slice(start, stop - start)
        return self._some(slice(first, last), offsets, slice(start, stop), extra)

    def _some(
        self, points: Flags | Ints | slice, offsets: Ints, rows: Ints | slice, extra: pa.Table | None
    ) -> Trajectories:
        return replace(
            self,
            x=self.x[points],
            y=self.y[points],
            offsets=offsets,
            t=None if self.t is None else self.t[points],
            ids=None if self.ids is None else self.ids[rows],
            extra=extra,
            trips=None if self.trips is None else self.trips[rows],
        )

    def keep_points(self, kept: Flags) -> Trajectories:
        """Return the trajectories with only the points in the mask.

        >>> log = Trajectories([0, 1, 2], [0, 0, 0], [0, 2, 3])
        >>> log.keep_points(np.array([True, False, False])).offsets.tolist()
        [0, 1, 1]
        """
        t = None if self.t is None else self.t[kept]
        return replace(self, x=self.x[kept], y=self.y[kept], t=t, offsets=ragged.kept(self.offsets, kept))

    def split(self, gap_seconds: float) -> Trajectories:
        """Cut trajectories between two points that are more than `gap_seconds` apart in time.

        The column `whole_id` of the result identifies the trajectory that each part was cut from.

        >>> log = Trajectories([0, 1, 2], [0, 0, 0], [0, 3], t=[0, 60, 4000], ids=[7])
        >>> parts = log.split(900)
        >>> parts.offsets.tolist(), parts.extra["whole_id"].to_pylist()
        ([0, 2, 3], [7, 7])
        """
        if self.t is None:
            raise InputError("these trajectories have no times, so they cannot be cut at gaps")
        cuts = np.flatnonzero(np.diff(self.t) > gap_seconds) + 1
        # An empty trajectory shares its offset with the next one; np.unique would lose it.
        inner = np.setdiff1d(cuts, self.offsets)
        place = np.searchsorted(self.offsets, inner)
        owner = np.sort(np.concatenate((np.arange(len(self)), place - 1)))
        # The parts of one log are one person's, so that cutting it does not multiply what they give away.
        return replace(
            self,
            offsets=np.insert(self.offsets, place, inner),
            ids=None,
            extra=self.pieces_of(owner),
            user=self.user or WHOLE,
            trips=None if self.trips is None else self.trips[owner],
        )

    def pieces_of(self, owner: Ints) -> pa.Table:
        """Return the extra columns for pieces of these trajectories, with a column `whole_id` that names the whole
        trajectory."""
        whole = pa.array(owner if self.ids is None else self.ids[owner])
        if self.extra is None:
            return pa.table({WHOLE: whole})
        extra = self.extra.take(pa.array(owner))
        return extra if WHOLE in extra.column_names else extra.append_column(WHOLE, whole)

    @staticmethod
    def concat(parts: Sequence[Trajectories]) -> Trajectories:
        """Join several sets of trajectories. Times and ids are kept if every set has them."""
        if not parts:
            return Trajectories(np.empty(0), np.empty(0), np.zeros(1, dtype=np.int64))
        labels = {part.crs for part in parts}
        if len(labels) > 1:
            raise InputError(
                f"sets of different coordinate systems cannot be joined: {sorted(map(str, labels))}"
            )
        starts = ragged.offsets_of([part.points for part in parts])
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
        times = [part.t for part in parts if part.t is not None]
        ids = [part.ids for part in parts if part.ids is not None]
        extras = [part.extra for part in parts if part.extra is not None]
        same_columns = len(extras) == len(parts) and len({tuple(extra.column_names) for extra in extras}) == 1
        return Trajectories(
            x=np.concatenate([part.x for part in parts]),
            y=np.concatenate([part.y for part in parts]),
            offsets=np.concatenate([*offsets, starts[-1:]]),
            t=np.concatenate(times) if len(times) == len(parts) else None,
            ids=np.concatenate(ids) if len(ids) == len(parts) else None,
            crs=parts[0].crs,
            extra=pa.concat_tables(extras, promote_options="permissive") if same_columns else None,
            user=common([part.user for part in parts]) if same_columns else None,
            timezone=common([part.timezone for part in parts]),
            # A promise about a part is none about the whole.
            provenance=common([part.provenance for part in parts]),
            trips=ragged.joined_pieces([len(part) for part in parts], [part.trips for part in parts]),
        )

    @staticmethod
    def from_lists(
        trajectories: Sequence[Sequence[tuple[float, float]]], *, crs: str | None = None
    ) -> Trajectories:
        """Make trajectories from Python lists of points (x, y)."""
        flat = [point for trajectory in trajectories for point in trajectory]
        columns = np.array(flat, dtype=np.float64).reshape(-1, 2)
        offsets = ragged.offsets_of([len(trajectory) for trajectory in trajectories])
        return Trajectories(columns[:, 0], columns[:, 1], offsets, crs=crs)

    @staticmethod
    def from_table(table: RaggedTable, *, timezone: str | None = None) -> Trajectories:
        """Make trajectories from the columns of a table, as `ldptrace.core.tables.read_table` finds them."""
        columns = (table.x, table.y, table.offsets, table.t, table.ids, table.crs, table.extra, table.user)
        timezone = None if table.t is None else timezone or table.timezone
        return Trajectories(*columns, timezone=timezone, trips=table.trips)

    @staticmethod
    def from_arrow(
        table: pa.Table,
        *,
        names: Names | None = None,
        crs: str | None = None,
        timezone: str | None = None,
    ) -> Trajectories:
        """Make trajectories from an Arrow table with one row per point, or one row per trajectory with lists `x`,
        `y`, `t`.

        Columns are recognised by their usual names, or by the names in the argument `names`. If the table has a column
        `t0` of start times, they are added to the times `t`.
        """
        trips = Trajectories.from_table(read_table(table, names=names, timezone=timezone), timezone=timezone)
        return trips if crs is None else replace(trips, crs=crs)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per trajectory: id, lists of x, y and t, and extra columns."""
        large = self.points > np.iinfo(np.int32).max
        array_type = pa.LargeListArray if large else pa.ListArray
        offsets = column_of(self.offsets if large else self.offsets.astype(np.int32))
        columns = {"traj_id": column_of(self.numbers)}
        for name in ("x", "y", "t"):
            values = getattr(self, name)
            if values is not None:
                columns[name] = array_type.from_arrays(offsets, column_of(values))
        if self.extra is not None:
            columns |= {name: self.extra[name] for name in self.extra.column_names if name not in columns}
        return pa.table(columns)

    @staticmethod
    def from_pandas(
        frame: Any,
        *,
        x: str | None = None,
        y: str | None = None,
        t: str | None = None,
        id: str | None = None,
        user: str | None = None,
        crs: str | None = None,
        timezone: str | None = None,
    ) -> Trajectories:
        """Make trajectories from a data frame with one row per point.

        Columns are recognised by their usual names, unless `x`, `y`, `t`, `id` or `user` gives another name.
        """
        names = Names(x, y, t, id, user)
        trips = Trajectories.from_arrow(frames.table_of(frame), names=names, crs=crs, timezone=timezone)
        return replace(trips, provenance=frames.promised(frame))

    @staticmethod
    def from_geopandas(
        frame: Any,
        *,
        t: str | None = None,
        id: str | None = None,
        user: str | None = None,
        timezone: str | None = None,
    ) -> Trajectories:
        """Make trajectories from a GeoDataFrame of points (one row per point) or of lines (each line is a
        trajectory)."""
        kinds = set(frame.geom_type.dropna())
        if not kinds <= frames.SHAPES:
            held = ", ".join(sorted(kinds))
            raise InputError(f"a GeoDataFrame of points or of lines is needed, this one holds {held}")
        geometry = frame.geometry
        table = frames.table_of(needed("pandas").DataFrame(frame.drop(columns=geometry.name)))
        shapes = shapes_of(pa.chunked_array([pa.array(geometry.to_wkb(), pa.binary())]))
        own = ID in frame.columns and frame[ID].is_unique
        columns = find_columns(list(dict.fromkeys([X, Y, *table.column_names])), Names(t=t, id=id, user=user))
        if own or not kinds or are_lines(table, shapes, columns, "a GeoDataFrame"):
            table, t = of_lines(table, shapes, t)
        else:
            table, t = of_points(table, shapes, columns.t)
        names = Names(X, Y, t, id, user)
        trips = Trajectories.from_arrow(table, names=names, timezone=timezone)
        if trips.ids is not None and len(np.unique(trips.ids)) < len(trips.ids):
            trips = replace(trips, ids=None)
        return replace(trips, crs=frames.label(frame.crs), provenance=frames.promised(frame))

    @staticmethod
    def from_movingpandas(collection: Any) -> Trajectories:
        """Make trajectories from a Trajectory or a TrajectoryCollection of MovingPandas."""
        several = hasattr(collection, "to_point_gdf") and hasattr(collection, "trajectories")
        frame = collection.to_point_gdf() if several else collection.df
        name = collection.get_traj_id_col() if several else collection.traj_id_col_name
        return Trajectories.from_geopandas(frame, id=name)

    def to_pandas(self) -> Any:
        """Return a data frame with one row per point: id, coordinates, time and extra columns.

        Times with a date become date-times in UTC; times of a day stay seconds.
        """
        pandas = needed("pandas")
        axes = ("lon", "lat") if self.is_geographic else ("x", "y")
        columns: dict[str, Any] = {ID: np.repeat(self.numbers, self.sizes), axes[0]: self.x, axes[1]: self.y}
        if self.t is not None:
            columns["t"] = frames.moments(self.t) if self.has_dates else self.t
        owner = ragged.owners(self.offsets)
        if self.extra is not None:
            further = {name: self.extra[name] for name in self.extra.column_names if name not in columns}
            columns |= {name: column.to_pandas().to_numpy()[owner] for name, column in further.items()}
        return self._marked(pandas.DataFrame(columns))

    def to_geopandas(self) -> Any:
        """Return a GeoDataFrame with one line per trajectory, and its times as arrays of seconds in the column `t`.

        A trajectory with one point becomes a Point, and an empty trajectory has no geometry.
        """
        columns: dict[str, Any] = {ID: self.numbers}
        if self.t is not None:
            columns["t"] = np.empty(len(self), dtype=object)
            columns["t"][:] = np.split(self.t, self.offsets[1:-1])
        if self.extra is not None:
            columns |= {name: self.extra[name].to_pandas() for name in self.extra.column_names}
        geometry = geometries_of(self.x, self.y, self.offsets)
        return self._marked(needed("geopandas").GeoDataFrame(columns, geometry=geometry, crs=self.crs))

    def to_movingpandas(self, *, date: str | None = None) -> Any:
        """Return a TrajectoryCollection of MovingPandas.

        Times without a date become times on the day that `date` gives, by default 1970-01-01.
        """
        if self.t is None:
            raise InputError("movingpandas needs times, and these trajectories have none")
        moving, geopandas = needed("movingpandas"), needed("geopandas")
        frame = self.to_pandas()
        x, y = ("lon", "lat") if self.is_geographic else ("x", "y")
        geometry = geopandas.points_from_xy(frame[x], frame[y], crs=self.crs)
        # movingpandas wants the moments without a zone.
        moments = frames.moments(self.t, date).tz_localize(None)
        points = geopandas.GeoDataFrame(frame.drop(columns=[x, y, "t"]), geometry=geometry)
        return moving.TrajectoryCollection(points.set_index(moments.rename("t")), ID)

    def _marked(self, frame: Any) -> Any:
        """Return the frame with the privacy promise in its attributes."""
        if self.provenance is not None:
            frame.attrs[frames.PROMISE] = dict(self.provenance)
        return frame
