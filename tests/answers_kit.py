"""What every answer of the path model must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.answers.base import Features, PathAnswer
from ldptrace.models.path.expectation import Expectation
from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.lattice import TURNS
from path_kit import probabilities


def enumerated(
    model: Expectation,
    size: int,
    items: Callable[[tuple[int, ...]], Sequence[int]],
    share: Callable[[int], float] = lambda moves: 1.0,
) -> NDArray[np.float64]:
    """Expected items over all paths; each of a path's items counts by the share that its moves give."""
    total = np.zeros(size)
    for path, chance in probabilities(model).items():
        np.add.at(total, list(items(path)), chance * share(len(path) - 1))
    return total


def assert_adjoint(answer: PathAnswer, graph: MoveGraph, rng: np.random.Generator) -> None:
    """Sum of items times what is pooled of features = sum of features times what is unpooled of items."""
    cells = graph.cells
    features = Features(rng.random(cells), rng.random(cells), rng.random(graph.moves), rng.random(TURNS))
    pooled = answer.pooled(graph, features)
    items = rng.random(len(pooled))
    assert len(answer.pools(graph, 4)) == len(items)
    unpooled = answer.unpooled(graph, items)
    apart = sum(float(a @ b) for a, b in zip(features.blocks(), unpooled.blocks(), strict=True))
    np.testing.assert_allclose(pooled @ items, apart)
