"""The first hour of a data scientist in a notebook: frames in, frames out, and a look at everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldptrace as lt
from ldptrace.errors import DataWarning, InputError

pandas = pytest.importorskip("pandas")
geopandas = pytest.importorskip("geopandas")

BOUNDS = (13.0, 52.3, 13.8, 52.7)
USERS, TRIPS, POINTS = 60, 3, 5


@pytest.fixture
def frame() -> object:
    """A TrajDataFrame's columns (scikit-mobility): every user counts their own trips from 0."""
    rng = np.random.default_rng(1)
    count = USERS * TRIPS * POINTS
    start = pandas.Timestamp("2024-05-01 06:00", tz="Europe/Berlin")
    return pandas.DataFrame(
        {
            "uid": np.repeat(np.arange(USERS), TRIPS * POINTS),
            "tid": np.tile(np.repeat(np.arange(TRIPS), POINTS), USERS),
            "lat": rng.uniform(52.35, 52.65, count),
            "lng": rng.uniform(13.1, 13.7, count),
            "datetime": start + pandas.to_timedelta(np.tile(np.arange(POINTS), USERS * TRIPS) * 60, unit="s"),
        }
    )


@pytest.mark.slow
def test_a_frame_is_taken_as_it_is(frame: object) -> None:
    trips = lt.Trajectories.from_pandas(frame)
    assert len(trips) == USERS * TRIPS
    assert len(np.unique(trips.users)) == USERS
    assert trips.crs == "EPSG:4326"
    assert trips.has_dates
    synthetic = lt.synthesize(frame, epsilon=1.0, bounds=BOUNDS, grid=4, seed=1)
    assert len(synthetic) == USERS
    card = lt.evaluate(frame, synthetic, bounds=BOUNDS, seed=1, attacks=False)
    assert card.document()["privacy"]["unit"] == "user"


@pytest.mark.slow
def test_all_that_people_hold(frame: object, tmp_path: Path) -> None:
    trips = lt.read(frame)
    points = geopandas.GeoDataFrame(
        frame, geometry=geopandas.points_from_xy(frame["lng"], frame["lat"]), crs="EPSG:4326"
    )
    held = {
        "points": points.drop(columns=["lat", "lng"]),
        "lines": trips.to_geopandas(),
        "arrow": pa.Table.from_pandas(frame),
        "one row per trajectory": trips.to_arrow(),
        "rows": trips.to_pandas(),
    }
    lt.write(frame, tmp_path / "trips.csv")
    held["path"] = tmp_path / "trips.csv"
    for name, data in held.items():
        found = lt.read(data)
        assert (len(found), found.points) == (len(trips), trips.points), name
        np.testing.assert_allclose(np.sort(found.x), np.sort(trips.x), err_msg=name)
        assert len(lt.synthesize(data, 1.0, bounds=BOUNDS, grid=4, seed=1)) == USERS, name
    with pytest.raises(InputError, match="got list"):
        lt.synthesize([1, 2], 1.0, bounds=BOUNDS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_movingpandas_there_and_back(frame: object) -> None:
    pytest.importorskip("movingpandas")
    trips = lt.read(frame)
    collection = trips.to_movingpandas()
    assert len(collection) == len(trips)
    back = lt.read(collection)
    assert back.has_dates
    assert (len(back), back.points) == (len(trips), trips.points)
    assert back.t is not None
    np.testing.assert_array_equal(np.sort(back.t), np.sort(trips.t))
    with pytest.raises(InputError, match="movingpandas needs times"):
        lt.Trajectories.from_lists([[(0, 0), (1, 1)]]).to_movingpandas()


def test_a_look_at_things(frame: object) -> None:
    trips = lt.read(frame)
    assert repr(trips) == "<Trajectories: 180 trajectories, 900 points, of 60 users, with dates, EPSG:4326>"
    assert repr(trips[0]).startswith("<Trajectory")
    page = trips._repr_html_()
    assert page.count("<path") == 1
    assert "180 trajectories" in page
    assert len(page) < 100_000
    assert [len(trip) for trip in trips][:3] == [POINTS] * 3
    synthetic = lt.synthesize(trips, 1.0, bounds=BOUNDS, grid=4, seed=1)
    assert "synthetic, epsilon 1" in repr(synthetic)
    assert synthetic.to_geopandas().attrs["ldptrace"]["epsilon"] == "1"
    again = lt.Trajectories.from_pandas(synthetic.to_pandas())
    assert again.provenance == synthetic.provenance


def test_what_was_promised_survives_a_frame_on_disk(frame: object, tmp_path: Path) -> None:
    synthetic = lt.synthesize(frame, 1.0, bounds=BOUNDS, grid=4, seed=1)
    synthetic.to_pandas().to_parquet(tmp_path / "rows.parquet")
    found = lt.read(tmp_path / "rows.parquet")
    assert found.provenance is not None
    assert found.provenance["epsilon"] == "1"


def test_times_in_the_index_under_any_name(frame: object) -> None:
    indexed = frame.set_index("datetime").rename_axis("when")
    assert lt.read(indexed).has_dates
    assert lt.read(indexed.rename_axis(None)).has_dates


def test_missing_values_are_said(frame: object) -> None:
    frame.loc[7, "lat"] = np.nan
    with pytest.warns(DataWarning, match="omitted 1 point"):
        lt.synthesize(frame, 1.0, bounds=BOUNDS, grid=4, seed=1)
    with pytest.raises(InputError, match=r"no point lies in the bounds.*swapped"):
        lt.synthesize(frame.dropna(), 1.0, bounds=(52.3, 13.0, 52.7, 13.8))


def test_named_columns_and_a_wrong_name(frame: object) -> None:
    renamed = frame.rename(
        columns={"lng": "Easting?", "lat": "b", "uid": "who", "tid": "which", "datetime": "when"}
    )
    named = {"x": "Easting?", "y": "b", "user": "who", "id": "which", "t": "when"}
    trips = lt.Trajectories.from_pandas(renamed, crs="EPSG:4326", **named)
    assert len(trips) == USERS * TRIPS
    assert trips.user == "who"
    with pytest.raises(InputError, match="there is no column 'whom' for user; the columns are"):
        lt.read(renamed, x="Easting?", y="b", user="whom")
