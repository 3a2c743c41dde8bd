"""Many shuffled answers together, beside a composition that uses nothing of the package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldptrace.curator import accounting
from ldptrace.curator.accounting import composed_epsilon, stated_lifetime
from ldptrace.errors import InputError
from ldptrace.protocol.shuffling import central_epsilon, clones

pytestmark = pytest.mark.slow


def test_a_year_of_weeks() -> None:
    assert 0.42 < stated_lifetime(300_000, 3, 1e-6 / 52, 52) <= 0.45
    composed = composed_epsilon(300_000, 5, 1e-6, 52)
    assert composed == pytest.approx(1.37, rel=0.02)
    # A plan states a per cent more, as for one answer.
    assert 1.01 * composed <= stated_lifetime(300_000, 5, 1e-6 / 52, 52) <= 1.0125 * composed


@pytest.mark.parametrize(("local", "central"), [(1.5, 0.5), (2, 1.0)])
def test_two_answers_beside_all_pairs_of_outcomes(local: float, central: float) -> None:
    """Every outcome of the clones' pair twice, for few devices."""
    n = 60
    here, there = _pair(n, local)
    both, neither = np.outer(here, here), np.outer(there, there)
    delta = float(np.maximum(both - math.exp(central) * neither, 0).sum())
    assert central <= composed_epsilon(n, local, delta, 2) <= 1.02 * central


def _pair(n: int, local: float) -> tuple[np.ndarray, np.ndarray]:
    p, rows = math.exp(-local), ([], [])
    more = 1 / (1 + p)
    for c in range(n):
        weight = stats.binom.pmf(c, n - 1, p)
        for k in range(c + 2):
            before, at = stats.binom.pmf([k - 1, k], c, 0.5)
            rows[0].append(weight * (more * before + (1 - more) * at))
            rows[1].append(weight * ((1 - more) * before + more * at))
    return np.array(rows[0]), np.array(rows[1])


def test_one_answer_is_what_devices_check() -> None:
    assert composed_epsilon(10_000, 3, 1e-8, 1) == central_epsilon(10_000, 3, 1e-8)


def test_the_plain_sum_is_never_passed() -> None:
    for answers in (2, 5, 30):
        composed = composed_epsilon(5_000, 3, 1e-7, answers)
        assert composed <= answers * central_epsilon(5_000, 3, 1e-7 / answers)
    # Few reports hide nothing: every answer costs eps0.
    assert stated_lifetime(10, 3, 1e-8, 5) == 15


def test_more_answers_and_a_smaller_delta_cost_more() -> None:
    values = [composed_epsilon(20_000, 2, 1e-7, answers) for answers in (1, 4, 16, 64)]
    assert values == sorted(values)
    assert composed_epsilon(20_000, 2, 1e-9, 16) > composed_epsilon(20_000, 2, 1e-6, 16)


def test_no_answer_is_refused_and_very_many_cost_their_sum() -> None:
    with pytest.raises(InputError, match="number of answers"):
        composed_epsilon(1000, 1, 1e-6, 0)
    sum_of_all = 10_001 * central_epsilon(100_000, 1, 1e-10)
    assert composed_epsilon(100_000, 1, 10_001e-10, 10_001) == pytest.approx(sum_of_all, rel=1e-9)


@pytest.mark.parametrize(("n", "local"), [(100, 1.0), (5_000, 3.0)])
def test_what_is_not_looked_at_counts_as_a_loss_without_bound(
    n: int, local: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, omitted = clones(n, local)
    for width in (12.0, 2.0):
        # With a small width, much is not looked at.
        monkeypatch.setattr(accounting, "WIDTH", width)
        masses, rest = accounting._losses(n, local, 1e-3)
        assert sum(masses.values()) + rest >= 1
        assert rest > omitted
    assert rest > 1e-3
