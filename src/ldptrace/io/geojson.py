"""GeoJSON: LineString and MultiLineString features, each line one trajectory."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldptrace.errors import FormatError
from ldptrace.io.columns import WGS84, seconds, split_ids
from ldptrace.io.report import Parsed, each
from ldptrace.io.text import joined, joined_lists, paste, read_bytes, strings, write_chunks
from ldptrace.trajectories import Floats, Trajectories

Json = Any
ID, TIMES = "traj_id", "times"


def read_file(path: Path) -> Parsed:
    """Lines of a FeatureCollection, a Feature or a geometry; other geometries are counted."""
    try:
        document = json.loads(read_bytes(path))
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}: this is not JSON: {error.msg}") from None
    features = _features(document)
    x, y, sizes = array("d"), array("d"), []
    times: list[Json] = []
    properties: list[dict[str, Json]] = []
    others: Counter[str] = Counter()
    for number, feature in enumerate(features, start=1):
        try:
            about = feature.get("properties") or {}
            kind = (feature.get("geometry") or {"type": "none"})["type"]
            for line, line_times in _lines(feature, about):
                x.extend(point[0] for point in line)
                y.extend(point[1] for point in line)
                sizes.append(len(line))
                times.extend(line_times if len(line_times) == len(line) else [None] * len(line))
                properties.append({"id": feature.get("id"), **about})
        except (AttributeError, KeyError, IndexError, TypeError):
            raise FormatError(f"feature {number}: a line needs coordinates [[x,y],[x,y],...]") from None
        if kind not in {"LineString", "MultiLineString"} and not (kind == "Point" and ID in about):
            others[f"geometry is {kind}"] += 1
    if not sizes and others:
        raise FormatError(f"there are no lines in it, only: {', '.join(others)}")
    ids, extra = _columns(properties)
    return Parsed(
        Trajectories(
            np.array(x),
            np.array(y),
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            t=_times(times),
            ids=ids,
            crs=_crs(document),
            extra=extra,
        ),
        rows=len(features),
        dropped=dict(others),
    )


read = each(read_file)


def write(trajectories: Trajectories, path: Path) -> None:
    """One feature per trajectory; a single point is a Point. Times are the property `times`, in seconds."""
    offsets = trajectories.offsets
    points = paste("[", strings(trajectories.x), ",", strings(trajectories.y), "]")
    coordinates = joined_lists(offsets, points, ",")
    lines = paste('"LineString","coordinates":[', coordinates, "]")
    geometry = pc.if_else(
        pa.array(trajectories.sizes == 1), paste('"Point","coordinates":', coordinates), lines
    )
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    pieces = ['{"type":"Feature","properties":{"traj_id":', strings(ids)]
    if trajectories.t is not None:
        pieces += [f',"{TIMES}":[', joined_lists(offsets, strings(trajectories.t), ","), "]"]
    if trajectories.extra is not None:
        rows = (json.dumps(row, default=str)[1:-1] for row in trajectories.extra.to_pylist())
        pieces += [pa.array([f",{row}" if row else "" for row in rows], pa.large_string())]
    # A comma before every feature but the first.
    commas = pa.array(np.where(np.arange(len(trajectories)) > 0, ",\n", ""), pa.large_string())
    features = paste(commas, *pieces, '},"geometry":{"type":', geometry, "}}")
    head = f'{{"type":"FeatureCollection",{_crs_member(trajectories)}"features":[\n'
    write_chunks(path, [head.encode(), joined(features), b"\n]}\n"])


def _features(document: Json) -> list[Json]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "FeatureCollection" and isinstance(document.get("features"), list):
        return list(document["features"])
    if kind == "Feature":
        return [document]
    if kind in {"LineString", "MultiLineString"}:
        return [{"geometry": document}]
    raise FormatError("expected a GeoJSON FeatureCollection, Feature, LineString or MultiLineString")


def _lines(feature: Json, about: dict[str, Json]) -> Iterator[tuple[list[Json], list[Json]]]:
    """Coordinates and times of each line of a feature."""
    geometry = feature.get("geometry") or {"type": "none"}
    times = about.get(TIMES) or about.get("coordTimes") or []
    if geometry["type"] == "LineString":
        yield geometry["coordinates"], times
    elif geometry["type"] == "MultiLineString":
        for number, line in enumerate(geometry["coordinates"]):
            yield line, times[number] if number < len(times) and isinstance(times[number], list) else []
    elif geometry["type"] == "Point" and ID in about:
        yield [geometry["coordinates"]], times


def _times(values: list[Json]) -> Floats | None:
    try:
        return (
            seconds(pa.chunked_array([pa.array(values)]))
            if any(value is not None for value in values)
            else None
        )
    except pa.ArrowException:
        return None


def _columns(properties: list[dict[str, Json]]) -> tuple[Any, pa.Table | None]:
    """Numbers of the trajectories, and what else the features say about them."""
    names = list(
        dict.fromkeys(name for about in properties for name in about if name not in {TIMES, "coordTimes"})
    )
    columns = {}
    for name in names:
        values = [about.get(name) for about in properties]
        if any(value is not None for value in values):
            columns[name] = _column(values)
    ids = None
    for name in (ID, "id"):
        if name in columns and ids is None:
            ids, texts = split_ids(pa.chunked_array([columns.pop(name)]), name)
            columns |= texts
    if ids is not None and len(np.unique(ids)) < len(ids):
        ids = None
    return ids, pa.table(columns) if columns else None


def _column(values: list[Json]) -> pa.Array:
    try:
        return pa.array(values)
    except pa.ArrowException:
        return pa.array([json.dumps(value) for value in values])


def _crs(document: dict[str, Json]) -> str | None:
    """Longitude and latitude, unless a member `crs` (GeoJSON of 2008) says otherwise; null is unknown."""
    if "crs" not in document:
        return WGS84
    member = document["crs"] or {}
    name = str(member.get("properties", {}).get("name", ""))
    if "CRS84" in name:
        return WGS84
    return name.replace("urn:ogc:def:crs:", "").replace("::", ":") or None


def _crs_member(trajectories: Trajectories) -> str:
    if trajectories.is_geographic:
        return ""
    if trajectories.crs is None:
        return '"crs":null,'
    return f'"crs":{json.dumps({"type": "name", "properties": {"name": trajectories.crs}})},'
