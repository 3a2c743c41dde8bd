from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from trajectory_kit import assert_same, trajectory_sets


@given(trajectory_sets(min_points=0, extra=True))
@settings(max_examples=30)
def test_there_and_back(trajectories: Trajectories) -> None:
    pytest.importorskip("geopandas")
    if trajectories.sizes.max() < 2:
        return
    assert_same(Trajectories.from_geopandas(trajectories.to_geopandas()), trajectories)


def test_parts_of_lines_are_trajectories() -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    lines = shapely.MultiLineString([[(0, 0), (1, 1)], [(2, 2), (3, 3), (4, 4)]])
    found = Trajectories.from_geopandas(
        geopandas.GeoDataFrame({"mode": ["bus"]}, geometry=[lines], crs="EPSG:3857")
    )
    assert found.sizes.tolist() == [2, 3]
    assert found.crs == "EPSG:3857"
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus", "bus"]}


def test_a_frame_of_points_needs_to_say_which_trip_they_are_of() -> None:
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy([1, 2], [1, 2]))
    with pytest.raises(InputError, match="no column says which trajectory"):
        Trajectories.from_geopandas(frame)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    lines = Trajectories.from_lists([[(1, 2), (3, 4)]], crs="EPSG:4326")
    with pytest.raises(
        InputError, match=r"geopandas is needed for this; install it with: pip install 'ldptrace\[geo\]'"
    ):
        lines.to_geopandas()
