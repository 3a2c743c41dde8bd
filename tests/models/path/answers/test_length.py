from __future__ import annotations

import numpy as np

from ldptrace.models.path.answers.length import LengthAnswer
from path_kit import probabilities, random_flow


def test_the_number_of_cells_is_a_part_of_the_model(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    found = model.answers({"length": 1})["length"]
    wanted = np.zeros(4)
    for path, chance in probabilities(model).items():
        wanted[len(path) - 1] += chance
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_only_lengths_change_lengths(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    products = model.products({"length": 1})
    direction = rng.normal(size=model.layout.size)
    direction[model.layout.length] = 0
    assert not products.apply(direction)["length"].any()
    # Probabilities add up to one, so that their changes add up to nothing.
    direction[model.layout.length] = rng.normal(size=4)
    np.testing.assert_allclose(products.apply(direction)["length"].sum(), 0, atol=1e-12)


def test_every_length_is_alone_in_its_pool(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    assert LengthAnswer().pools(model.graph, model.layout).tolist() == [0, 1, 2, 3]
