from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.roads import read_roads
from ldptrace.roads.classes import Mode
from ldptrace.roads.readers.tags import BACKWARD, BOTH, FORWARD, way_class, way_directions
from road_kit import feature, write_pbf


@pytest.mark.parametrize(
    ("tags", "mode", "edges"),
    [
        ({"access": "private"}, "car", 0),
        ({"access": "private", "foot": "yes"}, "foot", 2),
        ({"motor_vehicle": "no"}, "car", 0),
        ({"motor_vehicle": "no"}, "bicycle", 2),
        ({"access": "no", "motorcar": "yes"}, "car", 2),
        ({"oneway": "-1"}, "car", 1),
        ({"oneway": "yes", "oneway:bicycle": "no"}, "bicycle", 2),
        ({"oneway": "yes", "cycleway": "opposite_lane"}, "bicycle", 2),
        ({"junction": "roundabout"}, "car", 1),
        ({"highway": "motorway"}, "car", 1),
        ({"highway": "motorway", "oneway": "no"}, "car", 2),
        ({"highway": "service", "service": "parking_aisle"}, "car", 0),
        ({"highway": "service"}, "car", 2),
        ({"highway": "footway", "bicycle": "designated"}, "bicycle", 2),
        ({"highway": "footway"}, "bicycle", 0),
        ({"highway": "construction"}, "foot", 0),
    ],
)
def test_tags_decide(tmp_path: Path, tags: dict[str, str], mode: str, edges: int) -> None:
    ring = feature([(0, 0), (0.001, 0), (0.001, 0.001), (0, 0)], highway="residential", foot="yes")
    street = feature([(0, 0), (0.01, 0.01)], **({"highway": "tertiary"} | tags))
    roads = read_roads(write_pbf(tmp_path / "a.osm.pbf", [ring, street]), mode, connected=False)
    assert np.count_nonzero(roads.length > 1000) == edges


@pytest.mark.parametrize(
    ("tags", "mode", "kind", "reason"),
    [
        ({"highway": " Primary "}, "car", "primary", None),
        ({"highway": "residential", "area": "yes"}, "car", "residential", "an area"),
        ({"highway": "service", "service": "driveway"}, "car", "service", "a driveway or parking lot"),
        ({"highway": "service", "service": "driveway"}, "bicycle", "service", None),
        ({"highway": "footway"}, "car", "footway", "not for cars"),
        ({"highway": "footway", "bicycle": "yes"}, "bicycle", "path", None),
        ({"highway": "motorway", "bicycle": "yes"}, "bicycle", "motorway", "not for bicycles"),
        ({"highway": "primary", "vehicle": "no", "motorcar": "yes"}, "car", "primary", None),
        ({}, "car", "", None),
    ],
)
def test_classes_and_reasons(tags: dict[str, str], mode: Mode, kind: str, reason: str | None) -> None:
    assert way_class(tags, mode) == (kind, reason)


def test_every_word_for_a_direction_says_one_thing() -> None:
    assert len(FORWARD | BACKWARD | BOTH) == len(FORWARD) + len(BACKWARD) + len(BOTH)
    for words, ways in ((FORWARD, (True, False)), (BACKWARD, (False, True)), (BOTH, (True, True))):
        assert {way_directions({"oneway": word.upper()}, "car") for word in words} == {ways}
        assert {way_directions({"oneway": word}, "foot") for word in words} == {(True, True)}


def test_a_roundabout_goes_round_unless_it_says_otherwise() -> None:
    assert way_directions({"junction": "roundabout"}, "car") == (True, False)
    assert way_directions({"junction": "roundabout", "oneway": "no"}, "car") == (True, True)
