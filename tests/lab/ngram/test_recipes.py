from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, PrivacyWarning
from ldptrace_lab.campus.pois import Visits
from ldptrace_lab.campus.walks import campus_walks
from synthesis_kit import run_method

BOUNDS = (0.0, 0.0, 1.0, 1.0)


@pytest.fixture
def real(rng: np.random.Generator) -> Trajectories:
    steps = rng.random((50, 4, 2))
    return Trajectories.from_lists([[(float(x), float(y)) for x, y in walk] for walk in steps])


def test_public_length_is_told(real: Trajectories) -> None:
    with pytest.warns(PrivacyWarning, match="length"):
        run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method="ngram", seed=1)
    assert "public" in str(run.privacy()["leaks"])


def test_hidden_length_is_no_leak(real: Trajectories) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method="ngram", seed=1, hide_length=True)
    assert run.privacy()["leaks"] is None


@pytest.mark.filterwarnings("ignore::ldptrace.errors.PrivacyWarning")
@pytest.mark.parametrize("count", [0, 7, 50, 120])
def test_as_many_trajectories_as_asked(real: Trajectories, count: int) -> None:
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method="ngram", seed=1, count=count)
    assert len(run.trajectories) == count


def test_unknown_option_is_refused(real: Trajectories) -> None:
    with pytest.raises(InputError, match="hide_length"):
        run_method(real, 1.0, bounds=BOUNDS, method="ngram", hide="yes")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.PrivacyWarning")
def test_full_method_publishes_visits(tmp_path: Path) -> None:
    walks = campus_walks(1)
    real = walks.trips(60, np.random.default_rng(2))
    file = tmp_path / "places.csv"
    walks.pois.to_csv(file)
    run = run_method(real, 1.0, bounds=real.bounds(), method="ngram-full", seed=1, pois=str(file), count=40)
    visits = Visits.of(run.trajectories)
    assert len(run.trajectories) == 40
    assert np.array_equal(run.trajectories.x, walks.pois.x[visits.poi])
    assert np.array_equal(run.trajectories.t, visits.t)
    with pytest.raises(InputError, match="pois"):
        run_method(real, 1.0, bounds=real.bounds(), method="ngram-full")
    with pytest.raises(InputError, match="there is no file"):
        run_method(real, 1.0, bounds=real.bounds(), method="ngram-full", pois="nowhere.csv")


@pytest.mark.filterwarnings("ignore::ldptrace.errors.PrivacyWarning")
def test_full_method_needs_visits(real: Trajectories) -> None:
    with pytest.raises(InputError, match="visits"):
        run_method(real, 1.0, bounds=BOUNDS, method="ngram-full", pois=campus_walks(1).pois)
