from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldptrace.evaluation import divergence
from ldptrace.evaluation.divergence import Spread, full_counts, reference_counts, round_edges


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_histograms_lose_nothing_or_say_so(values: list[int]) -> None:
    synthetic = np.array(values, dtype=float)
    reference, full, drawn = Spread.of(np.array([0.0, 20.0])).counted(synthetic)
    np.testing.assert_array_equal(full, full_counts(synthetic, 0.0, 20.0))
    np.testing.assert_array_equal(reference, reference_counts(synthetic, 0.0, 20.0))
    assert full.sum() == drawn.sum() == len(values)
    for bucket in range(20):
        assert reference[bucket] == sum(bucket <= value <= bucket + 1 for value in values)


def test_divergence_is_smoothed_as_in_the_reference() -> None:
    assert divergence.count_divergence([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2), abs=1e-6)
    assert divergence.count_divergence([0, 0], [1, 2]) == divergence.MAX_JSD
    assert divergence.count_divergence([0, 0], [0, 0]) == 0.0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.integers(0, 50))
def test_spreads_of_parts_add_up(values: list[float], cut: int) -> None:
    whole, parts = (
        Spread.of(np.array(values)),
        [Spread.of(np.array(part)) for part in (values[:cut], values[cut:])],
    )
    both = parts[0] + parts[1]
    assert (both.low, both.high) == (min(values), max(values))
    assert both.mean == pytest.approx(np.mean(values))
    assert np.array_equal(both.classes, whole.classes)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_edges_are_round_and_reach_the_usual_values(values: list[float]) -> None:
    found = Spread.of(np.array(values)).drawn
    assert (len(found), found[0]) == (21, 0)
    assert np.all(np.diff(found) > 0)
    ordered = np.sort(values)
    # A drawing may leave out one value in two hundred, and no more.
    assert found[-1] >= 0.999 * ordered[int(np.ceil(0.995 * len(values))) - 1]


def test_small_things() -> None:
    assert round_edges(0.0)[-1] == 1.0
    assert Spread.of(np.empty(0)).mean == 0.0


counts = st.lists(st.integers(0, 6), min_size=2, max_size=40)


def pairs_by_hand(real: list[int], synthetic: list[int]) -> float:
    agree = differ = 0
    for i, j in itertools.combinations(range(len(real)), 2):
        if real[i] == real[j]:
            continue
        if (real[i] > real[j]) == (synthetic[i] > synthetic[j]) and synthetic[i] != synthetic[j]:
            agree += 1
        else:
            differ += 1
    return (agree - differ) / (len(real) * (len(real) - 1) / 2)


@given(counts, st.randoms(use_true_random=False))
def test_kendall_tau_counts_every_pair(real: list[int], random: object) -> None:
    synthetic = [random.randint(0, 6) for _ in real]  # type: ignore[attr-defined]
    assert divergence.kendall_tau(real, synthetic) == pytest.approx(pairs_by_hand(real, synthetic), abs=1e-12)
    if len(set(real)) > 1 and len(set(synthetic)) > 1:
        expected = stats.kendalltau(real, synthetic).statistic
        assert divergence.kendall_tau_b(real, synthetic) == pytest.approx(expected, abs=1e-12)
    else:
        assert math.isnan(divergence.kendall_tau_b(real, synthetic))


def test_the_gain_of_the_hottest_cells_by_hand() -> None:
    real = [9, 7, 5, 3, 1, 0]
    assert divergence.hotspot_gain(real, real) == 1.0
    # The hottest two swapped: worth 1/2 and 1 at discounts 1 and 1 / log2(3); the ideal is the other way round.
    third = 1 / math.log2(3)
    assert divergence.hotspot_gain(real, [7, 9, 5, 3, 1, 0], top=2) == pytest.approx(
        (0.5 + third) / (1 + third / 2)
    )
    assert divergence.hotspot_gain(real, [0, 0, 0, 0, 0, 9], top=1) == 0.0


def test_a_single_cell_has_no_rank() -> None:
    assert math.isnan(divergence.kendall_tau([1], [1]))
    assert divergence.hotspot_gain([1], [1]) == pytest.approx(
        1 / sum(1 / (rank * math.log2(rank + 1)) for rank in range(1, 6))
    )
