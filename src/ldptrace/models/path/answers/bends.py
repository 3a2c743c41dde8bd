"""How the path model answers the question `bends`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import PathAnswer, blocks_of, sampled
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class BendsAnswer(PathAnswer):
    """A path has the same bend twice only where it goes back the way it came: rarely enough to count it twice."""

    name: ClassVar[str] = "bends"
    has_bends: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves - 1)

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return graph.by_bend(features.bends)

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        bends = np.where(graph.bend >= 0, items[graph.bend], 0.0)
        return replace(Features.zero(graph, layout.districts), bends=bends)

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return graph.bend_shape + 64 * blocks_of(graph.grid.n, 2)[graph.bend_cell]
