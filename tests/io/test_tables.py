from __future__ import annotations

import pyarrow as pa
import pytest

from ldptrace.core.columns import Names
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.reading import Reading
from ldptrace.io.tables import in_memory, of_table
from trajectory_kit import assert_same

ROWS = {"trip": [1, 1, 2], "lon": [13.4, 13.5, 13.6], "lat": [52.4, 52.5, 52.6]}
WANTED = Trajectories([13.4, 13.5, 13.6], [52.4, 52.5, 52.6], [0, 2, 3], ids=[1, 2], crs="EPSG:4326")


def test_rows_points_and_what_was_left_out() -> None:
    table = pa.table({"trip": [1, None, 1], "x": [0, 1, 2], "y": [5, 6, 7], "t": [9, 8, 7]})
    parsed = of_table(table, Reading())
    assert parsed.rows == 3
    assert parsed.dropped_points == {"no trajectory id": 1}
    assert parsed.trajectories.x.tolist() == [2, 0]
    assert parsed.notes == ("points sorted by time",)
    assert of_table(table.slice(2), Reading()).dropped_points == {}


def test_what_the_user_said_counts() -> None:
    table = pa.table({"a": [1, 2], "b": [3, 4], "t": ["2024-07-01 12:00:00"] * 2})
    parsed = of_table(table, Reading(names=Names(x="b", y="a"), timezone="Europe/Berlin", split_gap=900))
    trips = parsed.trajectories
    assert (len(trips), trips.x.tolist(), trips.timezone) == (1, [3, 4], "Europe/Berlin")
    assert trips.t is not None
    assert trips.t.tolist() == [1_719_828_000.0] * 2


def test_a_complaint_names_the_line() -> None:
    with pytest.raises(NothingUsable, match="line 2: column x holds 'a', not a number"):
        of_table(pa.table({"trip": [1], "x": ["a"], "y": [1]}), Reading(), place="line", first=2)


def test_trajectories_are_themselves() -> None:
    parsed = in_memory(WANTED, Reading())
    assert parsed.trajectories is WANTED
    assert parsed.rows == 2


def test_tables_and_frames_are_read_alike() -> None:
    pandas = pytest.importorskip("pandas")
    table = pa.table(ROWS)
    for data in (table, table.to_batches()[0], table.to_reader(), pandas.DataFrame(ROWS)):
        parsed = in_memory(data, Reading())
        assert_same(parsed.trajectories, WANTED)
        assert parsed.rows == 3


def test_named_columns_count_in_memory_too() -> None:
    parsed = in_memory(
        pa.table({"a": [1], "b": [2], "who": [7]}), Reading(names=Names(x="b", y="a", id="who"))
    )
    assert (parsed.trajectories.x.tolist(), parsed.trajectories.y.tolist()) == ([2], [1])


def test_frames_with_geometry_count_their_rows() -> None:
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.points_from_xy(ROWS["lon"], ROWS["lat"])
    frame = geopandas.GeoDataFrame({"trip": ROWS["trip"]}, geometry=points, crs="EPSG:4326")
    parsed = in_memory(frame, Reading())
    assert_same(parsed.trajectories, WANTED)
    assert parsed.rows == 3


@pytest.mark.parametrize("data", [7, None, [(0, 1)], {"x": [1]}])
def test_anything_else_is_refused(data: object) -> None:
    with pytest.raises(InputError, match=rf"trajectories are needed \(.*\), got {type(data).__name__}"):
        in_memory(data, Reading())


def test_times_without_a_zone_beside_others_are_counted() -> None:
    table = pa.table(
        {"trip": [1, 1], "x": [0, 1], "y": [5, 6], "t": ["2024-05-01T08:00Z", "2024-05-01 10:01"]}
    )
    parsed = of_table(table, Reading(timezone="Europe/Berlin"))
    assert parsed.trajectories.t is not None
    assert (parsed.trajectories.t - 1_714_550_400).tolist() == [0, 60]
    what = "times without a zone, read on the clocks of Europe/Berlin, beside times with one"
    assert parsed.doubts == {what: 1}
