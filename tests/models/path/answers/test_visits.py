from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, enumerated
from ldptrace.models.path.answers.visits import VisitsAnswer
from path_kit import random_expectation


def test_cells_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    answer = VisitsAnswer()
    weight = model.length * answer.inclusion(2, np.arange(4.0))
    wanted = enumerated(model, 4, list, lambda moves: min(1, 2 / (moves + 1)))
    np.testing.assert_allclose(answer.expected(model.messages, weight), wanted, atol=1e-12)


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(VisitsAnswer(), random_expectation(3, 4, rng).graph, rng)


def test_a_step_back_visits_its_source_again(rng: np.random.Generator) -> None:
    graph = random_expectation(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    found = VisitsAnswer().pooled_repeats(graph, once, twice)
    np.testing.assert_allclose(found, np.bincount(graph.source, weights=once, minlength=4))
