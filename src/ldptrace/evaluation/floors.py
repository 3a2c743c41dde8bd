"""What a perfect generator would score: the real set against a bootstrap of itself."""

from __future__ import annotations

import numpy as np

from ldptrace.evaluation.metrics import Comparison, Yardstick
from ldptrace.evaluation.queries import resample


def bootstrap(yardstick: Yardstick, size: int, rng: np.random.Generator) -> Comparison:
    """The real set beside `size` trajectories drawn from it with replacement.

    Where the reference compares with a real set resampled from its cells, so is the bootstrap.
    """
    picked = rng.integers(0, len(yardstick.real), size)
    sample = yardstick.real.take(picked)
    answers = yardstick.queries.count(*resample(sample.paths, rng))
    times = np.zeros(len(yardstick.trajectories), dtype=np.int32)
    times[yardstick.trajectories.sizes > 0] = np.bincount(picked, minlength=len(yardstick.real))
    return Comparison(yardstick, sample, answers, yardstick.trajectories, times)
