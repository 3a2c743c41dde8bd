"""What every answer of the path model must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.features import Features
from ldptrace.models.path.flow import Flow
from path_kit import probabilities


def assert_expected(
    model: Flow,
    answer: PathAnswer,
    most: int,
    items: Callable[[tuple[int, ...]], Sequence[int]],
    share: Callable[[int], float] = lambda moves: 1.0,
) -> None:
    """Expected items are those over all paths; each of a path's items counts by the share that its moves give."""
    found = model.answers({answer.name: most})[answer.name]
    total = np.zeros(len(found))
    for path, chance in probabilities(model).items():
        np.add.at(total, list(items(path)), chance * share(len(path) - 1))
    np.testing.assert_allclose(found, total, atol=1e-12)


def assert_adjoint(answer: PathAnswer, model: Flow, rng: np.random.Generator) -> None:
    """Sum of items times what is pooled of features = sum of features times what is unpooled of items."""
    zero = Features.zero(model.graph, model.layout.districts)
    drawn: list[NDArray[np.float64]] = [rng.random(block.shape) for block in zero.blocks()]
    features = Features(*drawn)
    pooled = answer.pooled(model.graph, features)
    items = rng.random(len(pooled))
    assert len(answer.pools(model.graph, model.layout)) == len(items)
    unpooled = answer.unpooled(model.graph, model.layout, items)
    apart = sum(float((a * b).sum()) for a, b in zip(drawn, unpooled.blocks(), strict=True))
    np.testing.assert_allclose(pooled @ items, apart)
