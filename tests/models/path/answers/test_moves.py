from __future__ import annotations

import numpy as np
import pytest

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.moves import LinksAnswer, MovesAnswer
from path_kit import moves_of, random_flow


def test_moves_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    items = lambda path: moves_of(model.graph, path)  # noqa: E731
    assert_expected(model, MovesAnswer(), 2, items, lambda moves: min(1, 2 / max(moves, 1)))


def test_a_link_is_a_move_and_the_move_back(rng: np.random.Generator) -> None:
    model = random_flow(3, 4, rng)
    graph = model.graph
    moves, links = model.answers({"moves": 9, "links": 9}).values()
    assert graph.links == graph.moves // 2
    for move in range(graph.moves):
        assert links[graph.link[move]] == pytest.approx(moves[move] + moves[graph.reverse[move]])


@pytest.mark.parametrize("answer", [MovesAnswer(), LinksAnswer()])
def test_pooling_and_unpooling_are_transposes(answer: MovesAnswer, rng: np.random.Generator) -> None:
    assert_adjoint(answer, random_flow(3, 4, rng), rng)


def test_a_step_back_repeats_a_link_at_once_and_a_move_one_step_later(rng: np.random.Generator) -> None:
    graph = random_flow(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    assert MovesAnswer().pooled_repeats(graph, once, twice).tolist() == twice.tolist()
    np.testing.assert_allclose(LinksAnswer().pooled_repeats(graph, once, twice), graph.by_link(once))


def test_pools_hold_moves_of_one_direction(rng: np.random.Generator) -> None:
    model = random_flow(6, 4, rng)
    pools = MovesAnswer().pools(model.graph, model.layout)
    for pool in np.unique(pools):
        assert len(np.unique(model.graph.direction[pools == pool])) == 1
    assert len(LinksAnswer().pools(model.graph, model.layout)) == model.graph.links
