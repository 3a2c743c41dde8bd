from __future__ import annotations

import pyarrow as pa
import pytest

from ldptrace.core.columns import Names
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.held import held
from ldptrace.io.reading import Reading
from trajectory_kit import assert_same

ROWS = {"trip": [1, 1, 2], "lon": [13.4, 13.5, 13.6], "lat": [52.4, 52.5, 52.6]}
WANTED = Trajectories([13.4, 13.5, 13.6], [52.4, 52.5, 52.6], [0, 2, 3], ids=[1, 2], crs="EPSG:4326")


def test_trajectories_are_themselves() -> None:
    parsed = held(WANTED, Reading())
    assert parsed.trajectories is WANTED
    assert parsed.rows == 2


def test_tables_and_frames_are_read_alike() -> None:
    pandas = pytest.importorskip("pandas")
    table = pa.table(ROWS)
    for data in (table, table.to_batches()[0], table.to_reader(), pandas.DataFrame(ROWS)):
        parsed = held(data, Reading())
        assert_same(parsed.trajectories, WANTED)
        assert parsed.rows == 3


def test_named_columns_count_in_memory_too() -> None:
    parsed = held(pa.table({"a": [1], "b": [2], "who": [7]}), Reading(names=Names(x="b", y="a", id="who")))
    assert (parsed.trajectories.x.tolist(), parsed.trajectories.y.tolist()) == ([2], [1])


def test_frames_with_geometry_count_their_rows() -> None:
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.points_from_xy(ROWS["lon"], ROWS["lat"])
    frame = geopandas.GeoDataFrame({"trip": ROWS["trip"]}, geometry=points, crs="EPSG:4326")
    parsed = held(frame, Reading())
    assert_same(parsed.trajectories, WANTED)
    assert parsed.rows == 3


@pytest.mark.parametrize("data", [7, None, [(0, 1)], {"x": [1]}])
def test_anything_else_is_refused(data: object) -> None:
    with pytest.raises(InputError, match=rf"trajectories are needed \(.*\), got {type(data).__name__}"):
        held(data, Reading())
