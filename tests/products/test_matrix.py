"""Matrices of trips between zones, and the files that hold them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import openmatrix
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.departures import HOUR, checked_by
from ldptrace.products.matrix import UNTOLD, Matrix, independent
from ldptrace.products.sample import SURE, Numbers, Sample
from ldptrace.products.zones import H3, Polygons, Zones

HALVES = Polygons("halves", ("west", "east"), [shapely.box(0, 0, 1, 2), shapely.box(1, 0, 2, 2)])
NUMBERED = replace(HALVES, ids=("7", "9"))
PROMISE = {"epsilon": "1", "unit": "user"}


def trips(*ends: tuple[float, float, float]) -> Trajectories:
    """Trips along y = 1, given the x of both ends and the hour."""
    points = [point for a, b, _ in ends for point in ((a, 1.0), (0.1, 1.9), (b, 1.0))]
    x, y = np.array(points).T
    t = np.repeat([HOUR * hour for *_, hour in ends], 3)
    return Trajectories(x, y, np.arange(0, len(x) + 1, 3), t=t, provenance=PROMISE)


TRIPS = trips((0.5, 1.5, 8), (0.5, 1.5, 8.9), (1.5, 0.5, 17), (0.5, 9.0, 17))


def counted(trips: Trajectories, zones: Zones, by: str | None = None, weight: float = 1.0) -> Matrix:
    return Matrix.count(Sample(trips, weight), zones, checked_by(by))


def test_first_and_last_points_count_by_hour() -> None:
    found = counted(TRIPS, HALVES, "hour")
    assert found.slots == ("hour_08", "hour_17")
    assert found.trips.tolist() == [[[0, 2], [0, 0]], [[0, 0], [1, 0]]]
    assert found.outside == 1
    assert counted(TRIPS, HALVES, weight=2.5).outside == 2.5
    assert found.promise == PROMISE


@given(st.lists(st.tuples(*[st.floats(0.01, 1.99)] * 2, st.floats(0, 23.9)), min_size=1, max_size=40))
def test_all_trips_are_somewhere(ends: list[tuple[float, float, float]]) -> None:
    made = trips(*ends)
    for by in (None, "hour", "period"):
        found = counted(made, HALVES, by, weight=2.5)
        assert found.total == pytest.approx(2.5 * len(ends))


def test_omx_holds_a_matrix_for_each_slot(tmp_path: Path) -> None:
    found = counted(TRIPS, NUMBERED, "period")
    assert found.write(tmp_path / "od.omx") == [tmp_path / "od.omx"]
    with openmatrix.open_file(str(tmp_path / "od.omx")) as file:
        assert file.list_matrices() == ["evening", "morning"]
        assert np.array(file["morning"]).tolist() == [[0, 2], [0, 0]]
        assert file.mapping("zone") == {7: 0, 9: 1}


def test_names_of_zones_that_are_no_numbers_go_beside_the_lookup(tmp_path: Path) -> None:
    counted(TRIPS, HALVES).write(tmp_path / "od.omx")
    with openmatrix.open_file(str(tmp_path / "od.omx")) as file:
        assert file.mapping("zone") == {1: 0, 2: 1}
        assert file.root.zone_names.read() == [b"west", b"east"]


def test_thousands_of_long_names_fit_in_a_file(tmp_path: Path) -> None:
    names = tuple(f"{number:0>60}" for number in range(1_100))
    Matrix(names, ("trips",), Numbers(np.zeros((1, len(names), len(names))))).write(tmp_path / "od.omx")
    with openmatrix.open_file(str(tmp_path / "od.omx")) as file:
        assert file.root.zone_names.read() == [name.encode() for name in names]


def test_intervals_allow_for_what_no_answer_says() -> None:
    """A model whose replicates all agree is still unsure which origins belong to which destinations."""
    many = Trajectories.concat([TRIPS] * 500)
    found = Matrix.count(Sample(many, replicates=np.ones((2, len(many)), dtype=np.float32)), HALVES)
    assert found.numbers.low is not None
    chance = 2 * found.trips[0, 0, 1]
    # Chosen on generated cities; a smaller one makes intervals too narrow.
    assert UNTOLD == 0.2
    error = np.sqrt(chance + (0.2 * independent(found.trips)[0, 0, 1]) ** 2)
    assert error > np.sqrt(chance)
    assert found.numbers.low[0, 0, 1] == pytest.approx(found.trips[0, 0, 1] - SURE * error)


def test_intervals_are_columns_or_further_files(tmp_path: Path) -> None:
    found = counted(TRIPS, NUMBERED)
    found = replace(found, numbers=Numbers(found.trips, low=0.5 * found.trips, high=2 * found.trips))
    assert len(found.write(tmp_path / "od.omx")) == 3
    with openmatrix.open_file(str(tmp_path / "od.high.omx")) as file:
        assert np.array(file["trips"]).tolist() == [[0, 4], [2, 0]]
    found.write(tmp_path / "od.parquet")
    table = pq.read_table(tmp_path / "od.parquet")
    assert table.to_pylist()[0] == {
        "slot": "trips", "origin": "7", "destination": "9", "trips": 2.0, "low": 1.0, "high": 4.0,
    }  # fmt: skip
    assert b'"epsilon": "1"' in table.schema.metadata[b"ldptrace"]


def test_csv_has_its_promise_beside_it(tmp_path: Path) -> None:
    counted(TRIPS, HALVES, "hour", 10.0).write(tmp_path / "od.csv")
    assert pc.read_csv(tmp_path / "od.csv")["trips"].to_pylist() == [20, 10]
    assert (tmp_path / "od.csv.promise.json").exists()


def test_a_matrix_that_no_memory_holds_is_refused() -> None:
    many = Trajectories.concat([trips((0.1, 0.2, 8))] * 6_000)
    hexagons = replace(many, x=13 + 1e-3 * np.arange(many.points), crs="EPSG:4326")
    with pytest.raises(
        InputError, match=r"h3:9: \d+,\d+ zones make a matrix of .* at most 25,000,000; take larger"
    ):
        counted(hexagons, H3(9))


def test_what_cannot_be_counted_or_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"written as .omx, .parquet, .csv, got od.xlsx"):
        counted(TRIPS, HALVES).write(tmp_path / "od.xlsx")
