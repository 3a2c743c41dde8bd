from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.projection import project
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


def test_projection_there_and_back() -> None:
    pytest.importorskip("pyproj")
    lines = Trajectories(
        [13.4, 13.5], [52.5, 52.6], [0, 2], t=[1, 2], extra=pa.table({"a": [1]}), crs="EPSG:4326"
    )
    planar = project(lines, "EPSG:3857")
    # Web Mercator's x is the longitude times the equator's 20,037,508.34 m for 180 degrees.
    assert planar.x[0] == pytest.approx(13.4 / 180 * 20_037_508.342789244)
    assert planar.crs == "EPSG:3857"
    back = project(planar, "EPSG:4326")
    np.testing.assert_allclose(back.y, lines.y, rtol=1e-12)
    assert back.t is not None


def test_projection_needs_to_know_where_from_and_where_to() -> None:
    pytest.importorskip("pyproj")
    with pytest.raises(InputError, match="is not known; say it with crs"):
        project(Trajectories.from_lists([[(1, 2)]]), "EPSG:3857")
    lines = Trajectories.from_lists([[(1, 2)]], crs="EPSG:4326")
    with pytest.raises(InputError, match="cannot go from EPSG:4326 to EPSG:0"):
        project(lines, "EPSG:0")


@pytest.mark.parametrize("module", ["geopandas", "pyproj"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    lines = Trajectories.from_lists([[(1, 2), (3, 4)]], crs="EPSG:4326")
    with pytest.raises(
        InputError, match=rf"{module} is needed for this; install it with: pip install 'ldptrace\[geo\]'"
    ):
        lines.to_geopandas() if module == "geopandas" else project(lines, "EPSG:3857")
