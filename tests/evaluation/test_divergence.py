from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.evaluation import divergence


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_histograms_lose_nothing_or_say_so(values: list[int]) -> None:
    scale, synthetic = divergence.Scale(0.0, 20.0, np.array([0.0, 5.0])), np.array(values, dtype=float)
    reference, full, drawn = scale.counted(synthetic)
    assert full.sum() == drawn.sum() == len(values)
    for bucket in range(20):
        assert reference[bucket] == sum(bucket <= value <= bucket + 1 for value in values)


def test_divergence_is_smoothed_as_in_the_reference() -> None:
    assert divergence.jensen_shannon([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2), abs=1e-6)
    assert divergence.count_divergence([0, 0], [1, 2]) == divergence.MAX_JSD
    assert divergence.count_divergence([0, 0], [0, 0]) == 0.0
