"""What a perfect generator would score: the real set against a bootstrap of itself."""

from __future__ import annotations

import numpy as np

from ldptrace.evaluation.metrics import Comparison, Yardstick


def bootstrap(yardstick: Yardstick, size: int, rng: np.random.Generator) -> Comparison:
    """The real set beside `size` trajectories drawn from it with replacement.

    Where the reference compares with a real set resampled from its cells, so is the bootstrap.
    """
    sample = yardstick.real.again(size, rng)
    return Comparison(yardstick, sample, yardstick.queries.scattered(sample.visits, sample.grid, rng))
