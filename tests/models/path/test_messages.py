"""Forward and backward sums against enumeration of all paths of a tiny grid."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Layout, base_length, shifted, weights_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import TURNS
from path_kit import moves_of, probabilities, random_expectation, turns_of


@pytest.fixture
def by_length(rng: np.random.Generator):  # type: ignore[no-untyped-def]
    model = random_expectation(2, 4, rng)
    given: dict[int, dict[tuple[int, ...], float]] = {}
    for path, chance in probabilities(model).items():
        given.setdefault(len(path) - 1, {})[path] = chance / model.length[len(path) - 1]
    return model, given


def test_starts_ends_moves_and_turns_of_every_length(by_length) -> None:  # type: ignore[no-untyped-def]
    model, given = by_length
    messages, graph = model.messages, model.graph
    for moves, paths in given.items():
        starts, ends = np.zeros(graph.cells), np.zeros(graph.cells)
        used, turned = np.zeros(graph.moves), np.zeros(5)
        for path, chance in paths.items():
            starts[path[0]] += chance
            ends[path[-1]] += chance
            np.add.at(used, moves_of(graph, path), chance)
            np.add.at(turned, turns_of(graph, path), chance)
        np.testing.assert_allclose(messages.starts[moves], starts, atol=1e-12)
        np.testing.assert_allclose(messages.ends[moves], ends, atol=1e-12)
        np.testing.assert_allclose(messages.moves[moves], used, atol=1e-12)
        np.testing.assert_allclose(messages.turns[moves], turned, atol=1e-12)


def test_first_moves_are_a_distribution(by_length) -> None:  # type: ignore[no-untyped-def]
    model, _ = by_length
    np.testing.assert_allclose(model.messages.first_moves.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.messages.single.sum(), 1.0)


def test_scales_keep_the_messages_in_range(rng: np.random.Generator) -> None:
    messages = random_expectation(5, 80, rng, scale=5.0).messages
    assert np.isfinite(messages.forward).all()
    np.testing.assert_allclose(messages.forward[1:].sum(axis=1), 1.0)
    np.testing.assert_allclose(messages.backward[1:].sum(axis=1), 1.0)


GRAPH = MoveGraph(Grid((0, 0, 1, 1), 3))
LAYOUT = Layout(GRAPH.cells, GRAPH.moves, 7)


def test_the_kinds_of_potentials_fill_the_vector() -> None:
    places = [LAYOUT.start, LAYOUT.end, LAYOUT.move, LAYOUT.turn, LAYOUT.length]
    covered = np.concatenate([np.arange(LAYOUT.size)[place] for place in places])
    assert np.array_equal(covered, np.arange(LAYOUT.size))
    assert LAYOUT.turn.stop - LAYOUT.turn.start == TURNS


def test_without_potentials_a_path_is_a_random_walk() -> None:
    weights = weights_of(GRAPH, LAYOUT, np.zeros(LAYOUT.size))
    out = np.diff(GRAPH.first)
    assert np.allclose(weights.move, 1 / out[GRAPH.source])
    assert np.allclose(weights.step.sum(axis=1), 1.0)


def test_a_common_factor_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=LAYOUT.size)
    raised = x.copy()
    raised[LAYOUT.start] += 7.0
    assert np.allclose(weights_of(GRAPH, LAYOUT, x).start, weights_of(GRAPH, LAYOUT, raised).start)
    assert shifted(np.array([1.0, 1000.0])).max() == 0.0


def test_lengths_fall_off_with_the_size_of_the_grid() -> None:
    chance = np.exp(base_length(6, 200))
    mean = (chance * np.arange(200)).sum() / chance.sum()
    assert 0.5 * 6 < mean < 0.8 * 6
