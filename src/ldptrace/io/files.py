"""Read and write trajectory files; the format is chosen by the extension or by name."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import formats
from ldptrace.io.atomic import atomic_path
from ldptrace.io.clean import Bounds, clean
from ldptrace.io.provenance import read_beside, write_beside
from ldptrace.io.report import ReadReport, naming

PathLike = str | os.PathLike[str]


def read(
    path: PathLike,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = "drop",
    min_points: int = 1,
) -> Trajectories:
    """Trajectories of a file, or of a folder of files of one format.

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
        path, format=format, crs=crs, bounds=bounds, outside=outside, min_points=min_points
    )[0]


def read_with_report(
    path: PathLike,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = "drop",
    min_points: int = 1,
) -> tuple[Trajectories, ReadReport]:
    """As `read`, with an account of what was left out and why."""
    if outside not in {"drop", "clamp"}:
        raise InputError(f"outside must be 'drop' or 'clamp', got {outside!r}")
    if min_points < 0:
        raise InputError(f"min_points must not be negative, got {min_points}")
    if bounds is not None:
        bounds = _checked(bounds)
    source = Path(path)
    kind, files = formats.locate(source, format)
    if len(files) == 1 and files[0].stat().st_size == 0:
        raise InputError(f"{files[0]}: the file is empty")
    parsed = kind.read(files)
    if not kind.holds_promise and len(files) == 1:
        with naming(source):
            promised, said = read_beside(files[0])
        kept = replace(parsed.trajectories, provenance=promised)
        parsed = replace(parsed, trajectories=kept, notes=(*parsed.notes, *said))
    if crs is not None:
        parsed = replace(parsed, trajectories=replace(parsed.trajectories, crs=crs))
    with naming(source):
        parsed = clean(parsed, bounds=bounds, outside=outside, min_points=min_points)
    kept = parsed.trajectories
    report = ReadReport(
        str(source),
        kind.name,
        parsed.rows,
        len(kept),
        kept.points,
        parsed.dropped,
        parsed.dropped_points,
        parsed.notes,
    )
    return kept, report


def write(trajectories: Trajectories, path: PathLike, *, format: str | None = None) -> None:
    """Write trajectories; the file appears whole or not at all.

    What was promised about them goes with them: into the file, or beside it where the format has no place.
    """
    target = Path(path)
    kind = formats.for_writing(target, format)
    for name in ("x", "y", "t"):
        values = getattr(trajectories, name)
        if values is not None and len(values) and not np.isfinite([values.min(), values.max()]).all():
            raise InputError(f"cannot write {target}: column {name} holds values that are not finite")
    assert kind.write is not None
    with atomic_path(target) as temporary:
        kind.write(trajectories, temporary)
    write_beside(target, None if kind.holds_promise else trajectories.provenance)


def _checked(bounds: Bounds) -> Bounds:
    try:
        x0, y0, x1, y1 = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds must be four numbers x0,y0,x1,y1, got {bounds!r}") from None
    if not all(map(math.isfinite, (x0, y0, x1, y1))) or x0 >= x1 or y0 >= y1:
        raise InputError(f"bounds must be finite with x0 < x1 and y0 < y1, got {bounds!r}")
    return x0, y0, x1, y1
