from __future__ import annotations

import numpy as np

from ldptrace.models.path.answers.length import LengthAnswer
from path_kit import probabilities, random_expectation


def test_the_answer_is_the_distribution_of_the_model(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    found = LengthAnswer().expected(model.messages, model.length)
    counted = np.zeros(4)
    for path, chance in probabilities(model).items():
        counted[len(path) - 1] += chance
    np.testing.assert_allclose(found, counted, atol=1e-12)


def test_only_potentials_of_the_length_change_it(rng: np.random.Generator) -> None:
    model = random_expectation(2, 4, rng)
    rows = model.jacobian({"length": 1})[0]["length"]
    assert not rows[:, : model.layout.size - 4].any()
    # Probabilities add up to one, so that their changes add up to nothing.
    np.testing.assert_allclose(rows.sum(axis=0), 0, atol=1e-12)


def test_every_length_is_alone_in_its_pool(rng: np.random.Generator) -> None:
    graph = random_expectation(2, 4, rng).graph
    assert LengthAnswer().pools(graph, 4).tolist() == [0, 1, 2, 3]
