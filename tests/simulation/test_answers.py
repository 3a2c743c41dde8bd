"""The compiled answers are the device's answers."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.paths import CellPaths
from ldptrace.questions import QUESTIONS, CombinedSteps, CutEnd, End, Length, Moves, Question, Start, Steps
from ldptrace.randomness import Source
from ldptrace.simulation.answers import answers
from statistics_kit import assert_frequencies

CERTAIN: list[Question] = [
    Length(4, 6),
    Start(4),
    End(4),
    CutEnd(4, 3),
    Moves(4, 20),
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


@pytest.mark.parametrize("name", ["moves", "turns"])
def test_random_choices_have_the_device_distribution(name: str, rng: np.random.Generator) -> None:
    from ldptrace.grid import Grid

    question: Question = QUESTIONS[name](4, 2) if name == "moves" else QUESTIONS[name](4)
    walk = [0, 1, 5, 4, 5, 10, 15]
    paths = CellPaths.from_lists([walk] * 20_000, Grid((0, 0, 1, 1), 4))
    rows = answers(question, paths, np.arange(len(paths)), rng)
    simulated = np.bincount(rows.ravel(), minlength=question.domain)
    source = Source(np.random.default_rng(5).bytes)
    drawn = [item for _ in range(20_000) for item in question.answer(walk, source)[0]]
    device = np.bincount(drawn, minlength=question.domain)
    assert set(np.flatnonzero(simulated)) == set(np.flatnonzero(device))
    # Every different move, and every bend, is equally likely to be chosen.
    if name == "moves":
        assert_frequencies(simulated[simulated > 0], np.ones(6))
        assert_frequencies(device[device > 0], np.ones(6))
    else:
        assert_frequencies(simulated, device + 1e-9 * (device > 0))


def test_a_subset_of_users(paths: CellPaths, rng: np.random.Generator) -> None:
    users = np.array([3, 1, 200])
    rows = answers(Start(4), paths, users, rng)
    assert rows.shape == (3, 1)
    everyone = answers(Start(4), paths, np.arange(len(paths)), rng)
    assert np.array_equal(rows, everyone[users])


def test_no_points_at_all(rng: np.random.Generator) -> None:
    from ldptrace.grid import Grid

    paths = CellPaths.from_lists([[], []], Grid((0, 0, 1, 1), 4))
    for question in [*CERTAIN, QUESTIONS["turns"](4)]:
        assert np.all(answers(question, paths, np.arange(2), rng) == -1)
