"""Turn lines into streets: lines are cut where they meet, and keep their tags."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats
from ldptrace.core.crs import WGS84, LocalPlane, is_geographic
from ldptrace.core.extras import needed
from ldptrace.core.layers import LINE, MULTI_LINE, read_layer
from ldptrace.errors import FormatError
from ldptrace.protocol.units import geojson_crs
from ldptrace.roads.classes import Mode, Tags, limit_kmh, way_class, way_directions
from ldptrace.roads.network import Nodes, Offsets
from ldptrace.roads.readers.streets import Streets, coded

Shape = tuple[Floats, Floats, Offsets]
Keys = NDArray[np.int64]

# Metres within which two points are one, and a share of the usual step of a line where units are not known.
GRAIN, GRAIN_SHARE = 0.01, 1e-4
NEAR = 15  # grains: the end of a line that near to another line touches it
SRID = re.compile(r"^\s*SRID=\d+;", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines with their tags. Line `k` has the points `offsets[k]:offsets[k + 1]`."""

    x: Floats
    y: Floats
    offsets: Offsets
    tags: Sequence[Tags]
    crs: str | None
    format: str
    notes: tuple[str, ...] = ()
    # The name of each line in its file; without any, its row.
    ids: Sequence[str] | None = None

    def streets(self, mode: Mode, keys: Keys | None = None) -> Streets:
        """Return the streets that the mode may use, cut where they meet.

        Points with the same key are one place. Without keys, points with the same coordinates are one place, and a line
        that ends on another line cuts it.
        """
        judged = [way_class(tags, mode) for tags in self.tags]
        dropped = Counter(reason for _, reason in judged if reason is not None)
        rows = np.flatnonzero([reason is None for _, reason in judged])
        offsets, kept = ragged.taken(self.offsets, rows)
        x, y = self.x[kept], self.y[kept]
        if keys is None:
            x, y, offsets = touching(x, y, offsets, self.crs)
            keys = places(x, y, offsets, self.crs)
        else:
            keys = keys[kept]
        ways = np.array([way_directions(self.tags[int(k)], mode) for k in rows], dtype=np.bool_).reshape(
            -1, 2
        )
        single, ways = _drawn_once(keys, offsets, ways)
        dropped["the same street again"] += int((~single).sum())
        offsets, held = ragged.taken(offsets, np.flatnonzero(single))
        keys, x, y, rows, ways = keys[held], x[held], y[held], rows[single], ways[single]
        node_x, node_y, start, end, shape, line = cut(keys, x, y, offsets)
        row, ways = rows[line], ways[line]
        kind, kinds = coded([kind for kind, _ in judged])
        return Streets(
            node_x,
            node_y,
            start,
            end,
            forward=ways[:, 0],
            backward=ways[:, 1],
            kind=kind[row],
            kinds=kinds,
            speed=self._numbers(("speed_kmh", "speed_kph"))[row],
            limit=self._numbers(("maxspeed", "speed_limit", "speedlimit"))[row],
            shape=shape,
            crs=self.crs,
            format=self.format,
            dropped=dropped,
            notes=self.notes,
            ids=(np.arange(len(self.tags)) if self.ids is None else np.array(self.ids)).astype(np.str_)[row],
            names=np.array([tags.get("name", "") for tags in self.tags]).astype(np.str_)[row],
        )

    def _numbers(self, names: tuple[str, ...]) -> Floats:
        said = (next((tags[name] for name in names if tags.get(name)), "") for tags in self.tags)
        return np.array([limit_kmh(text) if text else np.nan for text in said])


def cut(
    keys: Keys, x: Floats, y: Floats, offsets: Offsets
) -> tuple[Floats, Floats, Nodes, Nodes, Shape, Keys]:
    """Cut lines into streets. Return the nodes, the start and end of each street, the line between them, and the number
    of the line that each street was cut from.

    A line is cut at every place that occurs more than once. The ends of a line are always nodes.

    >>> keys = np.array([1, 2, 3, 4, 2, 5])
    >>> x, y = np.array([0.0, 1, 2, 1, 1, 1]), np.array([0.0, 0, 0, 1, 0, -1])
    >>> _, _, start, end, _, line = cut(keys, x, y, np.array([0, 3, 6]))
    >>> start.tolist(), end.tolist(), line.tolist()
    ([0, 1, 3, 1], [1, 2, 1, 4], [0, 0, 1, 1])
    """
    sizes = np.diff(offsets)
    filled = sizes >= 2
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    corner = count[place] > 1
    corner[offsets[:-1][filled]] = corner[offsets[1:][filled] - 1] = True
    owner = np.repeat(np.arange(len(sizes)), sizes)
    corner &= filled[owner]
    first, last = _pieces(corner, owner)
    # A loop gets a node in its middle, so that it leads somewhere.
    loop = (place[first] == place[last]) & (last - first > 2)
    if loop.any():
        corner[(first[loop] + last[loop]) // 2] = True
        first, last = _pieces(corner, owner)
    nodes, number = np.unique(place[np.r_[first, last]], return_inverse=True)
    spot = np.empty(len(count), dtype=np.int64)
    spot[place[::-1]] = np.arange(len(place))[::-1]
    inner = last - first - 1
    ends, point = ragged.ranges(first + 1, inner)
    start, end = number[: len(first)], number[len(first) :]
    chosen = spot[nodes]
    return (
        x[chosen],
        y[chosen],
        start.astype(np.int32),
        end.astype(np.int32),
        (x[point], y[point], ends),
        owner[first],
    )


def _pieces(corner: Flags, owner: Keys) -> tuple[Keys, Keys]:
    """Return the first and last points of the pieces between corners of the same line."""
    at = np.flatnonzero(corner)
    within = owner[at[:-1]] == owner[at[1:]]
    return at[:-1][within], at[1:][within]


def _drawn_once(keys: Keys, offsets: Offsets, ways: Flags) -> tuple[Flags, Flags]:
    """Return which lines are the first among lines with the same points, and the directions of all lines along them."""
    single, allowed = np.ones(len(ways), dtype=np.bool_), ways.copy()
    seen: dict[bytes, int] = {}
    for line, (begin, end) in enumerate(pairwise(offsets.tolist())):
        points = keys[begin:end]
        there, back = seen.get(points.tobytes()), seen.get(points[::-1].tobytes())
        if there is not None:
            single[line], allowed[there] = False, allowed[there] | ways[line]
        elif back is not None:
            single[line], allowed[back] = False, allowed[back] | ways[line, ::-1]
        else:
            seen[points.tobytes()] = line
    return single, allowed


def places(x: Floats, y: Floats, offsets: Offsets, crs: str | None) -> Keys:
    """Return one number for each place; points that are almost equal are one place."""
    if len(x) == 0:
        return np.empty(0, dtype=np.int64)
    px, py, grain = _plane(x, y, offsets, crs)
    column, row = (np.round((p - p.min()) / grain).astype(np.int64) for p in (px, py))
    return np.unique(column * (row.max() + 1) + row, return_inverse=True)[1].astype(np.int64)


def touching(x: Floats, y: Floats, offsets: Offsets, crs: str | None) -> Shape:
    """Return the lines with an additional point wherever another line ends on them.

    >>> x, y = np.array([0.0, 10, 4, 4]), np.array([0.0, 0, 0, 5])
    >>> touching(x, y, np.array([0, 2, 4]), None)[0].tolist()
    [0.0, 4.0, 10.0, 4.0, 4.0]
    """
    sizes = np.diff(offsets)
    filled = np.flatnonzero(sizes >= 2)
    if len(filled) == 0:
        return x, y, offsets
    px, py, grain = _plane(x, y, offsets, crs)
    ends = np.unique(np.r_[offsets[:-1][filled], offsets[1:][filled] - 1])
    # Only an end that no other point shares can lie on the inside of a line without being a point of it.
    key = places(x, y, offsets, crs)
    ends = ends[np.bincount(key)[key[ends]] == 1]
    points, segment = np.c_[px, py], np.flatnonzero(ragged.inner_steps(offsets))
    # Pairs of a segment, by its first point, and an end that is near it.
    tree = shapely.STRtree(shapely.linestrings(np.stack([points[segment], points[segment + 1]], axis=1)))
    end, entry = tree.query(shapely.points(points[ends]), predicate="dwithin", distance=NEAR * grain)
    begin, end = segment[entry], ends[end]
    dx, dy = px[begin + 1] - px[begin], py[begin + 1] - py[begin]
    long = np.maximum(np.hypot(dx, dy), 1e-300)
    along = ((px[end] - px[begin]) * dx + (py[end] - py[begin]) * dy) / long
    off = np.abs((px[end] - px[begin]) * dy - (py[end] - py[begin]) * dx) / long
    hit = (off <= NEAR * grain) & (along > 0) & (along < long) & (begin != end) & (begin + 1 != end)
    order = np.lexsort((along[hit], begin[hit]))
    after, extra = begin[hit][order], end[hit][order]
    line = np.searchsorted(offsets, after, side="right") - 1
    sizes = sizes + np.bincount(line, minlength=len(sizes))
    return np.insert(x, after + 1, x[extra]), np.insert(y, after + 1, y[extra]), ragged.offsets_of(sizes)


def from_wkt(texts: Sequence[str | None]) -> Shape:
    """Return the points between the ends of LINESTRINGs, as columns with offsets. Missing text means a straight line.

    >>> x, y, offsets = from_wkt(["LINESTRING (0 0, 1 2, 3 3)", None])
    >>> x.tolist(), y.tolist(), offsets.tolist()
    ([1.0], [2.0], [0, 1, 1])
    """
    plain = [SRID.sub("", text) if text else None for text in texts]
    lines = shapely.from_wkt(plain, on_invalid="ignore")
    for text, kind in zip(texts, shapely.get_type_id(lines), strict=True):
        if text and kind != LINE:
            raise FormatError(f"a geometry must be a LINESTRING, not {text[:40]!r}")
    points, row = shapely.get_coordinates(lines, return_index=True)
    sizes = np.bincount(row, minlength=len(lines))
    offsets = ragged.offsets_of(sizes)
    inner = np.ones(len(points), dtype=bool)
    inner[offsets[:-1][sizes > 0]] = inner[offsets[1:][sizes > 0] - 1] = False
    return points[inner, 0], points[inner, 1], ragged.kept(offsets, inner)


def _plane(x: Floats, y: Floats, offsets: Offsets, crs: str | None) -> tuple[Floats, Floats, float]:
    """Return the points in metres (or units of length), and the distance below which two points are one."""
    if is_geographic(crs):
        px, py = LocalPlane.around(x, y).to_metres(x, y)
        return px, py, GRAIN
    segment = np.flatnonzero(ragged.inner_steps(offsets))
    long = np.hypot(x[segment + 1] - x[segment], y[segment + 1] - y[segment])
    long = long[long > 0]
    return x, y, GRAIN_SHARE * float(np.median(long)) if len(long) else GRAIN


Json = Any
# Columns that other makers name otherwise; the names of OpenStreetMap come first.
SYNONYMS = {
    "highway": ("highway", "fclass", "class", "edge_class", "road_class", "type", "mtfcc"),
    "oneway": ("oneway", "one_way", "oneway_s"),
    "maxspeed": ("maxspeed", "max_speed", "speedlimit", "speed_limit", "speed_lim"),
    "speed_kmh": ("speed_kmh", "speed_kph"),
}


def read_geojson(path: Path, mode: Mode) -> Streets:
    """Read the streets of the LineString and MultiLineString features of a file."""
    try:
        content = path.read_bytes()
        document = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (ValueError, OSError) as error:
        raise FormatError(f"this is not GeoJSON: {error}") from None
    features = document.get("features", [document]) if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise FormatError("this is JSON, but not a FeatureCollection of lines")
    lines: list[list[list[float]]] = []
    tags: list[Tags] = []
    numbers: list[int] = []
    for number, feature in enumerate(features, 1):
        try:
            geometry = feature.get("geometry", feature) or {}
            if geometry.get("type") in ("LineString", "MultiLineString"):
                coordinates = geometry["coordinates"]
                own = [coordinates] if geometry["type"] == "LineString" else coordinates
                lines += own
                tags += [plain_tags(feature.get("properties") or {})] * len(own)
                numbers += [number - 1] * len(own)
        except (AttributeError, KeyError, TypeError):
            raise FormatError(f"feature {number} is broken") from None
    try:
        points = np.array([point[:2] for line in lines for point in line], dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise FormatError("a coordinate is not a pair of numbers") from None
    offsets = np.cumsum([0, *map(len, lines)])
    return Lines(
        *(points[:, 0], points[:, 1], offsets, tags, geojson_crs(document), "GeoJSON"),
        ids=edge_ids(tags, numbers),
    ).streets(mode)


def read_ogr(path: Path, mode: Mode) -> Streets:
    """Read the streets of a GeoPackage or a Shapefile."""
    # OSMnx names its two layers nodes and edges.
    layer = read_layer(path, ("LineString",), prefer="edges")
    shapes = layer.shapes.only((LINE, MULTI_LINE))
    rows = [plain_tags(row) for row in layer.columns.to_pylist()] or [{}] * len(shapes.kind)
    numbers = shapes.row.tolist()
    tags = [rows[number] for number in numbers]
    kind = {".gpkg": "GeoPackage", ".shp": "Shapefile"}.get(path.suffix.lower(), "lines")
    return Lines(
        *(shapes.x, shapes.y, shapes.offsets, tags, layer.crs, kind, layer.notes), edge_ids(tags, numbers)
    ).streets(mode)


def plain_tags(properties: dict[str, Json]) -> Tags:
    """Return the properties of a feature as OpenStreetMap tags, as far as their names allow.

    >>> plain_tags({"FCLASS": "primary", "oneway": True, "lanes": None})
    {'fclass': 'primary', 'oneway': 'yes', 'highway': 'primary'}
    """
    tags = {name.lower(): _text(value) for name, value in properties.items() if _text(value)}
    for name, synonyms in SYNONYMS.items():
        tag = next((tags[synonym] for synonym in synonyms if synonym in tags), None)
        if tag is not None:
            tags[name] = tag.strip("[]").split(",")[0].strip(" '\"").lower()
    return tags


def edge_ids(tags: list[Tags], numbers: list[int]) -> list[str]:
    """Return the id of each line: its `edge_id` if all lines have one, otherwise the number of its feature.

    >>> edge_ids([{"edge_id": "a7"}], [0]), edge_ids([{}], [0])
    (['a7'], ['0'])
    """
    named = [own.get("edge_id", "") for own in tags]
    return named if all(named) else [str(number) for number in numbers]


def _text(value: Json) -> str:
    """Return a value as a tag; an empty text if the value is missing."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    text = str(value).strip()
    return text.removesuffix(".0") if isinstance(value, float) else text


USEFUL = (
    *("name", "highway", "oneway", "oneway:bicycle", "junction", "maxspeed", "service", "area"),
    *("access", "vehicle", "motor_vehicle", "motorcar", "bicycle", "foot"),
    *("cycleway", "cycleway:left", "cycleway:right", "cycleway:both"),
)


def read_osm(path: Path, mode: Mode) -> Streets:
    """Read the streets of an extract: its ways with a tag `highway`, cut at the nodes that they share."""
    osmium = needed("osmium", "roads")
    refs: list[int] = []
    lon: list[float] = []
    lat: list[float] = []
    ends = [0]
    tags: list[dict[str, str]] = []
    ids: list[str] = []
    outside = 0
    ways = (
        osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
        .with_locations()
        .with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
        .with_filter(osmium.filter.KeyFilter("highway"))
    )
    try:
        for way in ways:
            own = {name: way.tags[name] for name in USEFUL if name in way.tags}
            nodes: list[Any] = list(way.nodes)  # the filter leaves ways only
            # Nodes outside of an extract have no place: there the way is interrupted.
            for placed, run in groupby(nodes, key=lambda node: node.location.valid()):
                if not placed:
                    outside += 1
                    continue
                part = list(run)
                refs += [node.ref for node in part]
                lon += [node.lon for node in part]
                lat += [node.lat for node in part]
                ends.append(len(refs))
                tags.append(own)
                ids.append(str(way.id))
    except (RuntimeError, ValueError) as error:
        raise FormatError(f"this is not an OpenStreetMap extract: {error}") from None
    cut_off = (f"ways reach beyond the extract in {outside:,} places and were cut off there",)
    lines = Lines(
        *(np.array(lon), np.array(lat), np.array(ends), tags, WGS84, "OpenStreetMap"),
        notes=cut_off if outside else (),
        ids=ids,
    )
    return lines.streets(mode, np.array(refs, dtype=np.int64))
