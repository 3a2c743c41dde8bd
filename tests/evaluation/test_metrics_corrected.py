"""Corrected variants: what each of them mends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.metrics import CORRECTED, METRICS, Pair, Reference
from ldptrace.protocol.grid import Grid

GRID = Grid((0, 0, 10, 10), 6)
GOLDEN = {
    "query_error_scaled": 0.275929,
    "hotspot_query_error_at_10": 0.061018,
    "kendall_tau_b": 0.736757,
    "length_error_overflow": 0.025031,
    "cell_length_error": 0.009727,
    "diameter_error_overflow": 0.06641,
    "pattern_f1_available": 0.62,
    "pattern_error_symmetric": 0.550479,
    "pattern_error_scaled": 0.622368,
}


def compare(real: Trajectories, synthetic: Trajectories) -> Pair:
    return Reference.of(real, GRID, np.random.default_rng(1)).pair(synthetic)


@pytest.mark.parametrize("name", CORRECTED)
def test_identical_sets_score_perfect(name: str) -> None:
    real = drifting_walks(300, 5)
    value = CORRECTED[name].of(compare(real, real))
    # Both sides are resampled from their cells, each for itself, so scaled queries differ a little.
    if name == "query_error_scaled":
        assert 0 < value < 0.6
    else:
        assert value == (0.0 if CORRECTED[name].goal == "min" else 1.0)
    assert CORRECTED[name].corrects in METRICS


def test_golden_values() -> None:
    pair = compare(drifting_walks(300, 3), drifting_walks(180, 4, pull=0.35))
    found = {name: round(metric.of(pair), 6) for name, metric in CORRECTED.items()}
    assert found == GOLDEN


def test_tau_b_reaches_one_where_the_real_set_has_ties() -> None:
    real = Trajectories.from_lists([[(0.5, 0.5), (9.5, 0.5)]])
    pair = compare(real, real)
    assert METRICS["kendall_tau"].of(pair) < 1
    assert CORRECTED["kendall_tau_b"].of(pair) == 1.0


def test_values_beyond_the_real_range_are_kept() -> None:
    real = Trajectories.from_lists([[(0, 0), (0, 0)], [(0, 0), (2, 0)]])
    synthetic = Trajectories.from_lists([[(0, 0), (0, 0)], [(0, 0), (9, 0)]])
    pair = compare(real, synthetic)
    # The reference drops the long one and sees half of the real distribution.
    assert CORRECTED["length_error_overflow"].of(pair) == pytest.approx(math.log(2) / 2, abs=1e-6)


def test_sizes_do_not_matter_to_scaled_variants() -> None:
    real = drifting_walks(200, 1)
    twice = Trajectories.concat([drifting_walks(200, 2)] * 2)
    once, double = compare(real, drifting_walks(200, 2)), compare(real, twice)
    for name in ("pattern_error_symmetric", "pattern_error_scaled"):
        assert CORRECTED[name].of(once) == pytest.approx(CORRECTED[name].of(double), abs=1e-12)
    # Twice the counts are a query error of about one more; scaled they are what they were, but for the points drawn.
    assert METRICS["query_error"].of(double) > 2 * METRICS["query_error"].of(once)
    scaled = CORRECTED["query_error_scaled"]
    assert scaled.of(double) == pytest.approx(scaled.of(once), abs=0.1)


def test_invented_patterns_count_in_the_symmetric_error() -> None:
    east = [(0.5, 0.5), (2.5, 0.5)]
    north = [(0.5, 0.5), (0.5, 2.5)]
    real = Trajectories.from_lists([east, east])
    pair = compare(real, Trajectories.from_lists([east, north]))
    # East: 1 per trajectory against 1/2; north: 0 against 1/2.
    assert CORRECTED["pattern_error_symmetric"].of(pair) == pytest.approx((0.5 + 1.0) / 2)
