from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.roads import read_roads
from ldptrace.roads.classes import (
    BACKWARD,
    BOTH,
    FORWARD,
    NEVER,
    PACE,
    RANK,
    Mode,
    checked_mode,
    class_rank,
    class_speed,
    is_known,
    is_open_to,
    limit_kmh,
    rank_speed,
    way_class,
    way_directions,
)
from road_kit import feature, write_pbf


@pytest.mark.parametrize(
    ("kind", "modes"),
    [
        ("motorway", {"car"}),
        ("motorway_link", {"car"}),
        ("residential", {"car", "bicycle", "foot"}),
        ("track_grade3", {"bicycle", "foot"}),
        ("cycleway", {"bicycle", "foot"}),
        ("steps", {"foot"}),
        ("construction", set()),
        ("bridleway", set()),
        ("alley", {"car", "bicycle", "foot"}),
        ("4", {"car", "bicycle", "foot"}),
    ],
)
def test_who_may_use_a_road(kind: str, modes: set[str]) -> None:
    assert {mode for mode in get_args(Mode) if is_open_to(kind, mode)} == modes


def test_what_is_being_built_is_for_nobody() -> None:
    assert all(is_known(kind) and not is_open_to(kind, mode) for kind in NEVER for mode in get_args(Mode))


def test_speeds_fall_with_the_rank_and_never_below_the_slowest() -> None:
    speeds = rank_speed(np.arange(100))
    assert np.all(np.diff(speeds) <= 0)
    assert (speeds[0], speeds[-1]) == (22.0, 4.0)
    assert speeds[3] == pytest.approx(22 / 1.35**3)
    ranked = sorted(RANK, key=lambda kind: RANK[kind])
    assert [class_speed(kind, "car") for kind in ranked] == [rank_speed(class_rank(kind)) for kind in ranked]


def test_people_on_foot_have_their_own_pace_on_every_road() -> None:
    assert {class_speed(kind, "foot") for kind in ("motorway", "9", "alley")} == {PACE["foot"]}
    assert math.isnan(class_speed("alley", "car"))
    assert class_rank("1000") == 99


@given(st.floats(1, 200).map(lambda number: round(number, 1)))
def test_limits_with_and_without_units(number: float) -> None:
    assert limit_kmh(f"{number}") == limit_kmh(f" {number} km/h") == number
    assert limit_kmh(f"{number} MPH") == pytest.approx(1.609344 * number)
    assert limit_kmh(f"{number};{number}") == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "kmh"),
    [
        ("walk", 7),
        ("none", 130),
        ("FR:rural", 90),
        ("30|50", 40),
        ("30; signals", 30),
        ("0", None),
        ("", None),
    ],
)
def test_limits_that_are_words(text: str, kmh: float | None) -> None:
    assert limit_kmh(text) == (pytest.approx(math.nan, nan_ok=True) if kmh is None else kmh)


def test_there_are_three_modes() -> None:
    assert [checked_mode(mode) for mode in ("car", "bicycle", "foot")] == list(get_args(Mode))
    with pytest.raises(InputError, match="the mode can be car, bicycle, foot, not 'boat'"):
        checked_mode("boat")


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
