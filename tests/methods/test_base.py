from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError, PlanError
from ldptrace.methods.base import Job, Method, Spending, Synthesis
from ldptrace.options import NoOptions, chosen, option
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import End, Question, Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import SHARES, Ask, Round


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
    assert chosen("a", Hides, {"hide": True}) == Hides(hide=True)
    with pytest.raises(InputError, match=r"method a has no option 'seek'; it has hide"):
        chosen("a", Hides, {"seek": True})
    with pytest.raises(InputError, match="hide must be true or false, got 'often'"):
        chosen("a", Hides, {"hide": "often"})


GRID = Grid((0, 0, 6, 6), 6)


@pytest.fixture
def spending() -> Spending:
    return Spending(Fraction(1))


def asking(question: Question, epsilon: Fraction) -> Round:
    return Round((Ask(question, GRR(question.domain, 1, ratio_at_most(epsilon))),), "everyone")


def plan_of(epsilon: float | str, rounds: int = 1) -> Plan:
    """A plan whose rounds have equal parts of epsilon."""
    part = Fraction(str(epsilon)) / rounds
    return Plan("tried", GRID, Fraction(str(epsilon)), (asking(Start(6), part),) * rounds)


def test_a_plan_beyond_the_limit_is_refused_in_one_sentence(spending: Spending) -> None:
    with pytest.raises(PlanError) as refused:
        spending.pay(plan_of(3), 0)
    assert str(refused.value) == (
        "job.collect: round 0 of the plan 'tried' costs each device epsilon 3, but the job allows epsilon 1 in all, "
        "and earlier collections have used 0 of it"
    )
    assert spending.spent == 0


def test_plans_are_added_up(spending: Spending) -> None:
    spending.pay(plan_of(0.7), 0)
    with pytest.raises(PlanError, match=r"epsilon 0\.4, .* allows epsilon 1 in all, .* used 0\.7 of it"):
        spending.pay(plan_of(0.4), 0)
    spending.pay(plan_of(0.3), 0)
    assert spending.spent == 1


def test_sums_are_exact() -> None:
    tenths = Spending(Fraction("0.3"))
    for part in (0.1, 0.2):
        tenths.pay(plan_of(part), 0)
    assert tenths.spent == tenths.limit
    thirds = Spending(Fraction("1.1"))
    thirds.pay(plan_of(1.1 / 3), 0)
    thirds.pay(plan_of(1.1 / 3), 0)
    with pytest.raises(PlanError, match=r"costs each device epsilon 0\.3666666666666667"):
        thirds.pay(plan_of(1.1 / 3), 0)
    least = Spending(Fraction(1))
    with pytest.raises(PlanError, match=r"costs each device epsilon 1\.000000000000000001,"):
        least.pay(plan_of("1.000000000000000001"), 0)


def test_rounds_of_one_plan_cost_its_epsilon_once(spending: Spending) -> None:
    plan = plan_of(1, rounds=3)
    for round_number in (0, 2, 1):
        spending.pay(plan, round_number)
    assert spending.spent == 1


@pytest.mark.parametrize("method", ["paper", "randsyn", "combtran", "paper-unpadded"])
def test_the_second_round_of_the_paper_costs_nothing_more(spending: Spending, method: str) -> None:
    plan = Plan.paper(GRID, 1.0, method=method)
    spending.pay(plan, 0)
    spending.pay(plan.paper_second_round(4), 1)
    assert spending.spent == 1


def test_a_chain_may_be_asked_in_any_order(spending: Spending) -> None:
    first = Plan("tried", GRID, Fraction(1), (asking(Start(6), Fraction(1, 4)),))
    second = first.extended(asking(End(6), Fraction(1, 4)))
    third = second.extended(asking(Start(6), Fraction(1, 2)))
    spending.pay(second, 1)
    spending.pay(first, 0)
    spending.pay(third, 2)
    assert spending.spent == 1
    with pytest.raises(PlanError, match="round 1 of the plan"):
        spending.pay(third, 1)


def test_a_round_that_is_asked_again_is_paid_again(spending: Spending) -> None:
    spending.pay(plan_of(0.5), 0)
    spending.pay(plan_of(0.5), 0)
    with pytest.raises(PlanError, match="used 1 of it"):
        spending.pay(plan_of(0.5), 0)


def test_a_second_continuation_is_paid_anew(spending: Spending) -> None:
    plan = Plan.paper(GRID, 1.0)
    spending.pay(plan, 0)
    spending.pay(plan.paper_second_round(4), 1)
    with pytest.raises(PlanError, match="round 1 of the plan 'paper' costs each device epsilon 1,"):
        spending.pay(plan.paper_second_round(5), 1)


def test_a_later_round_of_another_continuation_is_paid_anew(spending: Spending) -> None:
    first = Plan("tried", GRID, Fraction(1), (asking(Start(6), Fraction(1, 4)),))
    spending.pay(first, 0)
    spending.pay(first.extended(asking(End(6), Fraction(3, 4))), 1)
    other = first.extended(asking(End(6), Fraction(1, 4))).extended(asking(Start(6), Fraction(1, 2)))
    with pytest.raises(PlanError, match="round 2 of the plan 'tried' costs each device epsilon 1,"):
        spending.pay(other, 2)


def test_a_round_of_a_plan_that_is_not_of_the_chain_is_paid(spending: Spending) -> None:
    spending.pay(plan_of(1, rounds=2), 0)
    with pytest.raises(PlanError, match="used 1 of it"):
        spending.pay(plan_of(1, rounds=3), 1)


def test_groups_of_a_partition_cost_what_one_device_gives(spending: Spending) -> None:
    ratio = ratio_at_most(Fraction(1))
    asks = tuple(Ask(q, GRR(q.domain, 1, ratio), SHARES // 2) for q in (Start(6), End(6)))
    spending.pay(Plan("halves", GRID, Fraction(1), (Round(asks, "partition"),)), 0)
    assert spending.spent == 1


@pytest.mark.parametrize("round_number", [-1, 1])
def test_a_round_that_is_not_there_is_refused(spending: Spending, round_number: int) -> None:
    spending.pay(plan_of(1), 0)
    with pytest.raises(PlanError, match=f"'tried' have the numbers 0 to 0, got {round_number}"):
        spending.pay(plan_of(1), round_number)
