"""Weights of trips, and how sure the numbers are that are made of them."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.profile.figures import bars
from ldptrace.products.profile.numbers import Bars
from ldptrace.products.sample import Numbers, Sample

TRIPS = Trajectories(np.zeros(4), np.zeros(4), [0, 1, 1, 2, 4])


def test_people_without_a_trip_are_not_scaled_up() -> None:
    stated = {"without_trip": {"value": 0.4, "std_error": 0.02}}
    sample = Sample.of_trips(
        Trajectories(TRIPS.x, TRIPS.y, TRIPS.offsets, provenance=stated), population=1000
    )
    assert len(sample.trips) == 3
    assert sample.weight == pytest.approx(200)
    assert Sample.of_trips(TRIPS).weight == 1


def test_nothing_cannot_be_counted() -> None:
    with pytest.raises(InputError, match="there are no trips to count"):
        Sample.of_trips(TRIPS.take([1]))
    with pytest.raises(InputError, match="must be above 0, got -1"):
        Sample.of_trips(TRIPS, -1)


def test_counts_of_trips_have_no_interval() -> None:
    found = Sample(TRIPS, 2.0).count(np.array([0, 2, 2]), 4)
    assert found.values.tolist() == [2, 0, 4, 0]
    assert found.low is None


def test_intervals_cover_the_noise_that_replicates_show(rng: np.random.Generator) -> None:
    """Of 400 places, each with 100 trips whose weights vary together by a tenth, the truth lies in 95 of 100."""
    places, each, spread = 400, 100, 0.1
    place = np.repeat(np.arange(places), each)
    factor = 1 + spread * rng.standard_normal((60, places))
    sample = Sample(TRIPS, 3.0, np.repeat(factor, each, axis=1).astype(np.float32))
    found = sample.count(place, places, np.arange(len(place)))
    assert found.low is not None
    assert found.high is not None
    # The truth differs from the number by the noise of the replicates, and by the chance of the trips and the people.
    chance = rng.normal(0, np.sqrt(each + each / 3.0), places)
    truth = 3.0 * (each * (1 + spread * rng.standard_normal(places)) + chance)
    assert 0.91 < np.mean((found.low <= truth) & (truth <= found.high)) < 0.985


def test_the_error_of_all_trips_is_in_every_interval() -> None:
    place, ones = np.zeros(10_000, dtype=np.int64), np.ones((5, 10_000), dtype=np.float32)
    found = Sample(TRIPS, 1.0, ones, error=0.05).count(place, 1)
    assert found.low is not None
    assert found.low[0] == pytest.approx(10_000 - 1.96 * np.sqrt(500**2 + 2 * 100**2))


def test_where_nobody_travelled_a_few_trips_may_be() -> None:
    """A model whose share without a trip is one: its numbers are zero, and their intervals are not empty."""
    found = Sample(TRIPS, 0.0, np.ones((5, 3), dtype=np.float32)).count(np.array([0, 1, 1]), 3)
    assert found.values.tolist() == [0, 0, 0]
    assert found.high is not None
    assert found.high.tolist() == pytest.approx([1.96] * 3)
    assert 'class="range"' in str(bars(Bars(("a", "b", "c"), found), "places", share=0.0))


def test_a_small_number_may_be_several_times_as_large() -> None:
    """Its upper end is that of a log-normal number, also where the number is zero or its error is none."""
    found = Numbers.of(np.array([5.0, 5.0, 0.0, 1e6]), np.array([5.0, 0.0, 2.0, 1e4]))
    assert found.low is not None
    assert found.high is not None
    assert found.low.tolist() == pytest.approx([0, 5, 0, 1e6 - 1.96e4])
    assert found.high.tolist() == pytest.approx(
        [5 * np.exp(1.96 * np.sqrt(np.log(2))), 5, 3.92, 1_019_793], rel=1e-5
    )
