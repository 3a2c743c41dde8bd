from __future__ import annotations

import numpy as np

from evaluation_data import drifting_walks
from ldptrace.evaluation.floors import bootstrap
from ldptrace.evaluation.metrics import Yardstick
from ldptrace.evaluation.queries import resample
from ldptrace.protocol.grid import Grid

GRID = Grid((0, 0, 10, 10), 6)


def test_the_bootstrap_is_a_sample_of_the_real_set() -> None:
    real = drifting_walks(400, 1)
    yardstick = Yardstick.of(real, GRID, np.random.default_rng(1))
    pair = bootstrap(yardstick, 250, np.random.default_rng(2))
    assert len(pair.synthetic) == 250
    picked = np.random.default_rng(2).integers(0, 400, 250)
    assert np.array_equal(pair.synthetic.lengths, yardstick.real.lengths[picked])
    # One point per cell, two for a path of one cell: as many as the reference draws.
    x, _ = resample(pair.synthetic.paths, np.random.default_rng(3))
    assert len(x) == len(pair.synthetic.paths.cells) + np.count_nonzero(pair.synthetic.paths.sizes == 1)
