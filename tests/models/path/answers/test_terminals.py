from __future__ import annotations

import numpy as np
import pytest

from answers_kit import assert_adjoint, assert_expected
from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.answers.terminals import EndAnswer, StartAnswer, TerminalsAnswer
from path_kit import random_flow


@pytest.mark.parametrize(
    ("answer", "ends"), [(StartAnswer(), [0]), (EndAnswer(), [-1]), (TerminalsAnswer(), [0, -1])]
)
def test_ends_of_paths(answer: PathAnswer, ends: list[int], rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    assert_expected(model, answer, 2, lambda path: [path[end] for end in ends])
    assert model.answers({answer.name: 2})[answer.name].sum() == pytest.approx(len(ends))


@pytest.mark.parametrize("answer", [StartAnswer(), EndAnswer(), TerminalsAnswer()])
def test_pooling_and_unpooling_are_transposes(answer: PathAnswer, rng: np.random.Generator) -> None:
    assert_adjoint(answer, random_flow(3, 4, rng), rng)


def test_pools_are_blocks_of_neighbouring_cells(rng: np.random.Generator) -> None:
    model = random_flow(10, 3, rng)
    pools = StartAnswer().pools(model.graph, model.layout)
    assert len(np.unique(pools)) == 64
    i, j = np.divmod(np.arange(100), 10)
    for pool in np.unique(pools):
        assert np.ptp(i[pools == pool]) <= 1
        assert np.ptp(j[pools == pool]) <= 1
