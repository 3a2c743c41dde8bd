from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyogrio
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from forged_kit import database_with_a_secret, forged
from ldptrace.core.layers import (
    GEOPACKAGE,
    LINE,
    MULTI_LINE,
    MULTI_POINT,
    POINT,
    Shapes,
    driver_of,
    geometries_of,
    opened,
    read_layer,
    shapes_of,
    stated_crs,
    write_lines,
)
from ldptrace.errors import FormatError, InputError
from ldptrace.roads import read_roads

PLACES = st.tuples(st.integers(-9, 9), st.integers(-9, 9))
LAYERS_OF_LINES = st.lists(PLACES, min_size=2, max_size=5)
GEOMETRIES = st.one_of(
    st.none(),
    PLACES.map(shapely.Point),
    LAYERS_OF_LINES.map(shapely.LineString),
    st.lists(PLACES, max_size=4).map(shapely.MultiPoint),
    st.lists(LAYERS_OF_LINES, max_size=3).map(shapely.MultiLineString),
    st.just(shapely.Polygon([(0, 0), (1, 0), (1, 1)])),
)
FLAVOURS = st.sampled_from(["iso", "extended"])


def read(shapes: list[Any], **how: Any) -> Shapes:
    blobs = [None if shape is None else shapely.to_wkb(shape, **how) for shape in shapes]
    return shapes_of(pa.chunked_array([pa.array(blobs, pa.binary())]))


def parts(found: Shapes) -> list[list[list[float]]]:
    points = np.c_[found.x, found.y].tolist()
    return [points[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


@given(st.lists(GEOMETRIES, max_size=8), FLAVOURS, st.sampled_from([0, 1]))
def test_any_geometries_are_read(shapes: list[Any], flavour: str, order: int) -> None:
    found = read(shapes, flavor=flavour, byte_order=order)
    wanted, rows = [], []
    for row, shape in enumerate(shapes):
        if shape is not None and shape.geom_type != "Polygon":
            own = list(shape.geoms) if hasattr(shape, "geoms") else [shape]
            wanted += [[list(place) for place in part.coords] for part in own]
            rows += [row] * len(own)
    assert parts(found) == wanted
    assert found.row.tolist() == rows
    assert found.kind.tolist() == [-1 if shape is None else shapely.get_type_id(shape) for shape in shapes]
    assert np.isnan(found.m).all()


@pytest.mark.parametrize("flavour", ["iso", "extended"])
@pytest.mark.parametrize("text", ["LINESTRING M (0 1 5, 2 3 6)", "LINESTRING ZM (0 1 9 5, 2 3 9 6)"])
def test_measures_are_a_column(text: str, flavour: str) -> None:
    found = read([shapely.from_wkt(text)], output_dimension=4, flavor=flavour)
    assert (found.kind.tolist(), parts(found), found.m.tolist()) == ([LINE], [[[0, 1], [2, 3]]], [5, 6])


@pytest.mark.parametrize("flavour", ["iso", "extended"])
def test_heights_are_passed_over(flavour: str) -> None:
    line = shapely.LineString([(0, 1, 9), (2, 3, 9)])
    found = read([line, shapely.MultiLineString([line, line])], output_dimension=3, flavor=flavour)
    assert parts(found) == [[[0, 1], [2, 3]]] * 3
    assert found.row.tolist() == [0, 1, 1]


def test_an_identifier_of_the_coordinate_system_is_passed_over() -> None:
    line = shapely.set_srid(shapely.LineString([(0, 1), (2, 3)]), 4326)
    assert parts(read([line], include_srid=True, flavor="extended")) == [[[0, 1], [2, 3]]]


def test_an_empty_point_has_no_place() -> None:
    found = read([shapely.Point(), shapely.Point(1, 2)])
    assert (found.kind.tolist(), found.row.tolist(), parts(found)) == ([POINT, POINT], [1], [[[1, 2]]])


def test_some_kinds_are_chosen() -> None:
    line = shapely.LineString([(0, 1), (2, 3)])
    found = read([shapely.MultiPoint([(5, 5), (6, 6)]), line, shapely.MultiLineString([line])])
    assert found.kind.tolist() == [MULTI_POINT, LINE, MULTI_LINE]
    assert found.only((LINE, MULTI_LINE)).row.tolist() == [1, 2]
    assert parts(found.only((MULTI_POINT,))) == [[[5, 5]], [[6, 6]]]


pytest.importorskip("pyogrio")
PLACED = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0], [6.0, 6.0], [7.0, 8.0]])
LINES = geometries_of(*PLACED.T, np.array([0, 2, 5]))


def test_one_point_is_a_point_and_none_is_nothing() -> None:
    made = geometries_of(*PLACED.T, np.array([0, 2, 3, 3, 5]))
    assert [None if one is None else one.wkt for one in made] == [
        *("LINESTRING (0 1, 2 3)", "POINT (5 5)", None, "LINESTRING (6 6, 7 8)")
    ]


def test_lines_that_were_written_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    write_lines(path, "streets", LINES, {"name": ["a", "b"]}, "EPSG:25833")
    found = read_layer(path, ("LineString",))
    np.testing.assert_array_equal(np.c_[found.shapes.x, found.shapes.y], PLACED)
    assert found.shapes.offsets.tolist() == [0, 2, 5]
    assert found.columns.to_pydict() == {"name": ["a", "b"]}
    assert (found.crs, found.notes, stated_crs(path)) == ("EPSG:25833", (), "EPSG:25833")


def test_degrees_without_a_name_are_recognised(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.gpkg", "streets", LINES, {"name": ["a", "b"]}, None)
    found = read_layer(tmp_path / "a.gpkg", ("LineString",))
    assert found.crs == "EPSG:4326"
    assert "the numbers are taken as degrees" in found.notes[0]
    write_lines(
        tmp_path / "b.gpkg",
        "streets",
        geometries_of(*(1_000 * PLACED[:2].T), np.array([0, 2])),
        {"name": ["a"]},
        None,
    )
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
    with pytest.raises(InputError, match=r"pyogrio is needed for this; install it with: pip install"):
        read_layer(tmp_path / "a.gpkg", ("Point",))


@pytest.mark.parametrize("name", ["x.gpkg", "x.shp"])
def test_a_file_that_names_other_files_is_not_followed(tmp_path: Path, name: str) -> None:
    path = forged(tmp_path / name, tmp_path)
    for read_it in (lambda: read_layer(path, ("LineString",)), lambda: stated_crs(path)):
        with pytest.raises(FormatError, match="its content is neither a GeoPackage nor a Shapefile"):
            read_it()
    with pytest.raises(InputError, match="its content is neither"):
        read_roads(path)


def test_a_database_is_not_a_geopackage(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="neither a GeoPackage"):
        driver_of(database_with_a_secret(tmp_path))


def test_only_the_driver_of_the_file_opens_it(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.gpkg", "lines", geometries_of(*np.eye(2), np.array([0, 2])), {}, "EPSG:4326")
    every = pyogrio.list_drivers()
    with opened(tmp_path / "a.gpkg") as (library, path):
        assert set(library.list_drivers()) == {GEOPACKAGE}
        assert path.is_absolute()
        # Even if its first bytes were right, no other driver would be asked.
        with pytest.raises(pyogrio.errors.DataSourceError):
            library.read_info(forged(tmp_path / "x.vrt", tmp_path))
    assert pyogrio.list_drivers() == every
