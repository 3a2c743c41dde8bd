from __future__ import annotations

import numpy as np
import pytest
import shapely

from ldptrace.core.wkb import LINE, MULTI_LINE, MULTI_POINT, POINT, shape_of


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("flavour", ["iso", "extended"])
@pytest.mark.parametrize("order", [0, 1])
def test_lines_of_several_parts(dimensions: int, flavour: str, order: int) -> None:
    first = np.arange(3 * dimensions, dtype=float).reshape(3, dimensions)
    second = first[:2] + 10
    both = shapely.multilinestrings([shapely.linestrings(first), shapely.linestrings(second)])
    found = shape_of(shapely.to_wkb(both, output_dimension=dimensions, byte_order=order, flavor=flavour))
    assert (found.kind, found.measured) == (MULTI_LINE, False)
    np.testing.assert_array_equal(found.parts[0], first[:, :2])
    np.testing.assert_array_equal(found.parts[1], second[:, :2])


@pytest.mark.parametrize("flavour", ["iso", "extended"])
@pytest.mark.parametrize("text", ["LINESTRING M (0 1 5, 2 3 6)", "LINESTRING ZM (0 1 9 5, 2 3 9 6)"])
def test_measures_are_the_last_column(text: str, flavour: str) -> None:
    found = shape_of(shapely.to_wkb(shapely.from_wkt(text), output_dimension=4, flavor=flavour))
    assert (found.kind, found.measured) == (LINE, True)
    assert found.parts[0].tolist() == [[0, 1, 5], [2, 3, 6]]


def test_points_alone_and_together() -> None:
    alone = shape_of(shapely.to_wkb(shapely.Point(1, 2)))
    assert (alone.kind, alone.parts[0].tolist()) == (POINT, [[1, 2]])
    several = shape_of(shapely.to_wkb(shapely.MultiPoint([(1, 2), (3, 4)])))
    assert (several.kind, [part.tolist() for part in several.parts]) == (MULTI_POINT, [[[1, 2]], [[3, 4]]])


def test_an_identifier_of_the_coordinate_system_is_passed_over() -> None:
    line = shapely.set_srid(shapely.LineString([(0, 1), (2, 3)]), 4326)
    found = shape_of(shapely.to_wkb(line, include_srid=True, flavor="extended"))
    assert found.parts[0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("shape", [None, shapely.Point(), shapely.Polygon([(0, 0), (1, 0), (1, 1)])])
def test_what_is_neither_line_nor_point_has_no_parts(shape: shapely.Geometry | None) -> None:
    assert shape_of(None if shape is None else shapely.to_wkb(shape)).parts == ()
