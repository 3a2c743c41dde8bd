"""What devices answer, against all choices that they could make."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.models.routes.answers import ANSWERS, PathTables, different, named
from ldptrace.models.routes.model import RouteModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_item, direction, link_item, move_item, turn
from ldptrace.protocol.questions import (
    Bends,
    End,
    Length,
    Links,
    Moves,
    Pairs,
    Question,
    Start,
    Terminals,
    Turns,
    Visits,
)
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

N = 3
PATHS = [[0], [0, 1], [0, 1, 0, 1, 2], [4, 0, 4, 8, 5, 4, 3], [8, 7, 6, 3, 0, 1, 2, 5, 8], [4, 4 - 3, 4]]


def tables(lengths: int = 6) -> PathTables:
    return PathTables(CellPaths.from_lists(PATHS, Grid((0, 0, 3, 3), N)), lengths, districts=2)


def chosen(items: list[int], most: int, domain: int) -> np.ndarray:
    """Probability of each item, over all choices of `most` positions."""
    chance = np.zeros(domain)
    choices = list(combinations(items, min(most, len(items))))
    for choice in choices:
        chance[list(set(choice))] += 1 / len(choices)
    return chance


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("name", ["visits", "moves", "links", "bends"])
def test_sets_at_random_positions_by_enumeration(name: str, most: int) -> None:
    kind: Question = {
        "visits": Visits(N, most),
        "moves": Moves(N, most),
        "links": Links(N, most),
        "bends": Bends(N, most),
    }[name]
    found = tables().answers(name, most).toarray()
    for row, path in enumerate(PATHS):
        items = {
            "visits": path,
            "moves": [move_item(a, b, N) for a, b in pairwise(path)],
            "links": [link_item(a, b, N) for a, b in pairwise(path)],
            "bends": [bend_item(a, b, c, N) for a, b, c in zip(path, path[1:], path[2:], strict=False)],
        }[name]
        np.testing.assert_allclose(found[row], chosen(items, most, kind.domain), atol=1e-12)


@pytest.mark.parametrize("question", [Length(N, 6), Start(N), End(N), Terminals(N), Pairs(N, 2)])
def test_questions_without_choice(question: Question) -> None:
    found = tables().answers(question.name, question.capacity).toarray()
    for row, path in enumerate(PATHS):
        expected = np.zeros(question.domain)
        expected[question.answer(Occasion(Trip(path)), Source())[0]] = 1
        assert np.array_equal(found[row], expected)


def test_the_questions_of_the_model_are_those_with_a_table() -> None:
    assert set(RouteModel.questions) == set(ANSWERS)


def test_a_turn_is_that_of_a_random_bend() -> None:
    found = tables().answers("turns", 1).toarray()
    for row, path in enumerate(PATHS):
        steps = [direction(b // N - a // N, b % N - a % N) for a, b in pairwise(path)]
        bends = [turn(before, after) for before, after in pairwise(steps)]
        expected = np.bincount(bends, minlength=Turns(N).domain) / max(len(bends), 1)
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


def test_features_are_those_of_the_path_model() -> None:
    built = tables()
    rows, layout = built.features.toarray(), built.layout
    for row, path in zip(rows, PATHS, strict=True):
        assert row[layout.start].tolist() == np.bincount([path[0]], minlength=9).tolist()
        assert row[layout.end].tolist() == np.bincount([path[-1]], minlength=9).tolist()
        moves = [move_item(a, b, N) for a, b in pairwise(path)]
        assert row[layout.move].tolist() == np.bincount(moves, minlength=40).tolist()
        assert row[layout.turn].sum() == max(len(path) - 2, 0)
        assert row[layout.length].argmax() == min(len(path), 6) - 1


def test_naming_is_certain_where_nothing_is_left_out() -> None:
    assert named(np.array([4, 9]), np.array([1, 5]), 5).tolist() == [1.0, 1.0]


def test_different_paths_are_found_whatever_their_order(rng: np.random.Generator, grid: Grid) -> None:
    paths = random_paths(500, grid, rng, longest=4)
    paths = paths.take(paths.sizes > 0)
    kinds = rng.integers(0, 3, len(paths)).astype(np.int8)
    first, order, group = different(paths, kinds)
    keys = [
        (kinds[k], *paths.cells[paths.offsets[k] : paths.offsets[k + 1]].tolist()) for k in range(len(paths))
    ]
    assert len(first) == len(set(keys))
    assert sorted(order.tolist()) == list(range(len(paths)))
    assert all(keys[first[group[k]]] == keys[order[k]] for k in range(len(paths)))
