"""The drawing of streets and place names of a campaign, which pages show without a map server. It is made once, from
the road network and the bounds of the plan, which are public.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ldptrace.core.arrays import Floats, Ints

if TYPE_CHECKING:
    from ldptrace.protocol.plan import Plan
    from ldptrace.roads import RoadNetwork


# Kinds of places by their size; others come last.
KINDS = ("city", "borough", "town", "suburb", "village", "quarter", "neighbourhood", "hamlet", "locality")


class Place(NamedTuple):
    """A name and where it is. Larger places have a smaller rank, and come first."""

    rank: int
    name: str
    x: float
    y: float


def places_in(path: Path) -> list[Place]:
    """Return the named places of a network, if its format has any."""
    if path.is_dir():
        return _of_nodes(path / "nodes.csv") if (path / "nodes.csv").exists() else []
    if ".osm" in path.name.lower() or path.suffix.lower() == ".pbf":
        return _of_openstreetmap(path)
    return []


def _of_nodes(path: Path) -> list[Place]:
    """Return nodes with a text in the column `name`. The column `place` has the kind of place."""
    from ldptrace.roads.readers.folder import find, positions, read_table

    table = read_table(path, text=("name", "place"))
    columns = [find(table, (name,)) for name in ("name", "place")]
    names, kinds = (
        [""] * table.num_rows if column is None else table[column].fill_null("").to_pylist()
        for column in columns
    )
    x, y, _ = positions(table, path)
    named = zip(x.tolist(), y.tolist(), map(str.strip, names), map(str.strip, kinds), strict=True)
    return [Place(_rank(kind), name[:60], a, b) for a, b, name, kind in named if name and name.isprintable()]


def _of_openstreetmap(path: Path) -> list[Place]:
    import osmium

    nodes = (
        osmium.FileProcessor(str(path), osmium.osm.NODE)
        .with_filter(osmium.filter.EntityFilter(osmium.osm.NODE))
        .with_filter(osmium.filter.KeyFilter("place"))
    )
    places = []
    for node in nodes:
        name, kind = node.tags.get("name", ""), node.tags.get("place", "")
        if name and name.isprintable() and kind in KINDS:
            places.append(Place(_rank(kind), name[:60], node.lon, node.lat))  # type: ignore[union-attr]
    return places


def _rank(kind: str) -> int:
    """Return the rank of a kind of place; larger places have smaller ranks.

    >>> _rank("city"), _rank("suburb"), _rank("bench")
    (0, 3, 9)
    """
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


# Steps of the drawing along each side of the bounds.
STEPS = 4096
# Points that are drawn at most; the smallest streets are omitted first.
MOST_POINTS = 120_000
# Names that are written at most, and how near two of them may be, as a share of the width.
MOST_NAMES, APART = 30, 0.09
# Ranks of roads that are drawn wide, and those of middle width; all others are thin.
WIDE, MIDDLE = 1, 2


def drawn(plan: Plan, path: Path) -> bytes:
    """Return the drawing of a road network in a file or folder as JSON: three lists of lines, from wide to thin, and
    names with their positions.

    A line is its first point and then steps from point to point, in `STEPS` of the bounds, y upwards.
    """
    from ldptrace.roads import read_roads

    roads = read_roads(path)
    document = {
        "format": "ldptrace-streets",
        "version": 1,
        "steps": STEPS,
        "lines": _lines(roads, plan),
        "names": _names(places_in(path), roads, plan),
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _lines(roads: RoadNetwork, plan: Plan) -> list[list[list[int]]]:
    """Return lines grouped by width. Only one direction of each street is drawn."""
    from ldptrace.roads.classes import class_rank

    ranks = np.array([*(class_rank(kind) for kind in roads.classes), STREET], dtype=np.int64)
    shown = np.flatnonzero((roads.opposite < 0) | (roads.opposite > np.arange(roads.edges)))
    shown = shown[np.argsort(ranks[roads.road_class[shown]], kind="stable")]
    x, y, offsets = roads.lines(shown)
    across, up = _placed(x, y, roads.crs, plan)
    inside = (across >= 0) & (across <= STEPS) & (up >= 0) & (up <= STEPS)
    widths: list[list[list[int]]] = [[], [], []]
    points = 0
    for edge, start, end in zip(shown.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        line = line_of(across[start:end], up[start:end]) if inside[start:end].any() else None
        if line is None:
            continue
        points += len(line) // 2
        if points > MOST_POINTS:
            break
        rank = int(ranks[roads.road_class[edge]])
        widths[0 if rank <= WIDE else 1 if rank <= MIDDLE else 2].append(line)
    return widths


# The rank of a road of which nothing is known, the last in the list.
STREET = 3


def line_of(across: Ints, up: Ints) -> list[int] | None:
    """Return a line as its first point and steps, or None if it is not longer than a step."""
    steps = np.c_[np.diff(across), np.diff(up)]
    steps = steps[steps.any(axis=1)]
    return [int(across[0]), int(up[0]), *steps.ravel().tolist()] if len(steps) else None


def _names(places: list[Place], roads: RoadNetwork, plan: Plan) -> list[list[Any]]:
    """Return the names that fit on the map, largest places first."""
    if not places:
        return []
    places = sorted(places)
    x, y = np.array([place[2:] for place in places]).T
    across, up = _placed(x, y, roads.crs, plan)
    chosen: list[list[Any]] = []
    for place, *here in zip(places, across.tolist(), up.tolist(), strict=True):
        if not all(0 <= value <= STEPS for value in here):
            continue
        near = (
            abs(here[0] - a) < 2 * APART * STEPS and abs(here[1] - b) < APART * STEPS / 2
            for a, b, _ in chosen
        )
        if not any(near):
            chosen.append([*here, place.name])
        if len(chosen) == MOST_NAMES:
            break
    return chosen


def _placed(x: Floats, y: Floats, crs: str | None, plan: Plan) -> tuple[Ints, Ints]:
    """Convert coordinates of the network to steps of the bounds of the plan."""
    from ldptrace.core.crs import transform

    if crs is not None and plan.crs is not None:
        x, y = transform(x, y, crs, plan.crs)
    return in_steps(x, y, plan)


def in_steps(x: Floats, y: Floats, plan: Plan) -> tuple[Ints, Ints]:
    """Return points in whole steps from the lower left corner of the bounds of the plan."""
    x0, y0, x1, y1 = plan.grid.bounds
    across, up = (x - x0) / (x1 - x0), (y - y0) / (y1 - y0)
    return np.rint(across * STEPS).astype(np.int64), np.rint(up * STEPS).astype(np.int64)
