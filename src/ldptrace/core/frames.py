"""Conversion between data frames (pandas, GeoPandas, MovingPandas) and tables; a small map for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import LocalPlane
from ldptrace.core.extras import needed
from ldptrace.core.times import are_dates
from ldptrace.errors import FormatError
from ldptrace.protocol.units import crs_named

# Where a frame says what was promised about it.
PROMISE = "ldptrace"
# The classes of frames, and where they are from.
FRAMES = {"GeoDataFrame": "geopandas", "DataFrame": "pandas"}
FRAMES |= {"TrajectoryCollection": "movingpandas", "Trajectory": "movingpandas"}
SHAPES = {"Point", "LineString", "MultiLineString", "LinearRing"}


def is_frame(data: object) -> str | None:
    """Return which kind of frame this is, by the name of its class, without importing anything."""
    for kind in type(data).__mro__:
        if FRAMES.get(kind.__name__) == kind.__module__.partition(".")[0]:
            return kind.__name__
    return None


def table_of(frame: Any) -> pa.Table:
    """Convert a pandas frame to a table. An index with a name or with times becomes a column."""
    pandas = needed("pandas")
    if isinstance(frame.index, pandas.MultiIndex) or frame.index.name is not None:
        frame = frame.reset_index()
    elif isinstance(frame.index, pandas.DatetimeIndex):
        frame = frame.rename_axis("t").reset_index()
    frame = frame.set_axis([str(name) for name in frame.columns], axis="columns")
    try:
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    except pa.ArrowException as error:
        raise FormatError(f"this data frame cannot be read: {', '.join(map(str, error.args))}") from None


def label(crs: Any) -> str | None:
    """Return the name of a coordinate system."""
    if crs is None:
        return None
    authority = crs.to_authority()
    return crs_named(":".join(authority)) if authority else str(crs.to_string())


def moments(t: Floats, date: str | None = None) -> Any:
    """Return times as pandas date-times in UTC. Times of a day get the date `date` (None: 1970-01-01)."""
    pandas = needed("pandas")
    start = 0.0
    if not are_dates(t) and date is not None:
        start = pandas.Timestamp(date, tz="UTC").timestamp()
    ticks = np.where(np.isfinite(t), np.round((np.nan_to_num(t) + start) * 1e6), np.iinfo(np.int64).min)
    return pandas.to_datetime(ticks.astype("int64"), unit="us", utc=True)


def promised(frame: Any) -> Mapping[str, Any] | None:
    """Return the privacy promise that is stored with a frame."""
    promise = getattr(frame, "attrs", {}).get(PROMISE)
    return promise if isinstance(promise, Mapping) else None


WIDTH = 280
# Few enough lines and points for a small picture in a notebook.
MOST_LINES, MOST_POINTS = 200, 40


def thumbnail(x: Floats, y: Floats, offsets: Ints, *, geographic: bool, caption: str) -> str:
    """Draw up to 200 trajectories as a small SVG map with a caption.

    >>> box = np.array([0.0, 2.0]), np.array([0.0, 1.0]), np.array([0, 2])
    >>> thumbnail(*box, geographic=False, caption="one").startswith("<figure")
    True
    """
    words = f'<figcaption style="font:12px sans-serif">{escape(caption)}</figcaption>'
    sizes = np.diff(offsets)
    drawn = np.flatnonzero(sizes > 1)
    if len(drawn) == 0:
        return f'<figure style="margin:0">{words}</figure>'
    picked = drawn[np.linspace(0, len(drawn) - 1, min(MOST_LINES, len(drawn))).astype(np.int64)]
    lines = [
        slice(offsets[k], offsets[k + 1], max(1, -(-int(sizes[k]) // MOST_POINTS))) for k in picked.tolist()
    ]
    across, up = np.concatenate([x[line] for line in lines]), np.concatenate([y[line] for line in lines])
    stretch = 1.0
    if geographic:
        east, north = LocalPlane(0.0, float(np.clip(up.mean(), -85, 85))).scale
        stretch = north / east
    x0, y0, y1 = float(across.min()), float(up.min()), float(up.max())
    width = max(float(across.max()) - x0, 1e-12)
    height = int(np.clip(WIDTH * stretch * (y1 - y0) / width, 40, 2 * WIDTH))
    scale = (WIDTH / width, height / max(y1 - y0, 1e-12))
    corners = (zip((x[line] - x0) * scale[0], (y1 - y[line]) * scale[1], strict=True) for line in lines)
    path = "".join("M" + "L".join(f"{a:.0f} {b:.0f}" for a, b in line) for line in corners)
    return (
        f'<figure style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="-2 -2 {WIDTH + 4} {height + 4}" role="img" aria-label="{escape(caption)}">'
        f'<rect x="-2" y="-2" width="{WIDTH + 4}" height="{height + 4}" fill="#f6f7f9"/>'
        f'<path d="{path}" fill="none" stroke="#1f5fa8" stroke-width="1" stroke-opacity="0.35"/></svg>{words}</figure>'
    )
