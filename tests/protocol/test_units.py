"""Names of coordinates, and what a unit of them is."""

from __future__ import annotations

from ldptrace.protocol.units import DEGREE, METRE, millimetres, plan_crs


def test_degrees_shrink_towards_the_pole() -> None:
    assert millimetres((0, -1, 1, 1), "EPSG:4326") == (DEGREE, DEGREE)
    assert millimetres((0, 59, 1, 61), "epsg:4326")[0] == round(DEGREE / 2)
    assert millimetres((0, 59, 1, 61), "EPSG:3857") == (METRE, METRE)


def test_a_small_map_without_a_name_is_one_of_degrees() -> None:
    assert millimetres((0, -1, 1, 1), None) == (DEGREE, DEGREE)
    assert millimetres((0, -1, 11, 1), None) == (METRE, METRE)
    assert millimetres((0, 89, 1, 91), None) == (METRE, METRE)


def test_only_short_names_are_in_a_plan() -> None:
    assert plan_crs(None) is None
    assert plan_crs("EPSG:25832") == "EPSG:25832"
    assert plan_crs("x" * 65) is None
