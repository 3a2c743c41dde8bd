"""Lengths of trajectories: the paper's distribution (section 5.3), and a quantile that noise cannot wreck."""

from __future__ import annotations

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.estimates import Estimate

_MEANS = 60
_SHAPES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


def length_distribution(estimate: Estimate) -> Floats:
    """Return Pr(m) for m = 1, 2, ...: negative counts become zero, and the rest is normalised (section 5.3)."""
    kept = np.maximum(estimate.frequencies, 0)
    total = kept.sum()
    return kept / total if total > 0 else smooth_lengths(estimate)


def smooth_lengths(estimate: Estimate) -> Floats:
    """Fit the negative-binomial law that is nearest to the noisy frequencies.

    With few users single frequencies are mostly noise, and cumulative sums of them wander; two numbers, a
    mean and a shape, are still well determined. Post-processing of private estimates, so it costs nothing.
    """
    from scipy.special import gammaln

    lengths = np.arange(len(estimate.frequencies))
    means = np.geomspace(0.1, max(len(lengths) - 1, 0.2), _MEANS)
    shape, mean = (grid.ravel()[:, None] for grid in np.meshgrid(_SHAPES, means))
    # The negative binomial law; scipy.stats would take longer to load than everything else.
    ways = gammaln(lengths + shape) - gammaln(shape) - gammaln(lengths + 1)
    laws = np.exp(ways + shape * np.log(shape / (shape + mean)) + lengths * np.log(mean / (shape + mean)))
    # The last item stands for all longer paths.
    laws[:, -1] += np.maximum(1 - laws.sum(axis=1), 0)
    variances = np.where(np.isfinite(estimate.std_errors), estimate.std_errors, 1.0) ** 2
    misfit = ((laws - estimate.frequencies) ** 2 / variances).sum(axis=1)
    best: Floats = laws[int(np.argmin(misfit))]
    return best / best.sum()


def length_quantile(estimate: Estimate, k: float = 0.9) -> int:
    """Return the smallest length that covers the share k of the users: L_k in section 5.4."""
    covered = np.cumsum(smooth_lengths(estimate))
    return int(np.searchsorted(covered, k - 1e-12)) + 1
