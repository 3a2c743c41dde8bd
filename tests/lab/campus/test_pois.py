"""Places and visits keep their meaning through files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace_lab.campus.pois import HOUR, Pois, Visits

PLACES = Pois.build(
    np.array([0.0, 1.5, 3.0]),
    np.array([0.0, 2.5, 1.0]),
    ["food/bar", "study", "food/cafe"],
    {"food/bar": (18.0, 26.0), "food/cafe": (7.0, 19.5)},
    ['The "Anchor"', "Library, old", ""],
    np.array([2.0, 1.0, 0.5]),
    crs="EPSG:4326",
)


def test_open_past_midnight() -> None:
    bar, library, cafe = 0, 1, 2
    late = np.array([17.9, 18, 23.9, 24, 25.9, 26, 1.9, 2])
    assert PLACES.is_open(bar, late * HOUR).tolist() == [*(False, True, True, True, True, False, True, False)]
    assert PLACES.is_open(library, np.arange(48) * HOUR).all()
    day = np.array([6.9, 7, 19.4, 19.5, 31])
    assert PLACES.is_open(cafe, day * HOUR).tolist() == [False, True, True, False, True]


def test_places_round_trip(tmp_path: Path) -> None:
    PLACES.to_csv(tmp_path / "places.csv")
    back = Pois.from_csv(tmp_path / "places.csv")
    for name in ("x", "y", "category", "opens", "closes", "popularity"):
        np.testing.assert_array_equal(getattr(back, name), getattr(PLACES, name))
    assert (back.names, back.categories, back.crs) == (PLACES.names, PLACES.categories, PLACES.crs)


def test_no_places_round_trip(tmp_path: Path) -> None:
    none = Pois.build(np.empty(0), np.empty(0), [], {}, [])
    none.to_csv(tmp_path / "none.csv")
    assert len(Pois.from_csv(tmp_path / "none.csv")) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,x\nA,1\n", "no column category, closes, opens, popularity, y"),
        ("name,category,x,y,opens,closes,popularity\nA,b,one,1,0,24,1\n", "invalid value .one."),
        ("name,category,x,y,opens,closes,popularity\nA,b,1,1,25,26,1\n", "must open at an hour from 0 to 24"),
        ("name,category,x,y,opens,closes,popularity\nA,b,1,1,9,8,1\n", "close later"),
        ("", "not a table of places"),
    ],
)
def test_wrong_tables_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        Pois.from_csv(tmp_path / "p.csv")


def test_columns_must_agree() -> None:
    with pytest.raises(InputError, match="column names has 1 rows for 2 places"):
        Pois.build(np.zeros(2), np.zeros(2), ["a", "a"], {}, ["one"])
    with pytest.raises(InputError, match="numbers from 0 to 0"):
        Pois(np.zeros(1), np.zeros(1), np.array([3]), ("a",), np.zeros(1), np.ones(1), ("",), np.ones(1))


def test_visits_travel_with_trajectories() -> None:
    visits = Visits(np.array([1, 0, 2], dtype=np.int32), np.array([5.0, 90.0, 7.0]), np.array([0, 2, 3]))
    points = Trajectories(np.zeros(2), np.zeros(2), np.array([0, 1, 2]), extra=visits.to_arrow())
    back = Visits.of(Trajectories.from_arrow(points.to_arrow()))
    np.testing.assert_array_equal(back.poi, visits.poi)
    np.testing.assert_array_equal(back.t, visits.t)
    np.testing.assert_array_equal(back.offsets, visits.offsets)
    second = Visits.of(points.take([1]))
    assert (second.poi.tolist(), second.offsets.tolist()) == ([2], [0, 1])


def test_missing_visits_are_told() -> None:
    plain = Trajectories.from_lists([[(0, 0)]])
    with pytest.raises(InputError, match="have no visits"):
        Visits.of(plain)
    with pytest.raises(InputError, match="list columns poi and poi_t"):
        Visits.from_arrow(pa.table({"poi": [[1]]}))
    with pytest.raises(InputError, match="different lengths"):
        Visits.from_arrow(pa.table({"poi": [[1, 2]], "poi_t": [[1.0]]}))
    with pytest.raises(FormatError, match="not a table of places"):
        Pois.from_csv(__file__)
