from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.evaluation import divergence


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_histograms_lose_nothing_or_say_so(values: list[int]) -> None:
    real, synthetic = np.array([0.0, 10.0, 20.0]), np.array(values, dtype=float)
    full = divergence.full_histograms(real, synthetic)
    assert full[1].sum() == len(values)
    reference = divergence.reference_histograms(real, synthetic)[1]
    for bucket in range(20):
        assert reference[bucket] == sum(bucket <= value <= bucket + 1 for value in values)


def test_divergence_is_smoothed_as_in_the_reference() -> None:
    assert divergence.jensen_shannon([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2), abs=1e-6)
    assert divergence.count_divergence([0, 0], [1, 2]) == divergence.MAX_JSD
    assert divergence.count_divergence([0, 0], [0, 0]) == 0.0
