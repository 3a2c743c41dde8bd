from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, enumerated
from ldptrace.models.path.answers.turns import TurnsAnswer
from ldptrace.protocol.lattice import TURNS
from path_kit import random_expectation, turns_of


def test_one_bend_of_all_that_a_path_has(rng: np.random.Generator) -> None:
    model = random_expectation(2, 5, rng)
    answer = TurnsAnswer()
    weight = model.length * answer.inclusion(1, np.arange(5.0))
    wanted = enumerated(
        model, TURNS, lambda path: turns_of(model.graph, path), lambda moves: 1 / max(moves - 1, 1)
    )
    found = answer.expected(model.messages, weight)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    # Every path of two moves or more names exactly one.
    np.testing.assert_allclose(found.sum(), model.length[2:].sum(), atol=1e-12)


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(TurnsAnswer(), random_expectation(3, 4, rng).graph, rng)
