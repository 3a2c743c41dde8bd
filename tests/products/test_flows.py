"""Vehicles on streets and turns, with the names of the network's own edges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import geopandas
import numpy as np
import pyarrow.parquet as pq
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.departures import HOUR
from ldptrace.products.flows import UNTOLD, Flows, Streets
from ldptrace.products.sample import SURE, Numbers, Sample
from ldptrace.roads.coverage import in_pieces
from ldptrace.roads.network import RoadNetwork

# A chessboard of 4 x 4 junctions, 200 apart; every street both ways, named by its row.
SIDE, STEP = 4, 200.0


def chessboard() -> RoadNetwork:
    x, y = (axis.ravel() for axis in np.meshgrid(*[STEP * np.arange(SIDE)] * 2, indexing="ij"))
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    a = np.concatenate((number[:-1].ravel(), number[:, :-1].ravel()))
    b = np.concatenate((number[1:].ravel(), number[:, 1:].ravel()))
    names = np.array([f"street {row}" for row in range(len(a))])
    roads = RoadNetwork.of(x, y, np.concatenate((a, b)), np.concatenate((b, a)), name="chessboard")
    return replace(roads, edge_id=np.tile(names, 2), backward=np.repeat([False, True], len(a)))


ROADS = chessboard()


def trip(*corners: tuple[float, float], leaves: float = 8 * HOUR) -> Trajectories:
    """Along the corners, in steps of 20 units and seconds."""
    x, y = (np.array(axis) for axis in zip(*corners, strict=True))
    along = np.concatenate(([0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))))
    at = np.arange(0, along[-1] + 1, 20.0)
    return Trajectories(
        np.interp(at, along, x), np.interp(at, along, y), [0, len(at)], t=leaves + np.arange(len(at)) * 20.0
    )


EAST = trip((0, 0), (600, 0))
WEST = trip((600, 0), (0, 0), leaves=9 * HOUR)
CORNER = trip((0, 0), (200, 0), (200, 600))


def flows(trips: Trajectories, roads: RoadNetwork, by: str | None = None, weight: float = 1.0) -> Flows:
    return Flows.count(Sample(trips, weight), roads, by)


def vehicles(found: Flows) -> dict[tuple[str, str], float]:
    rows = found.streets_table().to_pylist()
    return {(row["edge_id"], row["direction"]): row["vehicles"] for row in rows}


def test_every_street_of_a_trip_counts_once_in_its_direction() -> None:
    found = flows(Trajectories.concat([EAST, EAST, WEST]), ROADS)
    names = [f"street {row}" for row in (0, 4, 8)]
    assert vehicles(found) == {(name, "forward"): 2.0 for name in names} | {
        (name, "backward"): 1.0 for name in names
    }
    assert found.followed > 0.95


def test_intervals_of_streets_allow_for_what_no_answer_says() -> None:
    sample = Sample(Trajectories.concat([EAST] * 500), replicates=np.ones((2, 500), dtype=np.float32))
    found = Flows.count(sample, ROADS)
    assert found.vehicles.low is not None
    busiest = int(found.vehicles.values[0].argmax())
    # Two fifths of the number, as the guide for planners says.
    assert UNTOLD == 0.4
    error = np.sqrt(2 * 500 + (0.4 * 500) ** 2)
    assert found.vehicles.low[0, busiest] == pytest.approx(500 - SURE * error)


def test_pieces_of_a_cut_edge_are_one_street() -> None:
    names = ROADS.edge_id
    assert names is not None
    southern = replace(
        ROADS, edge_id=np.where(np.isin(names, ["street 0", "street 4", "street 8"]), "south", names)
    )
    found = vehicles(flows(Trajectories.concat([EAST, EAST, WEST, CORNER]), southern))
    assert found["south", "forward"] == 3
    assert found["south", "backward"] == 1
    lines = Streets.of(in_pieces(ROADS, 70.0)).lines()
    assert {line.geom_type for line in lines} == {"LineString"}
    assert {round(line.length) for line in lines} == {200}


def test_turns_are_counted_where_they_are_taken() -> None:
    rows = flows(CORNER, ROADS).turns_table().to_pylist()
    first = next(row for row in rows if row["from_edge_id"] == "street 0")
    assert (first["to_edge_id"], first["x"], first["y"], first["vehicles"]) == ("street 15", 200.0, 0.0, 1.0)
    assert len(rows) == 3


def test_hours_are_those_in_which_a_street_is_entered() -> None:
    late = replace(EAST, t=EAST.t + HOUR - 300 if EAST.t is not None else None)
    found = flows(late, ROADS, "hour", weight=10)
    assert found.vehicles.values[8].sum() + found.vehicles.values[9].sum() == 30
    assert found.vehicles.values[8].sum() > 0
    assert found.vehicles.values[9].sum() > 0


def test_flows_carry_what_describes_a_street_and_its_total() -> None:
    names = ROADS.edge_id
    assert names is not None
    named = replace(
        ROADS,
        edge_id=np.where(np.isin(names, ["street 0", "street 4"]), "south", names),
        street=np.where(np.isin(names, ["street 0", "street 4"]), "South Street", ""),
        road_class=np.where(names == "street 8", 1, 0).astype(np.int16),
        classes=("primary", "residential"),
    )
    monday = 4 * 86_400.0
    on = [replace(EAST, t=EAST.t + day * 86_400 + monday) for day in (0, 0, 5) if EAST.t is not None]
    rows = flows(Trajectories.concat(on), named, "weekday", weight=2).streets_table().to_pylist()
    by_id = {row["edge_id"]: row for row in rows}
    south, last = by_id["south"], by_id["street 8"]
    assert (south["name"], south["class"], south["length"]) == ("South Street", "primary", 400.0)
    assert (last["name"], last["class"], last["length"]) == (None, "residential", 200.0)
    assert [south[day] for day in ("vehicles", "monday", "tuesday", "saturday")] == [6.0, 4.0, 0.0, 2.0]


def test_the_total_of_a_street_has_an_interval_of_its_own() -> None:
    sample = Sample(Trajectories.concat([EAST] * 400), replicates=np.ones((2, 400), dtype=np.float32))
    whole, hourly = Flows.count(sample, ROADS), Flows.count(sample, ROADS, "hour")
    assert whole.total.high is not None
    assert hourly.total.high is not None
    assert whole.total.high.tolist() == hourly.total.high.tolist()
    assert hourly.streets_table()["vehicles_high"] == whole.streets_table()["vehicles_high"]


@pytest.mark.parametrize("crs", [None, "EPSG:32633"])
def test_a_geopackage_has_streets_and_turns(tmp_path: Path, crs: str | None) -> None:
    made = flows(Trajectories.concat([EAST, CORNER]), replace(ROADS, crs=crs))
    assert made.write(tmp_path / "f.gpkg") == [tmp_path / "f.gpkg"]
    streets = geopandas.read_file(tmp_path / "f.gpkg", layer="streets")
    assert set(streets.columns) == {
        *("edge_id", "name", "class", "length", "direction", "vehicles", "geometry")
    }
    assert (None if streets.crs is None else streets.crs.to_string()) == crs
    assert len(geopandas.read_file(tmp_path / "f.gpkg", layer="turns")) == made.turns.shape[1]


@pytest.mark.parametrize("crs", [None, "EPSG:32633"])
def test_geojson_names_its_layers_and_coordinates(tmp_path: Path, crs: str | None) -> None:
    """Without a member `crs`, GeoJSON holds longitudes and latitudes."""
    made = flows(Trajectories.concat([EAST, CORNER]), replace(ROADS, crs=crs))
    for name, file in zip(("streets", "turns"), made.write(tmp_path / "f.geojson"), strict=True):
        document = json.loads(file.read_text())
        assert document["name"] == name
        named = document["crs"] and document["crs"]["properties"]["name"]
        assert named == (crs and f"urn:ogc:def:crs:{crs.replace(':', '::')}")


def test_geojson_and_parquet_are_two_files(tmp_path: Path) -> None:
    made = replace(flows(EAST, ROADS), promise={"epsilon": "1"})
    assert [path.name for path in made.write(tmp_path / "f.geojson")] == ["f.geojson", "f.turns.geojson"]
    assert len(geopandas.read_file(tmp_path / "f.geojson")) == 3
    total, vehicles = (
        Numbers(each.values, low=0.5 * each.values, high=4 * each.values)
        for each in (made.total, made.vehicles)
    )
    bounds = replace(made, total=total, vehicles=vehicles)
    bounds.write(tmp_path / "f.parquet")
    table = pq.read_table(tmp_path / "f.parquet")
    assert table["vehicles_high"].to_pylist() == [4.0] * 3
    assert b"epsilon" in table.schema.metadata[b"ldptrace"]
    assert pq.read_table(tmp_path / "f.turns.parquet").num_rows == 2


def test_trips_of_another_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of the length of the trips lies on its streets"):
        flows(trip((0, 100), (600, 100)), ROADS)
    with pytest.raises(InputError, match="0% of the length"):
        flows(trip((5000, 100), (5600, 100)), ROADS)
    with pytest.raises(
        InputError, match="its coordinates are EPSG:32633, those of the trajectories EPSG:4326"
    ):
        flows(replace(EAST, crs="EPSG:4326"), replace(ROADS, crs="EPSG:32633"))
    with pytest.raises(InputError, match="no times"):
        flows(replace(EAST, t=None), ROADS, "hour")
    with pytest.raises(InputError, match="no dates, so they cannot be counted by day"):
        flows(EAST, ROADS, "day")
    with pytest.raises(InputError, match=r"written as .gpkg, .geojson, .parquet"):
        flows(EAST, ROADS).write(tmp_path / "f.csv")
