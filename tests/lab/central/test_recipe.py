from __future__ import annotations

import os

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from synthesis_kit import run_method

METHODS = ["adatrace", "privtrace", "dpt"]


@pytest.fixture
def real(rng: np.random.Generator) -> Trajectories:
    ends = 4 * rng.random((400, 2))
    return Trajectories(ends[:, 0], ends[:, 1], np.arange(0, 401, 2))


def drawn(real: Trajectories, method: str, seed: int | None, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that the operating system gave for the noise of a run."""
    taken: list[int] = []
    system = os.urandom
    monkeypatch.setattr("ldptrace_lab.central.curator.os.urandom", lambda n: (taken.append(n), system(n))[1])
    with pytest.warns(match="trusted curator"):
        run_method(real, 1.0, bounds=(0, 0, 4, 4), grid=3, method=method, seed=seed, count=5)
    return sum(taken)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_noise_of_a_release_is_the_systems(
    method: str, real: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every noisy count takes several draws of eight bytes.
    assert drawn(real, method, None, monkeypatch) > 8 * 3 * 9


@pytest.mark.parametrize("method", METHODS)
def test_an_experiment_repeats(method: str, real: Trajectories, monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(real, method, 1, monkeypatch) == 0


@pytest.mark.parametrize("method", METHODS)
def test_neighbours_are_replaced_or_added(method: str, real: Trajectories) -> None:
    with pytest.raises(InputError, match="neighbours must be replaced or added"):
        run_method(
            real, 1.0, bounds=(0, 0, 4, 4), grid=3, method=method, seed=1, options={"neighbours": "near"}
        )
