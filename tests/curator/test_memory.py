from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.memory import Memory
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
PLAN = Plan.single_report(GRID, 2.0)


def step(cell: int, users: int, rng: np.random.Generator, there: float = 0.9) -> Tally:
    """Reports of users most of whom are in one cell, the others anywhere."""
    cells = np.where(rng.random(users) < there, cell, rng.integers(0, 9, users)).astype(np.int32)
    return collect(PLAN, CellPaths(cells, np.arange(users + 1), GRID), rng)


def test_forever_is_the_sum_of_all(rng: np.random.Generator) -> None:
    memory = Memory(PLAN, 10.0, "forever")
    tallies = [step(4, 500, rng) for _ in range(3)]
    for number, tally in enumerate(tallies):
        memory.add(tally, 10.0 * number)
    whole = Estimates.from_tallies(PLAN, tallies)
    for name, found in memory.estimates.items():
        assert found.frequencies == pytest.approx(whole[name].frequencies)
        assert found.std_errors == pytest.approx(whole[name].std_errors)
        assert found.users == whole[name].users
    assert memory.words == "forever"


def test_a_half_life_halves(rng: np.random.Generator) -> None:
    memory = Memory(PLAN, 10.0, 20.0)
    first, second = step(4, 500, rng), step(4, 500, rng)
    memory.add(first, 0.0)
    memory.add(second, 20.0)
    for number in range(len(PLAN.rounds[0].asks)):
        users = first.users[number] / 2 + second.users[number]
        assert memory.sums.of_ask(number)[2] == pytest.approx(users)
    assert memory.half_life == 20.0
    assert memory.words == "20s"
    assert memory.effective < sum(first.users) + sum(second.users)


def test_a_steady_stream_is_remembered_and_a_moving_one_is_not(rng: np.random.Generator) -> None:
    steady, moving = Memory(PLAN, 10.0), Memory(PLAN, 10.0, warm_up=6)
    for number in range(6):
        steady.add(step(4, 3000, rng), 10.0 * number)
        moving.add(step(4, 3000 - 500 * number, rng) + step(8, 500 * number + 1, rng), 10.0 * number)
    assert steady.half_life >= 80
    assert moving.half_life <= 40


def test_a_change_is_named_once_and_what_was_before_is_forgotten(rng: np.random.Generator) -> None:
    memory = Memory(PLAN, 10.0)
    named = []
    for number in range(16):
        changes = memory.add(step(4 if number < 10 else 1, 4000, rng), 10.0 * number)
        named += [(number, change) for change in changes]
    assert named
    assert {number for number, _ in named} == {10}
    assert {change.since for _, change in named} == {90.0}
    assert memory.estimates["start"].frequencies[1] > 0.7


def test_what_is_remembered_is_as_large_after_many_steps(rng: np.random.Generator) -> None:
    memory, tally = Memory(PLAN, 1.0), step(4, 50, rng)
    sizes = []
    for number in range(60):
        memory.add(tally, float(number))
        sizes.append(len(pickle.dumps(memory)))
    assert max(sizes[20:]) < min(sizes[20:]) + 200


def test_a_memory_of_tallies_in_any_order(rng: np.random.Generator) -> None:
    """Half a week is no step: the middle gap is a week."""
    week = 7 * 86_400.0
    steps = [(week * number, step(4 if number < 9 else 1, 4000, rng)) for number in range(12)]
    steps.append((3.5 * week, step(4, 4000, rng)))
    memory, changes = Memory.of(PLAN, steps)
    assert {change.since for change in changes} == {8 * week}
    assert "1970-02-26 00:00 UTC" in str(changes[0])
    assert max(candidate for candidate in memory.candidates if math.isfinite(candidate)) == 32 * week
    assert memory.estimates["start"].frequencies[1] > 0.7
    alone, nothing = Memory.of(PLAN, steps[:1], "forever")
    assert nothing == ()
    assert alone.effective == pytest.approx(4000)


def test_misuse_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="a step must be"):
        Memory(PLAN, 0.0)
    with pytest.raises(InputError, match="half-life must be"):
        Memory(PLAN, 1.0, -1.0)
    memory = Memory(PLAN, 1.0)
    memory.add(step(4, 50, rng), 5.0)
    with pytest.raises(InputError, match="order of their times"):
        memory.add(step(4, 50, rng), 4.0)
    with pytest.raises(InputError, match="belongs to plan"):
        memory.add(Tally.zero(Plan.single_report(GRID, 1.0)), 6.0)
    assert math.isinf(memory.half_life)
