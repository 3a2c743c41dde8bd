"""How the path model answers the question `visits`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ldptrace.core.arrays import Floats
from ldptrace.models.path.answers.base import Features, PathAnswer, jointly_sampled, sampled
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments


class VisitsAnswer(PathAnswer):
    name: ClassVar[str] = "visits"
    repeats_moves: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves + 1)

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        return jointly_sampled(most, moves + 1)

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.starts + messages.graph.by_target(weight @ messages.moves)

    def jacobian(self, moments: Moments) -> Floats:
        return moments.start_rows + moments.messages.graph.by_target(moments.move_rows, axis=0)

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.messages.graph.by_source(moments.messages.returns(both))

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start + graph.by_target(features.moves)

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), start=items, moves=items[graph.target])

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_source(once)
