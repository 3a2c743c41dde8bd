"""The compiled answers are the device's answers."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.questions import (
    CombinedSteps,
    CutEnd,
    End,
    Length,
    Links,
    Moves,
    Question,
    Start,
    Steps,
    Terminals,
    Turns,
    Visits,
)
from ldptrace.protocol.randomness import Source
from ldptrace.simulation.answers import answers
from statistics_kit import assert_proportion, assert_same_categories

CERTAIN: list[Question] = [
    Length(4, 6),
    Start(4),
    End(4),
    CutEnd(4, 3),
    Terminals(4),
    Visits(4, 12),
    Moves(4, 20),
    Links(4, 20),
    Steps(4, 5),
    CombinedSteps(4, 3),
]


@pytest.mark.parametrize("question", CERTAIN, ids=lambda q: q.name)
def test_compiled_answers_equal_the_device(
    question: Question, paths: CellPaths, rng: np.random.Generator
) -> None:
    users = np.arange(len(paths))
    rows = answers(question, paths, users, rng).reshape(len(paths), question.slots, question.capacity)
    for user in users:
        path = paths.cells[paths.offsets[user] : paths.offsets[user + 1]].tolist()
        expected = question.answer(path, Source())
        got = [sorted(int(item) for item in slot if item >= 0) for slot in rows[user]]
        assert got == [sorted(slot) for slot in expected]


CHOOSING: list[Question] = [Visits(4, 2), Moves(4, 2), Links(4, 2), Turns(4)]


@pytest.mark.parametrize("question", CHOOSING, ids=lambda q: q.name)
def test_random_choices_have_the_device_distribution(question: Question, rng: np.random.Generator) -> None:
    """A walk with repeated cells, links and moves: sets of one item and of two both occur."""
    walk = [0, 1, 5, 4, 0, 1, 5, 10, 5]
    paths = CellPaths.from_lists([walk] * 20_000, Grid((0, 0, 1, 1), 4))
    rows = np.sort(answers(question, paths, np.arange(len(paths)), rng), axis=1)
    source = Source(np.random.default_rng(5).bytes)
    drawn = [tuple(question.answer(walk, source)[0]) for _ in range(20_000)]
    simulated = [tuple(item for item in row if item >= 0) for row in rows.tolist()]
    assert_same_categories(simulated, drawn)


def test_steps_are_chosen_before_repeats_are_removed(rng: np.random.Generator) -> None:
    # Back and forth: two moves, each half of the six steps. Two steps are the same move with probability 2/5.
    paths = CellPaths.from_lists([[0, 1, 0, 1, 0, 1, 0]] * 20_000, Grid((0, 0, 1, 1), 4))
    rows = answers(Moves(4, 2), paths, np.arange(len(paths)), rng)
    assert_proportion(int(np.sum(rows[:, 1] < 0)), len(rows), 0.4)


def test_a_subset_of_users(paths: CellPaths, rng: np.random.Generator) -> None:
    users = np.array([3, 1, 200])
    rows = answers(Start(4), paths, users, rng)
    assert rows.shape == (3, 1)
    everyone = answers(Start(4), paths, np.arange(len(paths)), rng)
    assert np.array_equal(rows, everyone[users])


def test_no_points_at_all(rng: np.random.Generator) -> None:
    paths = CellPaths.from_lists([[], []], Grid((0, 0, 1, 1), 4))
    for question in [*CERTAIN, *CHOOSING]:
        assert np.all(answers(question, paths, np.arange(2), rng) == -1)
