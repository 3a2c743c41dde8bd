from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.projection import project


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
    with pytest.raises(InputError, match="is not known; give it with crs"):
        project(Trajectories.from_lists([[(1, 2)]]), "EPSG:3857")
    lines = Trajectories.from_lists([[(1, 2)]], crs="EPSG:4326")
    with pytest.raises(InputError, match="cannot convert from EPSG:4326 to EPSG:0"):
        project(lines, "EPSG:0")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    lines = Trajectories.from_lists([[(1, 2), (3, 4)]], crs="EPSG:4326")
    with pytest.raises(
        InputError, match=r"pyproj is needed for this; install it with: pip install 'ldptrace\[geo\]'"
    ):
        project(lines, "EPSG:3857")
