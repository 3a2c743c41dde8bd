"""How the path model answers the question `pairs`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import PathAnswer, blocks_of
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class PairsAnswer(PathAnswer):
    name: ClassVar[str] = "pairs"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.pairs.ravel()

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), pairs=items.reshape(layout.districts**2, -1))

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        block = blocks_of(layout.districts, 3)
        return np.add.outer((block.max() + 1) * block, block).ravel()
