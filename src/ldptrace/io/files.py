"""Read and write files of trajectories. The extension, the name of the format or the content decides the format."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.atomic import atomic_path, is_stream, together
from ldptrace.core.columns import user_column
from ldptrace.core.crs import transform
from ldptrace.core.reading import CUT, Names, Outside, Reading
from ldptrace.core.trajectories import WHOLE, Trajectories
from ldptrace.core.words import count
from ldptrace.errors import DataWarning, InputError, NothingUsable
from ldptrace.io import formats
from ldptrace.io.account import Account, Owners, Parsed, in_memory, naming
from ldptrace.io.clean import clean
from ldptrace.io.formats import STDIN, files_of
from ldptrace.io.provenance import read_beside, write_beside
from ldptrace.protocol.grid import Bounds

PathLike = str | os.PathLike[str]


def read(
    path: Any,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: Outside = CUT,
    min_points: int = 0,
    x: str | None = None,
    y: str | None = None,
    t: str | None = None,
    id: str | None = None,
    user: str | None = None,
    timezone: str | None = None,
    split_gap: float | None = None,
    month_first: bool = False,
) -> Trajectories:
    """Read trajectories from a file, a folder or archive of files in one format, or standard input ("-").

    A pandas, GeoPandas or MovingPandas data frame, or an Arrow table, can be given instead of a path.

    - `format`: the format of the file; by default recognised by extension or content.
    - `x`, `y`, `t`, `id`, `user`: the names of columns; by default columns are recognised by their usual names.
    - `crs`: the coordinate system, such as "EPSG:4326".
    - `timezone`: the time zone of times that do not state a zone, and of hours of the day; by default the zone that
      the file states.
    - `month_first`: whether dates such as 05/04/2026 begin with the month; by default the day is first.
    - `split_gap`: cut a trajectory between two points that are more than this many seconds apart.
    - `min_points`: omit trajectories with fewer points than this.
    - `bounds`: a rectangle (x0, y0, x1, y1).
    - `outside`: what happens to trips that leave the bounds. "cut" (the default) cuts them at the border, "drop" omits
      them, and "clamp" moves their outer points to the border.

    Points without valid coordinates are omitted. A trajectory without points is kept, as a device without a trip. If
    the file has a column of times, a missing time is NaN. The function `ldptrace.io.read_with_account` also returns how
    many points and trajectories were omitted, and why.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trips.csv")
    ...     _ = path.write_text("trip_id,lon,lat\\n7,13.4,52.5\\n7,13.5,52.6\\n")
    ...     trips = read(path)
    >>> trips.ids.tolist(), trips.points, trips.crs
    ([7], 2, 'EPSG:4326')
    """
    names = Names(x, y, t, id, user)
    reading = Reading(format, crs, names, timezone, bounds, outside, min_points, split_gap, month_first)
    return read_with_account(path, reading)[0]


def read_with_account(path: Any, reading: Reading | None = None) -> tuple[Trajectories, Account]:
    """Do the same as `read`, and also return an account of what was omitted and why."""
    reading = reading or Reading()
    if isinstance(path, str | os.PathLike):
        source, name = Path(path), "standard input" if str(path) == STDIN else str(path)
        kind, (trajectories, account) = _from_path(source, reading)
    else:
        name = type(path).__name__
        source, kind, (trajectories, account) = Path(name), "table", in_memory(path, reading)
    if reading.crs is not None:
        trajectories = replace(trajectories, crs=reading.crs)
    with naming(source):
        if reading.split_gap is not None:
            trajectories = trajectories.split(reading.split_gap)
            note = f"cut at gaps over {reading.split_gap:g} s into {count(len(trajectories), 'trajectory')}"
            account += Account(notes=(note,))
        kept, account = clean((trajectories, account + Account(owners=Owners.of(trajectories))), reading)
    if kept.t is not None:
        stated = kept.timezone or dict(kept.provenance or {}).get("timezone")
        kept = replace(kept, timezone=reading.timezone or stated)
    return kept, account.finished(kept, name, kind)


def refuse_unnamed_users(trajectories: Trajectories, source: Path | str) -> None:
    """Raise an error if trips may have users that nobody named: in a file without columns, such as GeoJSON, a property
    of single trips names none."""
    columns = [] if trajectories.extra is None else trajectories.extra.column_names
    # Pieces of a trip belong to one device anyway.
    name = user_column([name for name in columns if name != WHOLE or trajectories.trips is None])
    if trajectories.user is None and name is not None:
        raise InputError(
            f"{source}: {name} may name users: give --user {name}, or, if each trip counts, --unit trip, or a file "
            "without it"
        )


def write(trajectories: Any, path: PathLike, *, format: str | None = None) -> None:
    """Write trajectories, or a data frame of trajectories, to a file.

    The privacy promise of synthetic trips is stored in the file. If the format has no place for a promise, the
    promise is stored in a second file beside the first. If writing fails, no incomplete file remains.
    """
    target = Path(path)
    if not isinstance(trajectories, Trajectories):
        trajectories = trajectories_of(trajectories)
    kind = formats.for_writing(target, format)
    if trajectories.with_all_times().t is not trajectories.t:
        if np.isfinite(trajectories.t).any():
            missing = count(int(np.count_nonzero(~np.isfinite(trajectories.t))), "point")
            said = f"times omitted, because {missing} of {trajectories.points:,} have none"
            warnings.warn(said, DataWarning, stacklevel=2)
        trajectories = trajectories.with_all_times()
    for name in ("x", "y", "t"):
        values = getattr(trajectories, name)
        if values is not None and len(values) and not np.isfinite([values.min(), values.max()]).all():
            raise InputError(f"cannot write {target}: column {name} holds values that are not finite")
    empty = 0 if kind.holds_empty else int(np.count_nonzero(trajectories.sizes == 0))
    if empty:
        said = f"{count(empty, 'trajectory')} without points {'has' if empty == 1 else 'have'} no row in {target}"
        warnings.warn(said, DataWarning, stacklevel=2)
    write_sets([trajectories], target, format)


def write_sets(sets: Iterable[Trajectories], target: Path, format: str | None = None) -> int:
    """Write sets one after the other to one file, and their promise beside it if the format has no place for a promise.
    If writing fails, the files are as they were before. Returns the number of trajectories."""
    kind = formats.for_writing(target, format)
    promise: Mapping[str, Any] | None = None
    number = 0
    with together():
        with atomic_path(target) as temporary, kind.open(temporary) as write_set:
            for each in sets:
                promise, number = each.provenance, number + len(each)
                write_set(each)
        if not is_stream(target):
            write_beside(target, None if kind.holds_promise else promise)
    return number


def trajectories_of(data: Any, *, private: bool = False) -> Trajectories:
    """Get trajectories from any input: trajectories, a data frame, an Arrow table, or the name of a file.

    Omitted data gives a warning with the same text as the account of a command. For a simulation of devices the data is
    `private`, and nothing about all of it may be decided by single trajectories.
    """
    if isinstance(data, Trajectories) and data.points == 0:
        return data
    trajectories, account = read_with_account(data)
    if private:
        refuse_unnamed_users(trajectories, account.source)
    if isinstance(data, Trajectories):
        # Of a file that was read before, it was said then.
        account = replace(account, owners=Owners())
    if account.is_notable:
        warnings.warn(account.line(), DataWarning, stacklevel=3)
    return trajectories


def _from_path(source: Path, reading: Reading) -> tuple[str, Parsed]:
    """Return the name of the format of a file, and what was read from it."""
    with files_of(source, reading.format) as (kind, files):
        given = reading.names
        if (given != Names() if not kind.described else given.x or given.y) and not kind.tabular:
            raise InputError(f"{source}: only tables have columns to name, and this is {kind.name}")
        if len(files) == 1 and files[0].stat().st_size == 0:
            raise NothingUsable(f"{source}: the file is empty")
        trips, account = kind.read(files, reading)
        if not kind.holds_promise and len(files) == 1:
            with naming(source):
                promised, notes = read_beside(files[0])
            trips, account = replace(trips, provenance=promised), account + Account(notes=tuple(notes))
    return kind.name, (trips, account)


def project(trajectories: Trajectories, crs: str) -> Trajectories:
    """Return the trajectories in the coordinate system `crs`, for example "EPSG:3857"."""
    if trajectories.crs is None:
        raise InputError("the coordinate system of these trajectories is not known; give it with crs")
    x, y = transform(trajectories.x, trajectories.y, trajectories.crs, crs)
    return replace(trajectories, x=x, y=y, crs=crs)


def stated_crs(path: Path, format: str | None = None) -> str | None:
    """Return the coordinate system that the format or the metadata of a file states, or None.

    It does not depend on the points, so a device may refuse a file for its coordinate system.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     empty = Path(folder, "empty.geojson")
    ...     _ = empty.write_text("")
    ...     stated_crs(empty)
    'EPSG:4326'
    """
    with files_of(path, format) as (kind, files), suppress(InputError, ValueError, OSError):
        return kind.stated_crs(files[0])
    return None
