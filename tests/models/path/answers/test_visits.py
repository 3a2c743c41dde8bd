from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.visits import VisitsAnswer
from path_kit import random_flow


def test_cells_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    assert_expected(random_flow(2, 4, rng), VisitsAnswer(), 2, list, lambda moves: min(1, 2 / (moves + 1)))


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(VisitsAnswer(), random_flow(3, 4, rng), rng)


def test_a_step_back_visits_its_source_again(rng: np.random.Generator) -> None:
    graph = random_flow(2, 3, rng).graph
    once, twice = rng.random((2, graph.moves))
    found = VisitsAnswer().pooled_repeats(graph, once, twice)
    np.testing.assert_allclose(found, np.bincount(graph.source, weights=once, minlength=4))
