from __future__ import annotations

import numpy as np
import pytest

from answers_kit import assert_adjoint, enumerated
from ldptrace.models.path.answers.moves import LinksAnswer, MovesAnswer
from path_kit import moves_of, random_expectation


def test_moves_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    answer = MovesAnswer()
    weight = model.length * answer.inclusion(2, np.arange(4.0))
    wanted = enumerated(
        model,
        model.graph.moves,
        lambda path: moves_of(model.graph, path),
        lambda moves: min(1, 2 / max(moves, 1)),
    )
    np.testing.assert_allclose(answer.expected(model.messages, weight), wanted, atol=1e-12)


def test_a_link_is_a_move_and_the_move_back(rng: np.random.Generator) -> None:
    model = random_expectation(3, 4, rng)
    graph = model.graph
    moves = MovesAnswer().expected(model.messages, model.length)
    links = LinksAnswer().expected(model.messages, model.length)
    assert graph.links == graph.moves // 2
    for move in range(graph.moves):
        assert links[graph.link[move]] == pytest.approx(moves[move] + moves[graph.reverse[move]])


@pytest.mark.parametrize("answer", [MovesAnswer(), LinksAnswer()])
def test_pooling_and_unpooling_are_transposes(answer: MovesAnswer, rng: np.random.Generator) -> None:
    assert_adjoint(answer, random_expectation(3, 4, rng).graph, rng)


def test_a_step_back_repeats_a_link_at_once_and_a_move_one_step_later(rng: np.random.Generator) -> None:
    graph = random_expectation(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    assert MovesAnswer().pooled_repeats(graph, once, twice).tolist() == twice.tolist()
    np.testing.assert_allclose(LinksAnswer().pooled_repeats(graph, once, twice), graph.by_link(once))


def test_pools_hold_moves_of_one_direction(rng: np.random.Generator) -> None:
    graph = random_expectation(6, 4, rng).graph
    pools = MovesAnswer().pools(graph, 4)
    for pool in np.unique(pools):
        assert len(np.unique(graph.direction[pools == pool])) == 1
    assert len(LinksAnswer().pools(graph, 4)) == graph.links
