from __future__ import annotations

import numpy as np

from evaluation_data import drifting_walks
from ldptrace.evaluation.floors import bootstrap
from ldptrace.evaluation.metrics import Yardstick
from ldptrace.protocol.grid import Grid

GRID = Grid((0, 0, 10, 10), 6)


def test_the_bootstrap_is_a_sample_of_the_real_set() -> None:
    real = drifting_walks(400, 1)
    yardstick = Yardstick.of(real, GRID, np.random.default_rng(1))
    pair = bootstrap(yardstick, 250, np.random.default_rng(2))
    assert len(pair.synthetic) == 250
    assert set(pair.synthetic.lengths) < set(yardstick.real.lengths)
    # With replacement: of 250 draws from 400 about 64 meet somebody again; below 30 with a probability under 1e-6.
    assert len(set(pair.synthetic.lengths)) <= 220
    assert pair.answers.max() <= pair.synthetic.visits.sum()
