from __future__ import annotations

import numpy as np
import pytest

from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import Absorption, CellStreams, Clock, Distribution, Settings, lpa, lpd

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)


@pytest.mark.parametrize("method", [lpd, lpa])
def test_much_epsilon_follows_the_stream(method: object, rng: np.random.Generator) -> None:
    """Everybody stays in the middle; whoever begins elsewhere has nowhere to go and wanders there."""
    people = 3000
    cells = np.full(20 * people, 4, dtype=np.int32)
    real = CellStreams(
        cells, np.arange(0, len(cells) + 1, 20), np.zeros(people, dtype=np.int64), GRID, Clock(0.0, 1.0, 20)
    )
    assert callable(method)
    made = method(real, Settings(6.0, window=4), rng)
    assert len(made) == people
    assert np.all(made.sizes == 20)
    assert np.mean(made.cells[made.ticks == 0] == 4) < 0.2
    assert np.mean(made.cells[made.ticks == 19] == 4) > 0.9


def test_distribution_halves_what_is_left() -> None:
    rule = Distribution(4)
    offers = []
    for tick in range(1, 7):
        offers.append(rule.offer(800, tick))
        rule.done(offers[-1], tick)
    assert offers == [200, 100, 50, 25, 112, 106]


def test_absorption_saves_quiet_ticks_and_rests_after() -> None:
    rule = Absorption(4)
    offers = []
    for tick, published in enumerate([True, False, False, True, False, False, False, False], start=1):
        offers.append(rule.offer(800, tick))
        rule.done(offers[-1] if published else 0, tick)
    assert offers == [100, 100, 200, 300, 0, 0, 100, 200]


def test_nobody_is_asked_for_more_than_there_is() -> None:
    rule = Absorption(3)
    assert [rule.offer(600, tick) for tick in range(1, 9)] == [100, 200, 300, 300, 300, 300, 300, 300]
