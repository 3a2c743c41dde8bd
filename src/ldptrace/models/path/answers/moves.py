"""How the path model answers `moves` and `links`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import Features, PathAnswer, blocks_of, jointly_sampled, sampled
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments


class MovesAnswer(PathAnswer):
    name: ClassVar[str] = "moves"
    repeats_moves: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves)

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        return jointly_sampled(most, moves)

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.moves

    def jacobian(self, moments: Moments) -> Floats:
        return moments.move_rows

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.messages.repeats(both)

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.moves

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), moves=items)

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return twice

    def pools(self, graph: MoveGraph, lengths: int) -> Ints:
        return 8 * blocks_of(graph, 5)[graph.source] + graph.direction


class LinksAnswer(MovesAnswer):
    """Moves without direction: a step and the step back are the same item."""

    name: ClassVar[str] = "links"

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return messages.graph.by_link(weight @ messages.moves)

    def jacobian(self, moments: Moments) -> Floats:
        return moments.messages.graph.by_link(moments.move_rows, axis=0)

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.messages.graph.by_link(moments.messages.returns(both))

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return graph.by_link(features.moves)

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), moves=items[graph.link])

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_link(once)

    def pools(self, graph: MoveGraph, lengths: int) -> Ints:
        upward = np.flatnonzero(np.arange(graph.moves) < graph.reverse)
        axis = np.minimum(graph.direction, 7 - graph.direction)[upward]
        return 4 * blocks_of(graph, 5)[graph.source[upward]] + axis
