"""The compiled answers are the device's answers."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.device import trip_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.questions import (
    Bends,
    CombinedSteps,
    CutEnd,
    Departure,
    End,
    Length,
    Links,
    Moves,
    Pace,
    Pairs,
    Question,
    Start,
    Steps,
    Terminals,
    Tides,
    Turns,
    Visits,
)
from ldptrace.protocol.questions import Trips as TripCount
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from ldptrace.simulation.answers import _as_on_the_device, answers
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
    Pairs(4, 3),
    Bends(4, 20),
]


@pytest.mark.parametrize("question", CERTAIN, ids=lambda q: q.name)
def test_compiled_answers_equal_the_device(
    question: Question, paths: CellPaths, rng: np.random.Generator
) -> None:
    users = np.arange(len(paths))
    rows = answers(question, paths, users, rng).reshape(len(paths), question.slots, question.capacity)
    for user in users:
        path = paths.cells[paths.offsets[user] : paths.offsets[user + 1]].tolist()
        expected = question.answer(Occasion(Trip(path)), Source())
        got = [sorted(int(item) for item in slot if item >= 0) for slot in rows[user]]
        assert got == [sorted(slot) for slot in expected]


CHOOSING: list[Question] = [Visits(4, 2), Moves(4, 2), Links(4, 2), Turns(4), Bends(4, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("question", CHOOSING, ids=lambda q: q.name)
def test_random_choices_have_the_device_distribution(question: Question, rng: np.random.Generator) -> None:
    """A walk with repeated cells, links and moves: sets of one item and of two both occur."""
    walk = [0, 1, 5, 4, 0, 1, 5, 10, 5]
    paths = CellPaths.from_lists([walk] * 20_000, Grid((0, 0, 1, 1), 4))
    rows = np.sort(answers(question, paths, np.arange(len(paths)), rng), axis=1)
    source = Source(np.random.default_rng(5).bytes)
    drawn = [tuple(question.answer(Occasion(Trip(walk)), source)[0]) for _ in range(20_000)]
    simulated = [tuple(item for item in row if item >= 0) for row in rows.tolist()]
    assert_same_categories(simulated, drawn)


def test_steps_are_chosen_before_repeats_are_removed(rng: np.random.Generator) -> None:
    # Back and forth: two moves, each half of the six steps. Two steps are the same move with probability 2/5.
    paths = CellPaths.from_lists([[0, 1, 0, 1, 0, 1, 0]] * 20_000, Grid((0, 0, 1, 1), 4))
    rows = answers(Moves(4, 2), paths, np.arange(len(paths)), rng)
    assert_proportion(int(np.sum(rows[:, 1] < 0)), len(rows), 0.4)


TIMED: list[Question] = [
    Departure(4, 1, 0),
    Departure(4, 7, 2),
    Pace(4, 1000, 700, 500, 20, 0),
    Pace(4, 1, 1, 1, 64, 3),
    Tides(4, 5),
    Tides(4, 0),
]


@pytest.mark.parametrize("question", TIMED, ids=str)
def test_compiled_answers_about_time_equal_the_device(question: Question, rng: np.random.Generator) -> None:
    """Points in and out of the bounds, some broken; times of all sizes, backwards, missing, not numbers."""
    grid = Grid((0, 0, 4, 4), 4)
    offsets = np.cumsum([0, *rng.integers(0, 6, 3000)])
    x, y = rng.uniform(-1, 5, (2, offsets[-1])) * rng.choice([1, 1, 1, 1e3], offsets[-1])
    x[rng.random(len(x)) < 0.01] = np.nan
    t = rng.uniform(-2e5, 2e9, offsets[-1]).round(rng.integers(-2, 3))
    ordered = rng.random(len(offsets) - 1) < 0.8
    for k in np.flatnonzero(ordered):
        t[offsets[k] : offsets[k + 1]].sort()
        t[offsets[k] : offsets[k + 1]] = t[offsets[k] : offsets[k] + 1] + 40 * np.arange(
            offsets[k + 1] - offsets[k]
        )
    broken = rng.random(len(t)) < 0.03
    t[broken] = rng.choice([np.nan, np.inf, -np.inf, 1e12, -1e13], broken.sum())
    trajectories = Trajectories(x, y, offsets, t=t)
    paths = CellPaths.from_trajectories(trajectories, grid)
    rows = answers(question, paths, np.arange(len(paths)), rng, Timing.of(trajectories), None)
    slow = _as_on_the_device(question, paths, np.arange(len(paths)), rng, Timing.of(trajectories), None)
    assert np.array_equal(np.sort(rows), np.sort(slow))
    seen = set()
    for k, row in enumerate(rows.tolist()):
        part = slice(offsets[k], offsets[k + 1])
        trip = trip_of(list(zip(x[part].tolist(), y[part].tolist(), t[part].tolist(), strict=True)), grid)
        assert question.answer(Occasion(trip), Source()) == [sorted(item for item in row if item >= 0)]
        seen.add(row[0])
    assert -1 in seen
    assert len(seen) > 5


def test_without_a_clock_the_answer_is_null(paths: CellPaths, rng: np.random.Generator) -> None:
    timeless = Timing.of(Trajectories(np.zeros(0), np.zeros(0), np.zeros(len(paths) + 1)))
    for question in TIMED:
        for timing in (None, timeless):
            assert np.all(answers(question, paths, np.arange(len(paths)), rng, timing) == -1)


def test_a_subset_of_users(paths: CellPaths, rng: np.random.Generator) -> None:
    users = np.array([3, 1, 200])
    rows = answers(Start(4), paths, users, rng)
    assert rows.shape == (3, 1)
    everyone = answers(Start(4), paths, np.arange(len(paths)), rng)
    assert np.array_equal(rows, everyone[users])


def test_no_points_at_all(rng: np.random.Generator) -> None:
    paths = CellPaths.from_lists([[], []], Grid((0, 0, 1, 1), 4))
    for question in [*CERTAIN, *CHOOSING, *TIMED]:
        assert np.all(answers(question, paths, np.arange(2), rng) == -1)


@pytest.mark.parametrize("question", [TripCount(4), Start(4)])
def test_how_many_trips_there_were(question: Question, rng: np.random.Generator) -> None:
    """Compiled and as on the device; a path without cells is a null answer, whatever the number."""
    lists = [[1]] * 8 + [[]]
    paths = CellPaths(np.array([1] * 8, dtype=np.int32), np.array([*range(9), 8]), Grid((0, 0, 4, 4), 4))
    counts = np.array([1, 2, 3, 4, 5, 6, 7, 100, 3])
    everyone = np.arange(len(lists))
    quick = answers(question, paths, everyone, rng, None, counts)
    slow = _as_on_the_device(question, paths, everyone, rng, None, counts)
    np.testing.assert_array_equal(quick, slow)
    if isinstance(question, TripCount):
        assert quick[:, 0].tolist() == [0, 1, 2, 3, 3, 4, 4, 4, -1]
        assert answers(question, paths, everyone, rng)[:, 0].tolist() == [0] * 8 + [-1]
