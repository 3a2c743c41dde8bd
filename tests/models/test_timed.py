"""Times on top of a model of space: on streets, through files, strictly increasing."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FitWarning
from ldptrace.generators import city_traffic
from ldptrace.models import RouteModel, load_model
from ldptrace.models.timed import TimedModel
from ldptrace.synthesis import Run, run_method


@pytest.fixture(scope="module")
def on_streets() -> Run:
    town = city_traffic(3, size=6000, minutes=4)
    real = town.trips(4000, np.random.default_rng(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return run_method(
            real, 2.0, bounds=town.bounds, grid=5, seed=3, roads=town.network, library=20_000, count=400
        )


def increasing(trips: Trajectories) -> bool:
    assert trips.t is not None
    steps = np.diff(trips.t)
    within = np.ones(len(steps), dtype=bool)
    within[trips.offsets[1:-1] - 1] = False
    return bool((steps[within] > 0).all())


@pytest.mark.slow
def test_street_trips_have_times_that_increase(on_streets: Run) -> None:
    assert isinstance(on_streets.synthesis.model, TimedModel)
    assert isinstance(on_streets.synthesis.model.space, RouteModel)
    trips = on_streets.trajectories
    assert len(trips) == 400
    assert increasing(trips)
    assert trips.t is not None
    assert trips.t[trips.offsets[:-1]].min() >= 0
    assert trips.t[trips.offsets[:-1]].max() < 86_400


@pytest.mark.slow
def test_a_file_of_streets_and_times_draws_the_same(on_streets: Run, tmp_path: Path) -> None:
    model = on_streets.synthesis.model
    assert model is not None
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    first, second = (each.sample(50, np.random.default_rng(1)) for each in (model, again))
    # A file keeps coordinates to a millionth of a unit here.
    np.testing.assert_allclose(first.x, second.x, atol=1e-4)
    assert first.t is not None
    assert second.t is not None
    np.testing.assert_allclose(first.t, second.t, atol=1e-2)
    assert increasing(first)
