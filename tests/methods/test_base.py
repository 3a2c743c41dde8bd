from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError, PlanError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.options import NoOptions, option
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan


@dataclass(frozen=True)
class Hides:
    hide: bool = option(False, help="Whether to hide it.")


@pytest.fixture
def job(grid: Grid, rng: np.random.Generator) -> Job:
    paths = random_paths(300, grid, rng)
    real = place(paths.take(paths.sizes > 0), rng)
    return Job(Memory(real), grid, 1.0, None, np.random.default_rng(1), np.random.default_rng(2))


def test_a_job_knows_its_crowd(job: Job, grid: Grid) -> None:
    assert job.users == len(job.real) == len(job.paths)
    np.testing.assert_array_equal(job.paths.cells, CellPaths.from_trajectories(job.real, grid).cells)


def test_every_round_has_fresh_randomness(job: Job, grid: Grid) -> None:
    plan = Plan.single_report(grid, 0.5)
    first, second = job.collect(plan), job.collect(plan)
    assert sum(first.users) == sum(second.users) == job.users
    assert first != second


def test_plans_beyond_epsilon_are_refused_before_any_device_is_asked(
    job: Job, grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(Memory, "collect", lambda crowd, collection: asked.append(collection.plan))
    before = job.devices.bit_generator.seed_seq.n_children_spawned  # type: ignore[attr-defined]
    with pytest.raises(PlanError, match="costs each device epsilon 3, but the job allows epsilon 1 in all"):
        job.collect(Plan.single_report(grid, 3.0))
    assert job.devices.bit_generator.seed_seq.n_children_spawned == before  # type: ignore[attr-defined]
    plan = Plan.single_report(grid, 1.0)
    job.collect(plan)
    with pytest.raises(PlanError, match="used 1 of it"):
        job.collect(plan)
    assert asked == [plan]


def test_jobs_made_from_one_job_share_its_epsilon(job: Job, grid: Grid) -> None:
    halves = replace(job, epsilon=0.5), replace(job, epsilon=0.5)
    for half in halves:
        half.collect(Plan.single_report(grid, half.epsilon))
    for made in (job, replace(job, epsilon=3.0)):
        with pytest.raises(PlanError, match=r"the job allows epsilon 1 in all, .* used 1 of it"):
            made.collect(Plan.single_report(grid, 0.1))


def test_leaks_are_closed_by_their_option() -> None:
    leaky = Method("a", "", lambda job: Synthesis(), leaks="it shows", options=Hides, closed_by="hide")
    assert leaky.leak(Hides()) == "it shows"
    assert leaky.leak(Hides(hide=True)) is None
    assert Method("b", "", lambda job: Synthesis(), leaks="it shows").leak(Hides(hide=True)) == "it shows"
    assert Method("c", "", lambda job: Synthesis()).leak(NoOptions()) is None


def test_options_are_checked_by_their_record() -> None:
    method = Method("a", "", lambda job: Synthesis(), options=Hides)
    assert method.chosen({"hide": True}) == Hides(hide=True)
    with pytest.raises(InputError, match=r"method a has no option 'seek'; it has \['hide'\]"):
        method.chosen({"seek": True})
    with pytest.raises(InputError, match="hide must be true or false, got 'often'"):
        method.chosen({"hide": "often"})
