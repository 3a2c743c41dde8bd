from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldptrace.evaluation import ranking

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
    assert ranking.kendall_tau(real, synthetic) == pytest.approx(pairs_by_hand(real, synthetic), abs=1e-12)
    if len(set(real)) > 1 and len(set(synthetic)) > 1:
        expected = stats.kendalltau(real, synthetic).statistic
        assert ranking.kendall_tau_b(real, synthetic) == pytest.approx(expected, abs=1e-12)
    else:
        assert math.isnan(ranking.kendall_tau_b(real, synthetic))


def test_the_gain_of_the_hottest_cells_by_hand() -> None:
    real = [9, 7, 5, 3, 1, 0]
    assert ranking.hotspot_gain(real, real) == 1.0
    # The hottest two swapped: worth 1/2 and 1 at discounts 1 and 1 / log2(3); the ideal is the other way round.
    third = 1 / math.log2(3)
    assert ranking.hotspot_gain(real, [7, 9, 5, 3, 1, 0], top=2) == pytest.approx(
        (0.5 + third) / (1 + third / 2)
    )
    assert ranking.hotspot_gain(real, [0, 0, 0, 0, 0, 9], top=1) == 0.0


def test_a_single_cell_has_no_rank() -> None:
    assert math.isnan(ranking.kendall_tau([1], [1]))
    assert ranking.hotspot_gain([1], [1]) == pytest.approx(
        1 / sum(1 / (rank * math.log2(rank + 1)) for rank in range(1, 6))
    )
