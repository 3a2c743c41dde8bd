"""The drawing of a campaign's streets: within the bounds, small, and with names that find room."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import streets as room
from ldptrace.server import streets as travellers
from ldptrace.server.streets import STEPS, Place, places_in
from server_kit import SINGLE, streets

OSM = """<?xml version="1.0"?><osm version="0.6">
<node id="1" version="1" lat="52.5" lon="13.4"><tag k="place" v="suburb"/><tag k="name" v="Mitte"/></node>
<node id="2" version="1" lat="52.6" lon="13.5"><tag k="place" v="bench"/><tag k="name" v="A bench"/></node>
<node id="3" version="1" lat="52.6" lon="13.5"><tag k="amenity" v="cafe"/><tag k="name" v="A cafe"/></node>
</osm>"""


def test_nodes_with_a_name(tmp_path: Path) -> None:
    rows = "id,lon,lat,Name,place\n1,13.4,52.5,Mitte,suburb\n2,13.5,52.6,,\n4,13,52,Berlin,city\n"
    (tmp_path / "nodes.csv").write_text(rows)
    assert places_in(tmp_path) == [Place(3, "Mitte", 13.4, 52.5), Place(0, "Berlin", 13.0, 52.0)]


def test_networks_without_names_have_none(tmp_path: Path) -> None:
    assert places_in(tmp_path) == []
    (tmp_path / "nodes.csv").write_text("id,x,y\n1,0,0\n")
    assert places_in(tmp_path) == []
    assert places_in(tmp_path / "roads.graphml") == []


def test_places_of_openstreetmap(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(OSM)
    assert places_in(tmp_path / "town.osm") == [Place(3, "Mitte", 13.4, 52.5)]


def drawn(folder: Path, plan: Plan = SINGLE) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(room.drawn(plan, folder))
    return found


def ends(line: list[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last point of a line."""
    points = np.cumsum(np.array(line).reshape(-1, 2), axis=0)
    return tuple(points[0].tolist()), tuple(points[-1].tolist())  # type: ignore[return-value]


def test_every_street_is_drawn_once(tmp_path: Path) -> None:
    wide, middle, thin = drawn(streets(tmp_path / "streets"))["lines"]
    assert (wide, middle, len(thin)) == ([], [], 84)
    step = STEPS / 6
    lattice = {round(step * number) for number in range(7)}
    for line in thin:
        (x0, y0), (x1, y1) = ends(line)
        assert {x0, y0, x1, y1} <= lattice
        assert abs(abs(x1 - x0) + abs(y1 - y0) - step) < 1


def test_what_is_outside_the_bounds_is_not_drawn(tmp_path: Path) -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 2.0, 2.0), 6), 1)
    lines = drawn(streets(tmp_path / "streets"), plan)["lines"][2]
    # Crossings 0 to 2 in both directions, and the streets that lead out.
    assert len(lines) == 12 + 6


def test_the_smallest_streets_are_left_out_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = streets(tmp_path / "streets")
    rows = (folder / "edges.csv").read_text().splitlines()
    kinds = ["highway", *("motorway" if number < 10 else "service" for number in range(len(rows) - 1))]
    (folder / "edges.csv").write_text(
        "\n".join(f"{row},{kind}" for row, kind in zip(rows, kinds, strict=True))
    )
    monkeypatch.setattr(room, "MOST_POINTS", 24)
    wide, _, thin = drawn(folder)["lines"]
    assert (len(wide), len(thin)) == (10, 2)


def test_names_that_find_room_are_written(tmp_path: Path) -> None:
    folder = streets(tmp_path / "streets")
    rows = (folder / "nodes.csv").read_text().splitlines()
    names = {1: "Hamlet,hamlet", 8: "City,city", 48: "Suburb,suburb"}
    rows = [
        f"{row},{names.get(number, ',')}" if number else f"{row},name,place"
        for number, row in enumerate(rows)
    ]
    (folder / "nodes.csv").write_text("\n".join(rows))
    # Two of the crossings are side by side: there is room for the larger place.
    assert [name for _, _, name in drawn(folder)["names"]] == ["City", "Suburb"]


def test_networks_in_other_coordinates_are_brought_to_the_plan(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": [[13.0 + 0.1 * step, 52.5] for step in range(11)]}
    feature = {"type": "Feature", "properties": {}, "geometry": line}
    text = json.dumps({"type": "FeatureCollection", "features": [feature]})
    grid = Grid((1446000.0, 6800000.0, 1560000.0, 6914000.0), 6)
    plan = Plan.single_report(grid, 1, crs="EPSG:3857")
    (tmp_path / "town.geojson").write_text(text)
    [one] = drawn(tmp_path / "town.geojson", plan)["lines"][2]
    (x0, y0), (x1, _) = ends(one)
    assert 0 <= x0 < 100
    assert abs(x1 - STEPS) < 120
    assert 0 < y0 < STEPS


TRIPS = Trajectories(
    np.array([0.0, 3.0, 6.0, 1.0, 1.0, 2.0, 2.0]),
    np.array([0.0, 3.0, 9.0, 1.0, 5.0, 2.0, 2.0]),
    np.array([0, 3, 5, 7]),
)


def test_trips_are_steps_within_the_map() -> None:
    document = json.loads(travellers.write_travellers(TRIPS, SINGLE))
    # The third stays where it is; what leaves the map ends at its border.
    long, short = document["trips"]
    assert long[1:] == [0, 0, STEPS // 2, STEPS // 2, STEPS // 2, STEPS // 2]
    assert short[1:] == [683, 683, 0, 2730]
    assert long[0] > short[0] >= travellers.LEAST


def test_a_trip_takes_as_long_as_the_model_says() -> None:
    timed = replace(TRIPS, t=np.array([0.0, 50.0, 100.0, 0.0, 300.0, 0.0, 10.0]))
    quick, slow = json.loads(travellers.write_travellers(timed, SINGLE))["trips"]
    # The one that is shorter on the map takes three times as long.
    assert (quick[0], slow[0]) == (15.0, 45.0)


def messages(data: bytes, beats: int) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        left = [beats]

        def stopped() -> bool:
            left[0] -= 1
            return left[0] < 0

        found = []
        async for text in travellers.stream(data, stopped, random.Random(1)):
            kind, body, *_ = text.split("\n")
            assert kind == "event: travellers"
            found.append(json.loads(body.removeprefix("data: ")))
        return found

    return asyncio.run(read())


def test_the_stream_keeps_as_many_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(travellers, "BEAT", 0.001)
    data = travellers.write_travellers(TRIPS, SINGLE)
    begin, *later = messages(data, 3)
    assert len(begin["trips"]) == travellers.MOVING
    assert all(-trip[1] <= trip[0] <= 0 for trip in begin["trips"])
    assert len(later) == 3
    assert all(0 <= trip[0] <= 0.01 for one in later for trip in one["trips"])


def test_without_a_trip_there_is_no_stream() -> None:
    empty = Trajectories(np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64))
    assert messages(travellers.write_travellers(empty, SINGLE), 3) == []
