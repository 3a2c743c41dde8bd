"""Statistical assertions. Each fails a correct implementation with probability at most ALPHA."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

ALPHA = 1e-6


def assert_proportion(successes: int, trials: int, p: float) -> None:
    """Exact binomial test of one proportion."""
    value = stats.binomtest(int(successes), int(trials), float(p)).pvalue
    assert value > ALPHA, (
        f"{successes} of {trials} is not a proportion of {float(p):.6f} (p-value {value:.1e})"
    )


def assert_proportions(successes: ArrayLike, trials: int, p: ArrayLike) -> None:
    """Exact binomial tests of many proportions; the alarm rate is shared among them."""
    observed = np.asarray(successes)
    expected = np.broadcast_to(np.asarray(p, dtype=float), observed.shape)
    for item, (count, chance) in enumerate(zip(observed.ravel(), expected.ravel(), strict=True)):
        value = stats.binomtest(int(count), int(trials), float(chance)).pvalue
        assert value > ALPHA / observed.size, (
            f"item {item}: {count} of {trials} is not a proportion of {chance:.6f} (p-value {value:.1e})"
        )


def assert_frequencies(counts: ArrayLike, probabilities: ArrayLike) -> None:
    """Chi-square test of category counts; categories expected less than 5 times are put together."""
    observed, expected = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    assert np.all(observed[expected == 0] == 0), "something impossible happened"
    expected = expected / expected.sum() * observed.sum()
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5:
        observed = np.append(observed[:-2], observed[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    value = stats.chisquare(observed, expected).pvalue if len(observed) > 1 else 1.0
    assert value > ALPHA, f"frequencies differ from the expected ones (p-value {value:.1e})"


def assert_standard_normal(z: ArrayLike) -> None:
    """Independent, approximately normal scores: neither their mean nor their spread is off."""
    scores = np.asarray(z, dtype=float).ravel()
    mean = stats.norm.sf(abs(scores.mean()) * np.sqrt(len(scores))) * 2
    assert mean > ALPHA / 2, f"mean score {scores.mean():.3f} over {len(scores)} (p-value {mean:.1e})"
    spread = float(np.sum(scores**2))
    tails = 2 * min(stats.chi2.cdf(spread, len(scores)), stats.chi2.sf(spread, len(scores)))
    assert tails > ALPHA / 2, f"mean square score {spread / len(scores):.3f} (p-value {tails:.1e})"


def assert_same_law(first: ArrayLike, second: ArrayLike) -> None:
    """Two samples of a statistic come from one distribution (Kolmogorov-Smirnov)."""
    value = stats.ks_2samp(np.asarray(first), np.asarray(second)).pvalue
    assert value > ALPHA, f"the two samples differ (p-value {value:.1e})"


def assert_same_categories(first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
    """Two samples of categories come from one distribution (chi-square test of homogeneity)."""
    categories = sorted(set(first) | set(second), key=repr)
    table = np.array([[sample.count(category) for category in categories] for sample in (first, second)])
    value = stats.chi2_contingency(table).pvalue
    assert value > ALPHA, f"the two samples differ (p-value {value:.1e})"
