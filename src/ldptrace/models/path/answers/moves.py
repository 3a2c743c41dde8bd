"""How the path model answers `moves` and `links`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import PathAnswer, blocks_of, jointly_sampled, sampled
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class MovesAnswer(PathAnswer):
    name: ClassVar[str] = "moves"
    repeats_moves: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves)

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        return jointly_sampled(most, moves)

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.moves

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), moves=items)

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return twice

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return 8 * blocks_of(graph.grid.n, 3)[graph.source] + graph.direction


class LinksAnswer(MovesAnswer):
    """Moves without direction: a step and the step back are the same item."""

    name: ClassVar[str] = "links"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return graph.by_link(features.moves)

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), moves=items[graph.link])

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_link(once)

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        upward = np.flatnonzero(np.arange(graph.moves) < graph.reverse)
        axis = np.minimum(graph.direction, 7 - graph.direction)[upward]
        return 4 * blocks_of(graph.grid.n, 5)[graph.source[upward]] + axis
