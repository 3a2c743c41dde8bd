from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.columns import find_columns
from ldptrace.core.positions import positioned, rows_are_trips
from ldptrace.core.reading import Names
from ldptrace.core.tables import read_table
from ldptrace.errors import InputError, NothingUsable

h3 = pytest.importorskip("h3")
CELLS = [h3.latlng_to_cell(52.5, 13.4 + k / 100, 9) for k in range(3)]
PLACES = [(lon, lat) for lat, lon in map(h3.cell_to_latlng, CELLS)]
LINES = {
    "wkt": ["LINESTRING (0 1, 2 3)", "linestring z(4 5 9,6 7 9, 8 9 9)", None],
    "geojson": [
        '{"type":"LineString","coordinates":[[0,1],[2,3]]}',
        '{"coordinates": [ [4, 5, 9], [6, 7, 9], [8, 9.0, 9] ], "type": "LineString"}',
        '{"type":"Point"}',
    ],
    "wkb": [
        struct.pack("<BII4d", 1, 2, 2, 0, 1, 2, 3),
        struct.pack("<BII6d", 1, 2, 3, 4, 5, 6, 7, 8, 9),
        None,
    ],
    "lists": [[[0, 1], [2, 3]], [[4, 5, 9], [6, 7, 9], [8, 9, 9]], None],
    "structs": [
        [{"lat": 1, "lon": 0}, {"lat": 3, "lon": 2}],
        [{"lat": 5, "lon": 4}, {"lat": 7, "lon": 6}, {"lat": 9, "lon": 8}],
        None,
    ],
}


@pytest.mark.parametrize("written", LINES)
def test_lines_in_one_column(written: str) -> None:
    table = pa.table({"user": ["a", "b", "c"], "geometry": LINES[written], "mode": ["bus", "tram", "foot"]})
    found = read_table(table)
    assert found.offsets.tolist() == [0, 2, 5, 5]
    assert (found.x.tolist(), found.y.tolist()) == ([0, 2, 4, 6, 8], [1, 3, 5, 7, 9])
    assert found.user == "user"
    assert found.extra is not None
    assert found.extra["mode"].to_pylist() == ["bus", "tram", "foot"]
    assert found.crs == ("EPSG:4326" if written in ("geojson", "structs") else None)


def test_each_part_of_a_line_keeps_its_row() -> None:
    lines = [
        "SRID=25833;MULTILINESTRING ((1 2, 3 4), (5 6,7 8))",
        "SRID=25833;LINESTRING (0 0, 1 1)",
        "SRID=25833;LINESTRING EMPTY",
    ]
    found = read_table(pa.table({"user": ["a", "b", "c"], "wkt": lines}))
    assert found.offsets.tolist() == [0, 2, 4, 6, 6]
    assert found.extra is not None
    assert found.extra["user"].to_pylist() == ["a", "a", "b", "c"]
    assert found.crs == "EPSG:25833"
    parts = '{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}'
    assert read_table(pa.table({"user": ["a"], "geojson": [parts]})).offsets.tolist() == [0, 2, 4]


def test_times_of_lines_are_lists() -> None:
    table = pa.table({"wkt": LINES["wkt"], "times": ["[10, 20]", '["2024-05-01T00:00:00Z"]', None]})
    found = read_table(table)
    assert found.t is not None
    np.testing.assert_array_equal(found.t, [10, 20, np.nan, np.nan, np.nan])
    named = read_table(table.rename_columns(["wkt", "clock"]), names=Names(t="clock"))
    assert named.t is not None
    np.testing.assert_array_equal(named.t, found.t)
    # A single time of a line is a further column.
    single = read_table(pa.table({"wkt": LINES["wkt"], "t": [1, 2, 3]}))
    assert single.t is None
    places = [[{"x": 0, "y": 1, "t": 5}, {"x": 2, "y": 3, "t": 6}]]
    inside = read_table(pa.table({"points": places})).t
    assert inside is not None
    assert inside.tolist() == [5, 6]


def test_a_broken_line_keeps_its_user_and_its_other_points() -> None:
    lines = [
        "LINESTRING (0 0, 1 1)",
        "LINESTRING (2 two, 3 3)",
        "nothing",
        "LINESTRING (4 4, 5 5)",
        "POINT (6 6)",
    ]
    found = read_table(pa.table({"user": list("abcde"), "wkt": lines}))
    assert found.offsets.tolist() == [0, 2, 4, 4, 6, 7]
    np.testing.assert_array_equal(found.y, [0, 1, np.nan, 3, 4, 5, 6])


@pytest.mark.parametrize("points", [1, 2])
def test_one_person_does_not_decide_what_rows_are(points: int) -> None:
    texts = ["LINESTRING (0 0, 1 1)"] + ["POINT (1 1)"] * points
    with pytest.raises(NothingUsable, match=f"{points} rows are points and 1 are lines"):
        read_table(pa.table({"id": range(points + 1), "wkt": texts}))


@pytest.mark.parametrize(
    "joined", [{"trip": [1, 2, 3, 3]}, {"trip": [1, 2, None, 3]}, {"trip": [1, 2, 3, 4], "t": [1, 2, 3, 4]}]
)
def test_points_among_lines_that_would_be_joined_without_them_are_refused(
    joined: dict[str, list[Any]],
) -> None:
    lines = pa.table({"wkt": ["LINESTRING (0 0, 1 1)"] * 3})
    points = pa.table(joined | {"wkt": ["LINESTRING (0 0, 1 1)"] * 2 + ["POINT (1 1)"] * 2})
    whole = pa.concat_tables([points, lines], promote_options="default")
    for lined in (None, True):
        with pytest.raises(NothingUsable, match="either points or lines"):
            positioned(whole, lines=lined)
    with pytest.raises(NothingUsable, match="some rows are points and others are lines"):
        positioned(whole, lines=False)
    found = positioned(points.filter(pa.array([False, False, True, True])))[0]
    assert found["x"].to_pylist() == [1, 1]


def test_points_may_list_their_time_as_lines_do() -> None:
    found = read_table(
        pa.table({"trip": [1, 2], "wkt": ["POINT (0 0)", "POINT (1 1)"], "times": ["[7]", "8"]})
    )
    assert found.t is not None
    np.testing.assert_array_equal(found.t, [7, np.nan])


PICKUPS = {
    "pickup_longitude": [1.0, 3.0],
    "pickup_latitude": ["2", "4,5"],
    "dropoff_longitude": [5, 7],
    "dropoff_latitude": [6, None],
    "tpep_pickup_datetime": ["2024-05-01 08:00", "2024-05-01 09:00"],
    "tpep_dropoff_datetime": ["2024-05-01 08:10", "soon"],
    "taxi_id": [7, 7],
}


def test_trips_of_two_points() -> None:
    found = read_table(pa.table(PICKUPS))
    assert found.offsets.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(found.x, [1, 5, 3, 7])
    np.testing.assert_array_equal(found.y, [2, 6, 4.5, np.nan])
    assert found.crs == "EPSG:4326"
    assert found.t is not None
    np.testing.assert_array_equal(np.diff(found.t), [600, 3000, np.nan])
    # The number of a vehicle names no trip.
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"taxi_id": [7, 7]}


@pytest.mark.parametrize(
    "names",
    [
        ["start_lat", "start_lng", "end_lat", "end_lng", "started_at", "ended_at"],
        [
            *("Start Station Latitude", "Start Station Longitude", "End Station Latitude"),
            *("End Station Longitude", "Starttime", "Stoptime"),
        ],
        [
            *("Pickup Centroid Latitude", "Pickup Centroid Longitude", "Dropoff Centroid Latitude"),
            *("Dropoff Centroid Longitude", "Trip Start Timestamp", "Trip End Timestamp"),
        ],
        ["origin_y", "origin_x", "destination_y", "destination_x", "departure_time", "arrival_time"],
        ["lat_o", "lon_o", "lat_d", "lon_d", "departure_datetime", "arrival_datetime"],
    ],
)
def test_usual_names_of_origins_and_destinations(names: list[str]) -> None:
    values = [[2.0], [1.0], [4.0], [3.0], ["2024-05-01 08:00"], ["2024-05-01 08:10"]]
    found = read_table(pa.table(dict(zip(names, values, strict=True))))
    assert (found.x.tolist(), found.y.tolist()) == ([1, 3], [2, 4])
    assert found.t is not None
    assert np.diff(found.t).tolist() == [600]
    assert found.crs == (None if names[0] == "origin_y" else "EPSG:4326")


def test_two_points_have_two_columns_of_times() -> None:
    with pytest.raises(InputError, match="t cannot name 'when': a row has two points"):
        find_columns([*PICKUPS, "when"], Names(t="when"))
    zoned = pa.table(
        {name: values for name, values in PICKUPS.items() if "datetime" not in name}
        | {
            name: pa.array([0, 60], pa.timestamp("s", "America/New_York"))
            for name in ("pickup_datetime", "dropoff_datetime")
        }
    )
    assert read_table(zoned).timezone == "America/New_York"


@pytest.mark.parametrize(
    "cells",
    [
        [" ".join(CELLS[:2]), CELLS[2]],
        [json.dumps(CELLS[:2]), f"{CELLS[2]};"],
        [",".join(CELLS[:2]), f"['{CELLS[2]}']".replace("'", '"')],
        [CELLS[:2], CELLS[2:]],
        [[h3.str_to_int(cell) for cell in CELLS[:2]], [h3.str_to_int(CELLS[2])]],
        [" ".join(str(h3.str_to_int(cell)) for cell in CELLS[:2]), CELLS[2]],
    ],
)
def test_sequences_of_cells(cells: list[object]) -> None:
    table = pa.table({"user": ["a", "b"], "h3_cells": cells})
    found = read_table(table)
    assert found.offsets.tolist() == [0, 2, 3]
    assert list(zip(found.x.tolist(), found.y.tolist(), strict=True)) == PLACES
    assert (found.crs, found.user) == ("EPSG:4326", "user")
    assert rows_are_trips(table.schema, find_columns(table.column_names))


def test_a_cell_for_each_point() -> None:
    table = pa.table({"trip": [1, 1, 2], "h3": [CELLS[1], CELLS[0], "none"], "time": [2, 1, 3]})
    assert rows_are_trips(table.schema, find_columns(table.column_names)) is False
    found = read_table(table)
    np.testing.assert_array_equal(found.x, [PLACES[0][0], PLACES[1][0], np.nan])
    assert found.t is not None
    assert found.t.tolist() == [1, 2, 3]
    with pytest.raises(NothingUsable, match="column h3 must hold cells of H3, it holds 'east'"):
        read_table(pa.table({"trip": [1], "h3": ["east"]}))


def test_other_columns_are_left_alone() -> None:
    table = pa.table({"x": [1], "y": [2], "id": [3], "geometry": ["POINT (9 9)"], "start_x": [1]})
    found, columns = positioned(table)
    assert found is table
    assert columns.geometry is None
