from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import Bench, Measured, evaluate, judge
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)


GRID = Grid(SQUARE, 6)


def timed(trajectories: Trajectories, seed: int, peak: float = 8.0) -> Trajectories:
    """Trips that leave around an hour and take a few minutes per step."""
    rng = np.random.default_rng(seed)
    leave = np.repeat((rng.normal(peak, 2.0, len(trajectories)) % 24) * 3600, trajectories.sizes)
    pace = np.repeat(rng.uniform(60, 900, len(trajectories)), trajectories.sizes)
    step = np.arange(trajectories.points) - np.repeat(trajectories.offsets[:-1], trajectories.sizes)
    return replace(trajectories, t=leave + step * pace)


def test_sets_added_up_in_batches_are_judged_like_whole_ones() -> None:
    real, synthetic = timed(drifting_walks(300, 1), 1), timed(drifting_walks(200, 2), 2)
    cuts = [slice(0, 120), slice(120, 121), slice(121, 300)]
    rng = np.random.default_rng(3)
    whole = Measured.merged([Measured.of(real[cut], GRID).drawn(50, rng) for cut in cuts])
    again = Measured.merged([Measured.again(real[cut], GRID, 200 / 300, rng) for cut in cuts])
    bench = Bench.between(whole, {200: again}, rng)
    parts = Measured.merged([Measured.of(synthetic[:90], GRID), Measured.of(synthetic[90:], GRID)])
    card = judge(bench, {"ours": parts}, rng, repeat=1)
    expected = evaluate(real, synthetic, grid=GRID, seed=1, repeat=1, attacks=False)
    for name in ("density_error", "trip_error", "pattern_f1", "fine_density_error_96", "departure_error"):
        assert card.sets[0].values[name].mean == pytest.approx(expected.sets[0].values[name].mean, abs=1e-9)
    # Bootstraps differ by chance: of the divergences of 300 trips by about a tenth.
    for name in ("od_error_12", "fine_density_error_24"):
        floors = [found.sets[0].values[name].floor for found in (card, expected)]
        assert floors[0] == pytest.approx(floors[1], rel=0.5)
    assert len(card.real.samples) == 50 + 1 + 50
    assert "<svg" in card.to_html()
