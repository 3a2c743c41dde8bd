from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.turns import TurnsAnswer
from path_kit import random_flow, turns_of


def test_one_bend_of_all_that_a_path_has(rng: np.random.Generator) -> None:
    model = random_flow(2, 5, rng)
    items = lambda path: turns_of(model.graph, path)  # noqa: E731
    assert_expected(model, TurnsAnswer(), 1, items, lambda moves: 1 / max(moves - 1, 1))
    # Every path of two moves or more names exactly one.
    found = model.answers({"turns": 1})["turns"]
    np.testing.assert_allclose(found.sum(), model.length[2:].sum(), atol=1e-12)


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(TurnsAnswer(), random_flow(3, 4, rng), rng)
