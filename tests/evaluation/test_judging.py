from __future__ import annotations

import numpy as np
import pytest

from evaluation_data import drifting_walks, timed
from ldptrace.evaluation import Bench, Measured, evaluate, judge
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)


GRID = Grid(SQUARE, 6)


@pytest.mark.slow
def test_sets_of_many_blocks_are_judged_like_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    real, synthetic = timed(drifting_walks(300, 1), 1), timed(drifting_walks(200, 2), 2)
    expected = evaluate(real, synthetic, grid=GRID, seed=1, repeat=1, attacks=False)
    monkeypatch.setattr("ldptrace.engines.blocks.POINTS", 300)
    rng = np.random.default_rng(3)
    card = judge(Bench.of(real, GRID, [200], rng), {"ours": Measured.of(synthetic, GRID)}, rng, repeat=1)
    for name in ("density_error", "trip_error", "pattern_f1", "fine_density_error_96", "departure_error"):
        assert card.sets[0].values[name].mean == pytest.approx(expected.sets[0].values[name].mean, abs=1e-9)
    # Bootstraps differ by chance: of the divergences of 300 trips by about a tenth.
    for name in ("od_error_12", "fine_density_error_24"):
        floors = [found.sets[0].values[name].floor for found in (card, expected)]
        assert floors[0] == pytest.approx(floors[1], rel=0.5)
    assert len(card.real.samples) == 300
    assert "<svg" in card.to_html()


@pytest.mark.slow
@pytest.mark.counted
def test_a_large_set_is_beside_fewer_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    real, synthetic = drifting_walks(2000, 1), drifting_walks(100, 2)
    found = []
    for walks in (2000, 1000):
        monkeypatch.setattr("ldptrace.evaluation.judging.WALKS", walks)
        card = evaluate(real, synthetic, grid=GRID, seed=1, repeat=1, attacks=False)
        found.append(card.sets[0].values["pattern_error"].uniform)
    # Counts of half as many walks are doubled: about the same error, not that of half as many.
    assert found[0] == pytest.approx(found[1], rel=0.1)
