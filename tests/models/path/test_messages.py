"""Forward and backward sums against enumeration of all paths of a tiny grid."""

from __future__ import annotations

import numpy as np
import pytest

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
