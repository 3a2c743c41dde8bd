from __future__ import annotations

import warnings

import numpy as np
import pytest

from ldptrace.errors import InputError, PrivacyWarning
from ldptrace.synthesis import run_method
from ldptrace.trajectories import Trajectories

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
        warnings.simplefilter("error")
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
