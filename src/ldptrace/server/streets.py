"""The map under a campaign: its streets and place names as a small drawing that pages show without a map server.

Made once, when a road network is given to the campaign, from the network and the plan's bounds alone: public facts.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.server.places import Place, places_in

if TYPE_CHECKING:
    from ldptrace.protocol.plan import Plan
    from ldptrace.roads import RoadNetwork

# Steps of the drawing along each side of the bounds.
STEPS = 4096
# Points that are drawn at most; the smallest streets are omitted first.
MOST_POINTS = 120_000
# Names that are written at most, and how near two of them may be, as a share of the width.
MOST_NAMES, APART = 30, 0.09
# Ranks of roads that are drawn wide, and those of middle width; all others are thin.
WIDE, MIDDLE = 1, 2

Ints = NDArray[np.int64]


def drawing(plan: Plan, files: dict[str, bytes]) -> bytes:
    """The drawing of a road network as JSON: three lists of lines, wide to thin, and names with their places.

    A line is its first point and then steps from point to point, in `STEPS` of the bounds, y upwards.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        path = Path(folder) / next(iter(files)) if len(files) == 1 else Path(folder)
        return drawn(plan, path)


def drawn(plan: Plan, path: Path) -> bytes:
    """The same for a network in a file or folder."""
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
    """Lines by their width. One of the two ways of a street is enough."""
    from ldptrace.roads.classes import class_rank

    ranks = np.array([*(class_rank(kind) for kind in roads.classes), STREET], dtype=np.int64)
    shown = np.flatnonzero((roads.opposite < 0) | (roads.opposite > np.arange(roads.edges)))
    shown = shown[np.argsort(ranks[roads.road_class[shown]], kind="stable")]
    x, y, offsets = roads.lines(shown)
    across, up = _placed(x, y, roads.crs, plan)
    widths: list[list[list[int]]] = [[], [], []]
    points = 0
    for edge, start, end in zip(shown.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        line = _line(across[start:end], up[start:end])
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


def _line(across: Ints, up: Ints) -> list[int] | None:
    """A line as its first point and steps; None where it is outside, or no longer than a step."""
    inside = (across >= 0) & (across <= STEPS) & (up >= 0) & (up <= STEPS)
    if not inside.any():
        return None
    steps = np.c_[np.diff(across), np.diff(up)]
    steps = steps[steps.any(axis=1)]
    return [int(across[0]), int(up[0]), *steps.ravel().tolist()] if len(steps) else None


def _names(places: list[Place], roads: RoadNetwork, plan: Plan) -> list[list[Any]]:
    """Names that find room, the largest places first."""
    if not places:
        return []
    x, y = (np.array([getattr(place, axis) for place in places]) for axis in "xy")
    across, up = _placed(x, y, roads.crs, plan)
    chosen: list[list[Any]] = []
    for place in sorted(range(len(places)), key=lambda one: (places[one].rank, places[one].name)):
        here = (int(across[place]), int(up[place]))
        if not all(0 <= value <= STEPS for value in here):
            continue
        near = (
            abs(here[0] - a) < 2 * APART * STEPS and abs(here[1] - b) < APART * STEPS / 2
            for a, b, _ in chosen
        )
        if not any(near):
            chosen.append([*here, places[place].name])
        if len(chosen) == MOST_NAMES:
            break
    return chosen


def _placed(x: NDArray[np.float64], y: NDArray[np.float64], crs: str | None, plan: Plan) -> tuple[Ints, Ints]:
    """Coordinates of the network in steps of the plan's bounds."""
    from ldptrace.core.crs import is_geographic, transform

    same = (
        crs is None or plan.crs is None or crs == plan.crs or (is_geographic(crs) and is_geographic(plan.crs))
    )
    if not same:
        assert crs is not None
        assert plan.crs is not None
        x, y = transform(x, y, crs, plan.crs)
    x0, y0, x1, y1 = plan.grid.bounds
    return (
        np.rint((x - x0) / (x1 - x0) * STEPS).astype(np.int64),
        np.rint((y - y0) / (y1 - y0) * STEPS).astype(np.int64),
    )
