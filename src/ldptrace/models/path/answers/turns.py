"""How the path model answers the question `turns`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.features import Features, turn_classes
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.protocol.lattice import TURNS


class TurnsAnswer(PathAnswer):
    """One bend of the path, drawn at random: each of its m - 1 bends with the same chance."""

    name: ClassVar[str] = "turns"
    has_bends: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return 1 / np.maximum(moves - 1, 1)

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.turns()

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(
            Features.zero(graph, layout.districts),
            bends=items[turn_classes()][:, :, None] * np.ones(graph.cells),
        )

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return np.arange(TURNS)
