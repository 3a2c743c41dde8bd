"""The numbers of a profile, of trips whose profile is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import shapely

from ldptrace.core.trajectories import Trajectories
from ldptrace.products.profile.numbers import Profile
from ldptrace.products.sample import Sample
from ldptrace.products.zones import Polygons
from road_kit import lattice_roads

ROADS = lattice_roads(5, 1000.0)
HALVES = Polygons(
    "halves", ("west", "east"), [shapely.box(-1, -1, 2000, 5000), shapely.box(2000, -1, 4001, 5000)]
)


def trips(dated: bool = False) -> Trajectories:
    """Three trips of 4 km east and one of 1 km back, at 8 and at 17 o'clock, at 1 km in 2 minutes."""
    x = np.array([0.0, 4000.0] * 3 + [4000.0, 3000.0])
    leave = np.repeat([8.0, 8.0, 8.5, 17.0], 2) * 3600 + (20_000 * 86_400 if dated else 0)
    t = leave + np.array([0, 480] * 3 + [0, 120])
    return Trajectories(x, np.zeros(8), [0, 2, 4, 6, 8], t=t, provenance={"epsilon": "1"})


def test_a_profile_counts_hours_lengths_pairs_and_streets() -> None:
    found = Profile.of(Sample(trips(), 10.0), HALVES, ROADS)
    document = json.loads(json.dumps(found.document()))
    assert document["trips"] == 40
    assert [entry["trips"] for entry in document["hours"]][8:18:9] == [30, 10]
    assert document["weekdays"] is None
    assert {entry["name"]: entry["trips"] for entry in document["lengths"] if entry["trips"]} == {
        "0.5 to 1 km": 10,
        "3 to 5 km": 30,
    }
    assert document["pairs"][0] == {"from": "west", "to": "east", "trips": 30}
    assert document["places"] == [
        {"zone": "west", "begin": 30, "end": 0},
        {"zone": "east", "begin": 10, "end": 40},
    ]
    assert document["streets"][0]["trips"] == 30
    assert document["quartiles"]["speed"] == pytest.approx([30, 30, 30])
    assert document["privacy"] == {"epsilon": "1"}


def test_dates_give_days_of_the_week() -> None:
    one_day = trips(dated=True)
    assert Profile.of(Sample(one_day)).weekdays is None
    assert one_day.t is not None
    found = Profile.of(Sample(Trajectories.concat([one_day, replace(one_day, t=one_day.t + 86_400)])))
    assert found.weekdays is not None
    # Day 20,000 after the first of January 1970 is a Friday.
    assert found.weekdays.numbers.values.tolist() == [0, 0, 0, 0, 4, 4, 0]


def test_classes_end_at_the_longest_trips() -> None:
    found = Profile.of(Sample(trips()))
    assert found.lengths.names[-2:] == ("3 to 5 km", "over 5 km")
    assert found.minutes is not None
    assert found.minutes.names[-1] == "over 10 min"


def test_without_times_there_are_no_hours() -> None:
    found = Profile.of(Sample(replace(trips(), t=None)))
    assert found.hours is None
    assert found.minutes is None
    assert found.streets() == []
    assert set(found.quartiles) == {"length"}


def test_degrees_are_measured_in_kilometres() -> None:
    north = Trajectories([13.0, 13.0], [52.0, 52.1], [0, 2], crs="EPSG:4326")
    assert Profile.of(Sample(north)).quartiles["length"][1] == pytest.approx(11.12, abs=0.01)


def test_ranges_are_in_the_document() -> None:
    sample = Sample(trips(), replicates=np.array([[0.5, 1, 1, 1], [1.5, 1, 1, 1]], dtype=np.float32))
    entry = Profile.of(sample).document()["hours"][8]
    assert entry["low"] < entry["trips"] < entry["high"]
