from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.layers import read_layer, stated_crs, write_lines
from ldptrace.errors import FormatError, InputError

pytest.importorskip("pyogrio")
LINES = [np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[5.0, 5.0], [6.0, 6.0], [7.0, 8.0]])]


def test_lines_that_were_written_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    write_lines(path, "streets", LINES, {"name": ["a", "b"]}, "EPSG:25833")
    found = read_layer(path, ("LineString",))
    np.testing.assert_array_equal(np.c_[found.shapes.x, found.shapes.y], np.concatenate(LINES))
    assert found.shapes.offsets.tolist() == [0, 2, 5]
    assert found.columns.to_pydict() == {"name": ["a", "b"]}
    assert (found.crs, found.notes, stated_crs(path)) == ("EPSG:25833", (), "EPSG:25833")


def test_degrees_without_a_name_are_recognised(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.gpkg", "streets", LINES, {"name": ["a", "b"]}, None)
    found = read_layer(tmp_path / "a.gpkg", ("LineString",))
    assert found.crs == "EPSG:4326"
    assert "the numbers are taken as degrees" in found.notes[0]
    write_lines(tmp_path / "b.gpkg", "streets", [1_000 * LINES[0]], {"name": ["a"]}, None)
    assert read_layer(tmp_path / "b.gpkg", ("LineString",)).crs is None


def test_degrees_of_other_surveys_are_those_of_gps(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.gpkg", "streets", LINES, {"name": ["a", "b"]}, "EPSG:4258")
    found = read_layer(tmp_path / "a.gpkg", ("LineString",))
    assert (found.crs, found.notes) == (
        "EPSG:4326",
        ("EPSG:4258 is taken as EPSG:4326, they differ by a metre or so",),
    )


def test_one_of_several_layers_is_named(tmp_path: Path) -> None:
    import pyogrio

    path = tmp_path / "a.gpkg"
    write_lines(path, "first", LINES[:1], {"name": ["a"]}, "EPSG:25833")
    table = pyogrio.read_arrow(path)[1]
    pyogrio.write_arrow(
        *(table, path),
        layer="edges",
        driver="GPKG",
        geometry_name="geom",
        geometry_type="LineString",
        crs="EPSG:25833",
        append=True,
    )
    assert read_layer(path, ("LineString",)).notes == ("layer first of 2: first, edges",)
    assert read_layer(path, ("LineString",), prefer="edges").notes == ("layer edges of 2: first, edges",)
    with pytest.raises(FormatError, match="there is no layer of points in it"):
        read_layer(path, ("Point",))


def test_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyogrio", None)
    with pytest.raises(InputError, match=r"pyogrio is needed for \.gpkg files; install it with: pip install"):
        read_layer(tmp_path / "a.gpkg", ("Point",))
