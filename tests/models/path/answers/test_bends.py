from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.bends import BendsAnswer
from path_kit import bends_of, random_flow


def test_bends_are_counted_with_their_chance_to_be_drawn(rng: np.random.Generator) -> None:
    model = random_flow(2, 5, rng)
    items = lambda path: bends_of(model.graph, path)  # noqa: E731
    assert_expected(model, BendsAnswer(), 2, items, lambda moves: min(1, 2 / max(moves - 1, 1)))


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(BendsAnswer(), random_flow(3, 4, rng), rng)


def test_pools_hold_bends_of_one_shape(rng: np.random.Generator) -> None:
    model = random_flow(4, 3, rng)
    pools = BendsAnswer().pools(model.graph, model.layout)
    for pool in np.unique(pools):
        assert len(np.unique(model.graph.bend_shape[pools == pool])) == 1
