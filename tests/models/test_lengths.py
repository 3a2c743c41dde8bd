from __future__ import annotations

import numpy as np
import pytest

from ldptrace.curator.estimates import Estimate
from ldptrace.models.lengths import length_distribution, length_quantile, smooth_lengths
from ldptrace.protocol.questions import Length

TRUE = np.array(
    [0.137, 0.2, 0.172, 0.135, 0.104, 0.087, 0.069, 0.043, 0.025, 0.014, 0.008, 0.006] + [0.0] * 24
)


def noisy(error: float, rng: np.random.Generator) -> Estimate:
    return Estimate(Length(6, 36), TRUE + rng.normal(0, error, 36), np.full(36, error), 1000)


def test_without_noise_the_quantile_is_the_true_one(rng: np.random.Generator) -> None:
    assert abs(length_quantile(noisy(1e-6, rng)) - 7) <= 1


@pytest.mark.parametrize("error", [0.03, 0.1])
def test_noise_does_not_wreck_the_quantile(error: float) -> None:
    # 0.1 is the noise of 20,000 users with a tenth of eps = 1, where raw cumulative counts return 1 or 36.
    found = [length_quantile(noisy(error, np.random.default_rng(seed))) for seed in range(40)]
    assert 4 <= np.median(found) <= 12
    assert min(found) >= 2


def test_the_last_item_is_all_longer_paths() -> None:
    """A geometric law with a mean of nine, of which a third is beyond the last of twelve lengths."""
    law = 0.1 * 0.9 ** np.arange(12)
    law[-1] = 0.9**11
    found = smooth_lengths(Estimate(Length(6, 12), law, np.full(12, 1e-3), 1_000_000))
    assert found == pytest.approx(law, abs=0.02)


def test_nobody_asked_gives_some_law() -> None:
    nothing = Estimate(Length(6, 36), np.zeros(36), np.full(36, np.inf), 0)
    for law in (length_distribution(nothing), smooth_lengths(nothing)):
        assert law.sum() == pytest.approx(1)
        assert np.all(law >= 0)


def test_negative_counts_become_zero() -> None:
    estimate = Estimate(Length(6, 3), np.array([0.5, -0.2, 0.5]), np.ones(3), 10)
    assert length_distribution(estimate).tolist() == [0.5, 0, 0.5]
