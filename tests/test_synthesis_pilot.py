from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.synthesis import pilot_plan, run_pilot
from synthesis_kit import run_method
from trajectory_kit import straight_trips

BOUNDS = (0.0, 0.0, 20_000.0, 20_000.0)


@pytest.fixture(scope="module")
def trips() -> Trajectories:
    return straight_trips(8000, seed=5)


@pytest.mark.slow
def test_the_pilot_finds_the_mean_trip(trips: Trajectories) -> None:
    truth = (CellPaths.from_trajectories(trips, Grid(BOUNDS, 6)).sizes.mean() - 1) / 6
    found = [
        run_pilot(Memory(trips), 2.0, BOUNDS, 0.5, np.random.default_rng(seed)).trip for seed in range(8)
    ]
    assert np.median(found) == pytest.approx(truth, rel=0.3)


def test_nobody_answers_twice(trips: Trajectories, rng: np.random.Generator) -> None:
    pilot = run_pilot(Memory(trips), 1.0, BOUNDS, 0.25, rng)
    rest = pilot.rest.of_block(0, len(trips))
    assert pilot.users + np.count_nonzero(rest) == len(trips)
    assert not np.any(rest & replace(pilot.rest, others=False).of_block(0, len(trips)))
    assert abs(np.count_nonzero(rest) - 6000) < 300
    assert float(pilot_plan(1.0, BOUNDS).spent) <= 1


@pytest.mark.slow
def test_a_piloted_collection_says_so(trips: Trajectories) -> None:
    run = run_method(trips, 1.0, bounds=BOUNDS, pilot=0.2, seed=1)
    assert len(run.trajectories) == len(trips)
    assert any("pilot" in note for note in run.privacy()["notes"])


def test_impossible_pilots_are_refused(trips: Trajectories) -> None:
    for share in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="between 0 and 1"):
            run_method(trips, 1.0, bounds=BOUNDS, pilot=share)
    with pytest.raises(InputError, match="nothing to choose"):
        run_method(trips, 1.0, bounds=BOUNDS, pilot=0.1, method="paper")
