from __future__ import annotations

import numpy as np

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.pairs import PairsAnswer
from path_kit import pair_of, random_flow


def test_both_ends_are_one_item(rng: np.random.Generator) -> None:
    model = random_flow(3, 4, rng)
    assert_expected(model, PairsAnswer(), 1, lambda path: [pair_of(model, path)])


def test_pooling_and_unpooling_are_transposes(rng: np.random.Generator) -> None:
    assert_adjoint(PairsAnswer(), random_flow(3, 4, rng), rng)


def test_pools_are_pairs_of_blocks_of_districts(rng: np.random.Generator) -> None:
    model = random_flow(6, 3, rng, districts=6)
    pools = PairsAnswer().pools(model.graph, model.layout)
    assert len(np.unique(pools)) == 81
    assert np.bincount(pools).tolist() == [16] * 81
