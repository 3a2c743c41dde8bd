"""MF-JSON (OGC 19-045r3): every trajectory a feature whose geometry is a moving point with dates.

It is read by `ldptrace.io.geojson`, which knows its members.
"""

from __future__ import annotations

import json

import pyarrow as pa

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import geojson
from ldptrace.io.text import dates, joined_lists, paste

TRS = {
    "type": "Link",
    "properties": {"type": "OGCDEF", "href": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"},
}

read = geojson.read


def _feature(trajectories: Trajectories) -> pa.LargeStringArray:
    """Moving points with linear interpolation; dates are in UTC."""
    if trajectories.t is None:
        raise InputError("MF-JSON holds moving points, and these trajectories have no times")
    moments = paste('"', dates(trajectories.t, "MF-JSON"), 'Z"')
    return paste(
        *geojson.properties(trajectories),
        ',"temporalGeometry":{"type":"MovingPoint","interpolation":"Linear","datetimes":[',
        joined_lists(trajectories.offsets, moments, ","),
        '],"coordinates":[',
        joined_lists(trajectories.offsets, geojson.plane_points(trajectories), ","),
        "]}}",
    )


def _systems(trajectories: Trajectories) -> str:
    """The members that say what coordinates and times are in."""
    name = "urn:ogc:def:crs:OGC:1.3:CRS84" if trajectories.is_geographic else trajectories.crs
    crs = None if name is None else {"type": "Name", "properties": {"name": name}}
    return f'"crs":{json.dumps(crs)},"trs":{json.dumps(TRS)},'


writer = geojson.collection(_feature, _systems).writer
