from __future__ import annotations

import os
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace_lab.central.curator import UNITS, SystemSource, TrustedCurator, discrete_laplace, on_simplex
from statistics_kit import assert_frequencies
from synthesis_kit import run_method


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(5, 2), Fraction(2, 3), Fraction(17, 5)])
def test_noise_has_its_exact_law(scale: Fraction, rng: np.random.Generator) -> None:
    drawn = discrete_laplace(scale, 60_000, rng)
    reach = int(6 * scale) + 1
    values = np.arange(-reach, reach + 1)
    shrink = np.exp(-1 / float(scale))
    law = (1 - shrink) / (1 + shrink) * shrink ** np.abs(values)
    counts = np.array([(drawn == value).sum() for value in values])
    beyond = len(drawn) - counts.sum()
    assert_frequencies(np.append(counts, beyond), np.append(law, 1 - law.sum()))


@pytest.mark.parametrize("span", [1, 2, 5, 6])
def test_the_system_draws_every_number_as_often(span: int) -> None:
    drawn = SystemSource().integers(3, 3 + span, 30_000)
    assert_frequencies(np.bincount(drawn - 3, minlength=span), np.full(span, 1 / span))
    assert SystemSource().integers(0, 1 << 60, 1)[0] != SystemSource().integers(0, 1 << 60, 1)[0]
    assert len(SystemSource().integers(0, 5, 0)) == 0


def test_noise_of_the_system_has_its_law() -> None:
    drawn = np.abs(discrete_laplace(Fraction(1 << 20), 40_000, SystemSource()))
    # The mean of |Laplace| is its scale, and so is the standard deviation of |Laplace|.
    assert abs(drawn.mean() / (1 << 20) - 1) < 5 / np.sqrt(40_000)


def test_noise_that_does_not_fit_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="64-bit integers"):
        discrete_laplace(Fraction(1 << 50), 1, rng)


def test_no_trajectory_weighs_more_than_one(rng: np.random.Generator) -> None:
    """Without its noise, the histogram of one trajectory with many items adds up to at most one."""
    curator = TrustedCurator(20.0, rng)
    items = np.arange(1000) % 7
    found = curator.histogram(items, np.zeros(1000, dtype=np.int64), 7, Fraction(1))
    assert abs(found.sum() - 1) < 7 * 2 / 20 * 6
    assert np.all(found * UNITS == np.round(found * UNITS))


@pytest.mark.parametrize(("neighbours", "far"), [("replaced", 2), ("added", 1)])
def test_noise_fits_the_neighbours(neighbours: str, far: int, rng: np.random.Generator) -> None:
    curator = TrustedCurator(0.5, rng, neighbours)
    nobody = np.zeros(0, dtype=np.int64)
    noise = curator.histogram(nobody, nobody, 40_000, Fraction(1, 4))
    # The mean of |Laplace| is its scale, and so is the standard deviation of |Laplace|.
    scale = far / (0.5 / 4)
    assert abs(np.abs(noise).mean() - scale) < 5 * scale / np.sqrt(40_000)


def test_epsilon_is_spent_once(rng: np.random.Generator) -> None:
    curator = TrustedCurator(1.0, rng)
    one = np.zeros(1, dtype=np.int64)
    curator.histogram(one, one, 1, Fraction(3, 4))
    with pytest.raises(InputError, match="at most 1 together"):
        curator.histogram(one, one, 1, Fraction(1, 2))
    with pytest.raises(InputError, match="neighbours must be replaced or added"):
        TrustedCurator(1.0, rng, "close")


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20))
def test_counts_keep_their_total(values: list[float]) -> None:
    found = on_simplex(np.array(values))
    assert np.all(found >= 0)
    assert np.isclose(found.sum(), max(sum(values), 1))
    # The same is taken from all that stay above zero, and no more than that from the others.
    kept = found > 0
    taken = np.array(values)[kept] - found[kept]
    assert np.allclose(taken, taken[0], atol=1e-9)
    assert np.all(np.array(values)[~kept] <= taken[0] + 1e-9)


METHODS = ["adatrace", "privtrace", "dpt"]


@pytest.fixture
def real(rng: np.random.Generator) -> Trajectories:
    ends = 4 * rng.random((400, 2))
    return Trajectories(ends[:, 0], ends[:, 1], np.arange(0, 401, 2))


def drawn(real: Trajectories, method: str, seed: int | None, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that the operating system gave for the noise of a run."""
    taken: list[int] = []
    # Only that of the noise: compiling a loop takes bytes of the system, too.
    watched = SimpleNamespace(urandom=lambda n: (taken.append(n), os.urandom(n))[1])
    monkeypatch.setattr("ldptrace_lab.central.curator.os", watched)
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
