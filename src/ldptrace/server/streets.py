"""What pages show on a live map without a map server: the streets and place names of a campaign, and travellers.

The drawing of streets is made once, from the road network and the bounds of the plan, which are public. Travellers are
synthetic trips as short lists of steps. The worker that makes a release writes some of them in this form; the stream
sends them one after the other, and repeats them, so that about `MOVING` travellers are under way at any time.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ldptrace.core.arrays import Floats, Ints

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
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


TRAVELLERS = "travellers.json"
# Trips that are kept for the map, and points of one.
KEPT, POINTS = 4_000, 48
# Travellers on their way at a time.
MOVING = 2_000
# Seconds on the screen that a trip of the middle length takes, and the least and the most.
TYPICAL, LEAST, MOST = 30.0, 8.0, 90.0
# Seconds between two messages of the stream.
BEAT = 1.0


def write_travellers(trips: Trajectories, plan: Plan) -> bytes:
    """Return some trips as JSON: seconds on the screen, the first point, and steps from point to point. The seconds are
    proportional to the duration of the trip, or to its length without times; a median trip takes `TYPICAL`.
    """
    across, up = (np.clip(steps, 0, STEPS) for steps in in_steps(trips.x, trips.y, plan))
    lines, durations = [], []
    for start, end in zip(trips.offsets[:-1].tolist(), trips.offsets[1:].tolist(), strict=True):
        places = np.unique(np.linspace(start, end - 1, min(POINTS, end - start)).round().astype(int))
        line = line_of(across[places], up[places])
        if line is not None:
            lines.append(line)
            length = float(np.hypot(line[2::2], line[3::2]).sum())
            durations.append(length if trips.t is None else float(trips.t[end - 1] - trips.t[start]))
    middle = max(float(np.median(durations)), 1e-9) if durations else 1.0
    seconds = [round(min(max(TYPICAL * taken / middle, LEAST), MOST), 1) for taken in durations]
    document = {"format": "ldptrace-travellers", "version": 1, "steps": STEPS}
    return json.dumps(
        document | {"trips": [[s, *line] for s, line in zip(seconds, lines, strict=True)]}
    ).encode()


async def stream(
    data: bytes, stopped: Callable[[], bool], chance: random.Random | None = None
) -> AsyncIterator[str]:
    """Yield server-sent events: at first as many as are on their way, then those that set out, beat by beat."""
    document: dict[str, Any] = json.loads(data)
    trips: list[list[float]] = document["trips"]
    if not trips:
        return
    chance = chance or random.Random()
    mean = sum(trip[0] for trip in trips) / len(trips)
    # Long trips are more likely to be under way than short ones; they set out before now.
    moving = chance.choices(trips, weights=[trip[0] for trip in trips], k=MOVING)
    begun = [[round(-chance.random() * trip[0], 2), *trip] for trip in moving]
    yield event("travellers", {"steps": document["steps"], "trips": begun})
    left = 0.0
    while not stopped():
        await asyncio.sleep(BEAT)
        left += MOVING / mean * BEAT
        new = [[round(chance.random() * BEAT, 2), *chance.choice(trips)] for _ in range(int(left))]
        left -= int(left)
        yield event("travellers", {"steps": document["steps"], "trips": new})


def event(kind: str, data: dict[str, Any]) -> str:
    r"""Return one message of a stream of server-sent events.

    >>> event("hello", {"a": 1})
    'event: hello\ndata: {"a":1}\n\n'
    """
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
