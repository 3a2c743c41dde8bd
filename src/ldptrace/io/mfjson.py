"""MF-JSON (OGC 19-045r3): every trajectory a feature whose geometry is a moving point with dates.

It is read by `ldptrace.io.geojson`, which knows its members.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import geojson
from ldptrace.io.provenance import KEY, to_text
from ldptrace.io.text import dates, joined, joined_lists, paste, strings, write_chunks

TRS = {
    "type": "Link",
    "properties": {"type": "OGCDEF", "href": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"},
}

read = geojson.read


def write(trajectories: Trajectories, path: Path) -> None:
    """Moving points with linear interpolation; dates are in UTC."""
    if trajectories.t is None:
        raise InputError("MF-JSON holds moving points, and these trajectories have no times")
    points = paste("[", strings(trajectories.x), ",", strings(trajectories.y), "]")
    moments = paste('"', dates(trajectories.t, "MF-JSON"), 'Z"')
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    pieces = ['{"type":"Feature","properties":{"traj_id":', strings(ids)]
    if trajectories.extra is not None:
        rows = (json.dumps(row, default=str)[1:-1] for row in trajectories.extra.to_pylist())
        pieces += [pa.array([f",{row}" if row else "" for row in rows], pa.large_string())]
    pieces += ['},"temporalGeometry":{"type":"MovingPoint","interpolation":"Linear","datetimes":[']
    pieces += [joined_lists(trajectories.offsets, moments, ","), '],"coordinates":[']
    pieces += [joined_lists(trajectories.offsets, points, ","), "]}}"]
    commas = pa.array(np.where(np.arange(len(trajectories)) > 0, ",\n", ""), pa.large_string())
    head = (
        f'{{"type":"FeatureCollection",{_crs(trajectories)}"trs":{json.dumps(TRS)},{_promise(trajectories)}'
    )
    write_chunks(path, [head.encode(), b'"features":[\n', joined(paste(commas, *pieces)), b"\n]}\n"])


def _crs(trajectories: Trajectories) -> str:
    name = "urn:ogc:def:crs:OGC:1.3:CRS84" if trajectories.is_geographic else trajectories.crs
    if name is None:
        return '"crs":null,'
    return f'"crs":{json.dumps({"type": "Name", "properties": {"name": name}})},'


def _promise(trajectories: Trajectories) -> str:
    return "" if trajectories.provenance is None else f'"{KEY}":{to_text(trajectories.provenance)},'
