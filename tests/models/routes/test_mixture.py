from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.models.routes.mixture import CLEAR, share_off_streets


def test_streets_are_believed_where_both_explain_the_answers(rng: np.random.Generator) -> None:
    noise = rng.standard_normal(400)
    assert share_off_streets(noise, 20, noise, 100) == 0.0
    # A richer model fits noise better, by about its number of parameters, and that is not held against streets.
    better = noise.copy()
    better[:80] = 0.0
    assert share_off_streets(noise, 20, better, 100) == 0.0


@pytest.mark.parametrize("true", [0.2, 0.5, 0.9])
def test_the_share_of_a_mixture_is_found(true: float, rng: np.random.Generator) -> None:
    # Answers lie between what the two models expect, far apart for the noise.
    noise, apart = rng.standard_normal(2000), 3 * rng.standard_normal(2000)
    assert share_off_streets(noise + true * apart, 20, noise - (1 - true) * apart, 20) == pytest.approx(
        true, abs=0.03
    )


def test_little_evidence_is_not_enough() -> None:
    misfit = np.zeros(100)
    misfit[0] = np.sqrt(CLEAR) - 0.1
    assert share_off_streets(misfit, 10, np.zeros(100), 10) == 0.0
    misfit[0] = np.sqrt(CLEAR) + 0.1
    assert share_off_streets(misfit, 10, np.zeros(100), 10) == 1.0


@given(st.integers(0, 1000), st.floats(0, 50), st.floats(0, 50))
def test_a_share_is_a_share(seed: int, street_freedom: float, path_freedom: float) -> None:
    streets, paths = np.random.default_rng(seed).normal(0, 2, (2, 60))
    assert 0.0 <= share_off_streets(streets, street_freedom, paths, path_freedom) <= 1.0
