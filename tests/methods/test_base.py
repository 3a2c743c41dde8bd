from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.engines.local import Memory
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan


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


def test_leaks_are_closed_by_their_option() -> None:
    leaky = Method("a", "", lambda job: Synthesis(), leaks="it shows", closed_by="hide")
    assert leaky.leak({}) == leaky.leak({"hide": False}) == "it shows"
    assert leaky.leak({"hide": True}) is None
    assert Method("b", "", lambda job: Synthesis(), leaks="it shows").leak({"hide": True}) == "it shows"
    assert Method("c", "", lambda job: Synthesis()).leak({}) is None
