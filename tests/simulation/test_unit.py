from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import ldptrace as lt
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.simulation.unit import one_each, play_devices
from ldptrace.synthesis import run_method
from statistics_kit import ALPHA

TRIPS = Trajectories.from_lists([[(k / 10, 0.5), (0.5, k / 10)] for k in range(10)])
OWNED = replace(TRIPS, extra=pa.table({"who": list("aaaaabbbcc")}), user="who")


def test_every_trip_of_a_user_is_equally_likely(rng: np.random.Generator) -> None:
    users = np.array([7, 7, 7, 7, 3])
    drawn = np.array([one_each(users, rng) for _ in range(4000)])
    assert set(drawn[:, 1]) == {4}
    counts = np.bincount(drawn[:, 0], minlength=4)
    assert chisquare(counts).pvalue > ALPHA


def test_a_user_with_several_trips_answers_about_one(rng: np.random.Generator) -> None:
    drawn, unit = play_devices(OWNED, "user", rng)
    assert len(drawn) == 3
    assert drawn.users.tolist() == [0, 1, 2]
    assert (unit.name, "column who" in unit.sentence) == ("user", True)


def test_every_trip_counts_when_asked_and_the_weaker_promise_is_stated(rng: np.random.Generator) -> None:
    drawn, unit = play_devices(OWNED, "trip", rng)
    assert drawn is OWNED
    assert "k times as much" in unit.sentence
    assert play_devices(TRIPS, "user", rng)[1].name == "trajectory"
    with pytest.raises(InputError, match="the unit is user or trip, got 'car'"):
        play_devices(OWNED, "car", rng)


@pytest.mark.slow
def test_the_unit_is_part_of_the_promise() -> None:
    run = run_method(OWNED, 1.0, bounds=(0, 0, 1, 1), grid=4, seed=1)
    assert (run.users, run.privacy()["unit"]) == (3, "user")
    assert any("one trajectory of each" in said for said in run.privacy()["notes"])
    synthetic = lt.synthesize(OWNED, 1.0, bounds=(0, 0, 1, 1), grid=4, seed=1, unit="trip")
    assert synthetic.provenance is not None
    assert synthetic.provenance["unit"] == "trip"
    assert len(synthetic) == 10
