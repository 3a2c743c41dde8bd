"""Trajectories to and from a GeoDataFrame of lines; needs the extra `geo`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.trajectories import Floats, Trajectories
from ldptrace.errors import InputError
from ldptrace.io.columns import WGS84

ID, TIMES = "traj_id", "t"


def to_geopandas(trajectories: Trajectories) -> Any:
    """A GeoDataFrame with one line per trajectory, a Point where it has one point, nothing where it has none.

    Times, where known, are arrays of seconds in the column `t`.
    """
    geopandas, shapely = _modules()
    points = np.column_stack([trajectories.x, trajectories.y])
    sizes, starts = trajectories.sizes, trajectories.offsets[:-1]
    geometry = np.full(len(trajectories), None, dtype=object)
    single, line = sizes == 1, sizes >= 2
    geometry[single] = shapely.points(points[starts[single]])
    in_line = np.repeat(line, sizes)
    geometry[line] = shapely.linestrings(
        points[in_line], indices=np.repeat(np.arange(line.sum()), sizes[line])
    )
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    columns: dict[str, Any] = {ID: ids}
    if trajectories.t is not None:
        columns[TIMES] = np.empty(len(trajectories), dtype=object)
        columns[TIMES][:] = np.split(trajectories.t, trajectories.offsets[1:-1])
    if trajectories.extra is not None:
        columns |= {name: trajectories.extra[name].to_pandas() for name in trajectories.extra.column_names}
    return geopandas.GeoDataFrame(columns, geometry=geometry, crs=trajectories.crs)


def from_geopandas(frame: Any) -> Trajectories:
    """Trajectories of a GeoDataFrame of lines; each part of a multi-part line is one trajectory."""
    _, shapely = _modules()
    kinds = set(frame.geom_type.dropna())
    if not kinds <= {"LineString", "MultiLineString", "LinearRing", "Point"} or kinds == {"Point"}:
        raise InputError(f"a GeoDataFrame of lines is needed, this one holds {', '.join(sorted(kinds))}")
    whole = "MultiLineString" not in kinds
    if not whole:
        frame = frame.explode(index_parts=False, ignore_index=True)
    points, owner = shapely.get_coordinates(frame.geometry.to_numpy(), return_index=True)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(frame))))).astype(np.int64)
    ids = frame[ID].to_numpy() if ID in frame.columns else None
    if ids is not None and (not np.issubdtype(ids.dtype, np.integer) or len(np.unique(ids)) < len(ids)):
        ids = None
    known = {frame.geometry.name, ID, TIMES}
    others = [name for name in frame.columns if name not in known]
    return Trajectories(
        points[:, 0],
        points[:, 1],
        offsets,
        t=_flat(frame[TIMES].to_list(), len(points)) if whole and TIMES in frame.columns else None,
        ids=ids,
        crs=_label(frame.crs),
        extra=pa.table({name: pa.array(frame[name], from_pandas=True) for name in others})
        if others
        else None,
    )


def read_geoparquet(path: Path) -> pa.Table:
    """A GeoParquet file of any encoding as list columns."""
    geopandas, _ = _modules()
    import pyarrow.parquet as pq

    table = from_geopandas(geopandas.read_parquet(path)).to_arrow()
    return table.replace_schema_metadata(pq.read_schema(path).metadata)


def _modules() -> tuple[Any, Any]:
    try:
        import geopandas
        import shapely  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            "geopandas is needed for this; install it with: pip install 'ldptrace[geo]'"
        ) from None
    return geopandas, shapely


def _flat(times: list[Any], points: int) -> Floats | None:
    try:
        flat = np.concatenate([np.asarray(part, dtype=np.float64) for part in times])
    except (TypeError, ValueError):
        return None
    return flat if len(flat) == points else None


def _label(crs: Any) -> str | None:
    if crs is None:
        return None
    authority = crs.to_authority()
    label = ":".join(authority) if authority else crs.to_string()
    return WGS84 if label == "OGC:CRS84" else label
