"""Read and write trajectory files; the format is chosen by the extension, by name, or by what the file shows."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.columns import Names
from ldptrace.core.times import zone
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import DataWarning, InputError, NothingUsable
from ldptrace.io import formats
from ldptrace.io.atomic import atomic_path, is_stream
from ldptrace.io.clean import clean, finite
from ldptrace.io.held import held
from ldptrace.io.provenance import read_beside, write_beside
from ldptrace.io.report import Parsed, Reading, ReadReport, by_reason, count, naming
from ldptrace.io.sources import STDIN, files_of
from ldptrace.protocol.grid import Bounds, checked_bounds

PathLike = str | os.PathLike[str]


def read(
    path: Any,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = "drop",
    min_points: int = 1,
    x: str | None = None,
    y: str | None = None,
    t: str | None = None,
    id: str | None = None,
    user: str | None = None,
    timezone: str | None = None,
    split_gap: float | None = None,
) -> Trajectories:
    """Trajectories of a file, of a folder of files of one format, of an archive, or of a pipe ("-": stdin).

    A data frame (pandas, geopandas, movingpandas) or an Arrow table is read in the same way.

    Columns of tables are found by their usual names, unless `x`, `y`, `t`, `id` and `user` name them. Times
    that say no zone are the clocks of `timezone`. `split_gap` cuts where time goes on by more seconds.

    Points that are not numbers are left out, and so are trajectories with fewer than `min_points` points.
    Trajectories that leave the `bounds` are left out (`outside="drop"`), or their points are moved to the
    border (`"clamp"`). `read_with_report` says how many.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trips.csv")
    ...     _ = path.write_text("trip_id,lon,lat\\n7,13.4,52.5\\n7,13.5,52.6\\n")
    ...     trips = read(path)
    >>> trips.ids.tolist(), trips.points, trips.crs
    ([7], 2, 'EPSG:4326')
    """
    return read_with_report(
        path,
        format=format,
        crs=crs,
        bounds=bounds,
        outside=outside,
        min_points=min_points,
        names=Names(x, y, t, id, user),
        timezone=timezone,
        split_gap=split_gap,
    )[0]


def read_with_report(
    path: Any,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = "drop",
    min_points: int = 1,
    names: Names | None = None,
    timezone: str | None = None,
    split_gap: float | None = None,
) -> tuple[Trajectories, ReadReport]:
    """As `read`, with an account of what was left out and why."""
    if outside not in {"drop", "clamp"}:
        raise InputError(f"outside must be 'drop' or 'clamp', got {outside!r}")
    if min_points < 0:
        raise InputError(f"min_points must not be negative, got {min_points}")
    if split_gap is not None and not split_gap > 0:
        raise InputError(f"a gap to cut at must be longer than 0 s, got {split_gap}")
    if timezone is not None:
        zone(timezone)
    box = None if bounds is None else checked_bounds(bounds)
    reading = Reading(names or Names(), timezone, single=split_gap is not None)
    if isinstance(path, str | os.PathLike):
        source, name, kind, parsed = _from_path(Path(path), format, reading)
    else:
        source, name, kind, parsed = (
            Path(type(path).__name__),
            type(path).__name__,
            "table",
            held(path, reading),
        )
    if crs is not None:
        parsed = replace(parsed, trajectories=replace(parsed.trajectories, crs=crs))
    with naming(source):
        if split_gap is not None:
            parsed = _cut(parsed, split_gap)
        parsed = clean(parsed, bounds=box, outside=outside, min_points=min_points)
    kept = parsed.trajectories
    if timezone is not None and kept.t is not None:
        kept = replace(kept, timezone=timezone)
    report = ReadReport(
        name,
        kind,
        parsed.rows,
        len(kept),
        kept.points,
        parsed.dropped,
        parsed.dropped_points,
        parsed.notes,
        parsed.clamped,
    )
    return kept, report


def write(trajectories: Any, path: PathLike, *, format: str | None = None) -> None:
    """Write trajectories (or a data frame of them); the file appears whole or not at all.

    What was promised about them goes with them: into the file, or beside it where the format has no place.
    """
    target = Path(path)
    if not isinstance(trajectories, Trajectories):
        trajectories = trajectories_of(trajectories)
    kind = formats.for_writing(target, format)
    for name in ("x", "y", "t"):
        values = getattr(trajectories, name)
        if values is not None and len(values) and not np.isfinite([values.min(), values.max()]).all():
            raise InputError(f"cannot write {target}: column {name} holds values that are not finite")
    assert kind.write is not None
    with atomic_path(target) as temporary:
        kind.write(trajectories, temporary)
    if not is_stream(target):
        write_beside(target, None if kind.holds_promise else trajectories.provenance)


def trajectories_of(data: Any) -> Trajectories:
    """What somebody holds as trajectories: they themselves, a data frame, an Arrow table, or a file's name.

    Points that are no finite numbers are left out with a warning, as every reader leaves them out.
    """
    if isinstance(data, Trajectories):
        found, dropped = finite(data)
        left_out = [f"{count(sum(dropped.values()), 'point')} ({by_reason(dropped)})"] if dropped else []
    else:
        found, report = read_with_report(data)
        left_out = report.left_out()
    if left_out:
        warnings.warn(f"left out {' and '.join(left_out)}", DataWarning, stacklevel=3)
    return found


def _from_path(source: Path, format: str | None, reading: Reading) -> tuple[Path, str, str, Parsed]:
    with files_of(source, format) as (kind, files):
        if reading.names != Names() and not kind.tabular:
            raise InputError(f"{source}: only tables have columns to name, and this is {kind.name}")
        if len(files) == 1 and files[0].stat().st_size == 0:
            raise NothingUsable(f"{source}: the file is empty")
        parsed = kind.read(files, reading)
        if not kind.holds_promise and len(files) == 1:
            with naming(source):
                promised, said = read_beside(files[0])
            kept = replace(parsed.trajectories, provenance=promised)
            parsed = replace(parsed, trajectories=kept, notes=(*parsed.notes, *said))
    return source, "standard input" if str(source) == STDIN else str(source), kind.name, parsed


def _cut(parsed: Parsed, gap: float) -> Parsed:
    """Trajectories cut where time goes on by more than the gap."""
    parts = parsed.trajectories.split(gap)
    said = f"cut at gaps over {gap:g} s into {count(len(parts), 'trajectory')}"
    return replace(parsed, trajectories=parts, notes=(*parsed.notes, said))
