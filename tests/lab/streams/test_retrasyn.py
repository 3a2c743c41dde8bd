from __future__ import annotations

import numpy as np
import pytest

from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import CellStreams, Clock, Settings, retrasyn

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)


def eastward(people: int, ticks: int) -> CellStreams:
    """At every tick some enter in the west, go east one cell a tick, and quit."""
    begins = np.repeat(np.arange(ticks - 2), people)
    cells = np.tile(np.int32([0, 3, 6]), len(begins))
    return CellStreams(cells, np.arange(0, len(cells) + 1, 3), begins, GRID, Clock(0.0, 1.0, ticks))


@pytest.mark.slow
def test_much_epsilon_follows_the_stream(rng: np.random.Generator) -> None:
    real = eastward(2000, 30)
    made = retrasyn(real, Settings(8.0, window=2, mean_ticks=3.0), rng)
    later = made.ticks > 8
    shares = np.bincount(made.cells[later], minlength=9) / later.sum()
    assert shares[[0, 3, 6]].sum() > 0.9
    assert shares[[0, 3, 6]].min() > 0.1
    # As many as in the real stream at every tick, those included who quit in it.
    present = np.bincount(made.ticks, minlength=30)
    doing = np.bincount(real.ticks, minlength=31) + np.bincount(real.begins + 3, minlength=31)
    assert present.tolist() == doing[:30].tolist()


def test_steps_are_to_cells_near_by(rng: np.random.Generator) -> None:
    made = retrasyn(eastward(20, 12), Settings(1.0, window=3), rng)
    inner = np.setdiff1d(np.arange(len(made.cells)), made.offsets[:-1])
    (i, j), (i2, j2) = (np.divmod(made.cells[at], 3) for at in (inner - 1, inner))
    assert np.abs(i - i2).max() <= 1
    assert np.abs(j - j2).max() <= 1


def test_one_seed_one_stream() -> None:
    real = eastward(30, 10)
    first, again, other = (
        retrasyn(real, Settings(1.0, window=3), np.random.default_rng(seed)).cells for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_an_empty_tick_changes_nothing(rng: np.random.Generator) -> None:
    """Nobody is on the way at first, and nobody at the end."""
    real = CellStreams(np.int32([0, 3]), np.array([0, 2]), np.array([4]), GRID, Clock(0.0, 1.0, 9))
    made = retrasyn(real, Settings(1.0, window=2), rng)
    assert np.bincount(made.ticks, minlength=9).tolist() == [0, 0, 0, 0, 1, 1, 1, 0, 0]
