from __future__ import annotations

import json

import pytest

from ldptrace.roads import explain_roads
from ldptrace.roads.summary import facts
from road_kit import square


def test_explanations_name_classes_and_speeds() -> None:
    roads = square(
        seconds=[10] * 9, road_class=[0] * 8 + [-1], classes=("street",), crs="EPSG:32632", name="town"
    )
    told = explain_roads(roads)
    assert told.startswith("town: 5 nodes, 9 directed edges\n1 km of streets, 33 % of them one-way")
    assert "street" in told
    assert "unknown" in told
    assert facts(roads)["classes"]["street"]["street_length"] == 400


def test_both_ways_of_a_street_count_once() -> None:
    told = facts(square())
    assert told["street_length"] == 600
    assert told["one_way_share"] == pytest.approx(200 / 600)
    assert told["mean_edge_length"] == pytest.approx(1000 / 9)
    assert (told["speed_kmh"], told["lines"], told["classes"]["unknown"]["edges"]) == (None, False, 9)
    json.dumps(told)


def test_speeds_are_averaged_over_the_length_of_streets() -> None:
    # 400 of streets at 36 km/h, 200 at 72 km/h.
    told = facts(square(seconds=[10.0] * 9))
    assert told["speed_kmh"] == pytest.approx((400 * 36 + 200 * 72) / 600)


def test_without_a_coordinate_system_lengths_are_units() -> None:
    told = explain_roads(square()).splitlines()
    assert (
        told[1]
        == "600 units of streets, 33 % of them one-way; edges are 111 units long on average, all straight"
    )
    assert told[2:] == [
        "coordinates of a plane, system not known, bounds 0,0,300,100",
        "speeds are not known",
    ]
