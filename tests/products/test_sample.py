"""Weights of trips, and how sure the numbers are that are made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import write
from ldptrace.methods.release import Release
from ldptrace.models.path.model import PathModel
from ldptrace.products.profile.figures import bars
from ldptrace.products.sample import DRAWN, Numbers, Sample, open_promise, open_source, sample_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

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
    with pytest.raises(InputError, match="must be a number above 0, got -1"):
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
    assert 'class="range"' in str(bars(("a", "b", "c"), found, "places", share=0.0))


def test_a_small_number_may_be_several_times_as_large() -> None:
    """Its upper end is that of a log-normal number, also where the number is zero or its error is none."""
    found = Numbers.of(np.array([5.0, 5.0, 0.0, 1e6]), np.array([5.0, 0.0, 2.0, 1e4]))
    assert found.low is not None
    assert found.high is not None
    assert found.low.tolist() == pytest.approx([0, 5, 0, 1e6 - 1.96e4])
    assert found.high.tolist() == pytest.approx(
        [5 * np.exp(1.96 * np.sqrt(np.log(2))), 5, 3.92, 1_019_793], rel=1e-5
    )


GRID = Grid((0.0, 0.0, 1.0, 1.0), 2)
PLAN = Plan.single_report(GRID, 0.5)
PROMISED = Trajectories([0.1, 0.9], [0.1, 0.9], [0, 2], provenance={"epsilon": "2", "unit": "trip"})


def model(plan: Plan | None = PLAN) -> PathModel:
    return PathModel(GRID, np.ones(3) / 3, *(np.zeros(size) for size in (4, 4, 12, 5)), plan=plan)


def test_trips_and_models_are_told_apart(tmp_path: Path) -> None:
    write(PROMISED, tmp_path / "trips.csv")
    model().save(tmp_path / "model.npz")
    trips = open_source(tmp_path / "trips.csv", crs="EPSG:32633", timezone="Europe/Berlin")
    assert isinstance(trips, Trajectories)
    assert (trips.crs, trips.timezone) == ("EPSG:32633", "Europe/Berlin")
    release = open_source(tmp_path / "model.npz", crs="EPSG:32633", timezone="Europe/Berlin")
    assert isinstance(release, Release)
    assert isinstance(release.model, PathModel)
    assert sample_of(release).trips.crs == "EPSG:32633"


def test_what_weakens_a_promise_is_stated_by_a_model_too(tmp_path: Path) -> None:
    """The plan of a simulated collection promises more than its model may."""
    stated = dict(Release.of(model()).promised or {}) | {"experiment": "it was seeded", "simulated": True}
    Release(model(), promised=stated).save(tmp_path / "model.npz")
    found = open_promise(tmp_path / "model.npz")
    assert found.weaker == ("It was seeded.",)
    assert "simulated" in found.trust
    promise = sample_of(open_source(tmp_path / "model.npz")).promise
    assert promise is not None
    assert promise["experiment"] == "it was seeded"


@pytest.mark.parametrize(
    ("name", "epsilon"), [("trips.csv", "2"), ("model.npz", "0.5"), ("plan.json", "0.5")]
)
def test_the_promise_of_trips_models_and_plans(tmp_path: Path, name: str, epsilon: str) -> None:
    write(PROMISED, tmp_path / "trips.csv")
    model().save(tmp_path / "model.npz")
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    assert open_promise(tmp_path / name).epsilon == epsilon


def test_geojson_is_no_plan(tmp_path: Path) -> None:
    write(PROMISED, tmp_path / "trips.geojson")
    assert open_promise(tmp_path / "trips.geojson").unit == "trip"


def test_a_model_without_a_plan_states_nothing(tmp_path: Path) -> None:
    model(None).save(tmp_path / "model.npz")
    with pytest.raises(InputError, match="holds no plan"):
        open_promise(tmp_path / "model.npz")


def test_numbers_are_made_of_trips_or_of_a_model() -> None:
    assert sample_of(PROMISED, 500).weight == 500
    drawn = sample_of(Release.of(model()))
    assert len(drawn.trips) == DRAWN
    assert sample_of(Release.of(model())).trips.x[0] == drawn.trips.x[0]
