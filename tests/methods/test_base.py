from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.parallel import CHUNK
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Sampling, Synthesis
from ldptrace.models.markov import MarkovModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.synthesis import run_method


@pytest.fixture
def job(grid: Grid, rng: np.random.Generator) -> Job:
    paths = random_paths(300, grid, rng)
    real = place(paths.take(paths.sizes > 0), rng)
    return Job(Memory(real), grid, 1.0, None, np.random.default_rng(1), np.random.default_rng(2))


def test_a_job_knows_its_crowd(job: Job, grid: Grid) -> None:
    assert job.users == len(job.real) == len(job.paths)
    np.testing.assert_array_equal(job.paths.cells, CellPaths.from_trajectories(job.real, grid).cells)


def test_every_round_has_fresh_randomness(job: Job, grid: Grid) -> None:
    plan = Plan.single_report(grid, 1.0)
    first, second = job.collect(plan), job.collect(plan)
    assert sum(first.users) == sum(second.users) == job.users
    assert first != second


def test_trips_of_many_points_are_drawn_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Trajectories.from_lists([[(k, 0.0), (k, 1.0), (k, 2.0)] for k in range(1000)])
    whole = list(Sampling(lambda number: line.part)(1000, 0))
    assert [len(part) for part in whole] == [1000]
    monkeypatch.setattr("ldptrace.methods.base.DENSE", 300)
    few = list(Sampling(lambda number: line.part)(1000, 0))
    assert [len(part) for part in few] == [100] * 10
    np.testing.assert_array_equal(Trajectories.concat(few).x, line.x)


def test_leaks_are_closed_by_their_option() -> None:
    leaky = Method("a", "", lambda job: Synthesis(), leaks="it shows", closed_by="hide")
    assert leaky.leak({}) == leaky.leak({"hide": False}) == "it shows"
    assert leaky.leak({"hide": True}) is None
    assert Method("b", "", lambda job: Synthesis(), leaks="it shows").leak({"hide": True}) == "it shows"
    assert Method("c", "", lambda job: Synthesis()).leak({}) is None


def test_blocks_are_drawn_each_from_its_own_child(job: Job) -> None:
    synthesis = run_method(job.real, 1.0, bounds=job.grid.bounds, grid=4, method="paper", seed=1).synthesis
    assert isinstance(synthesis.model, MarkovModel)
    drawn = synthesis.draw(CHUNK + 10, np.random.default_rng(3))
    last = synthesis.block(10, 1, np.random.default_rng(3))
    assert len(drawn) == CHUNK + 10
    np.testing.assert_array_equal(drawn.x[-last.points :], last.x)


def test_without_a_model_nothing_can_be_drawn() -> None:
    with pytest.raises(InputError, match="no model to draw from"):
        Synthesis().draw(1, np.random.default_rng(1))
