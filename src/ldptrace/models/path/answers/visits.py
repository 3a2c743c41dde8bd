"""How the path model answers the question `visits`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ldptrace.core.arrays import Floats
from ldptrace.models.path.answers.base import PathAnswer, jointly_sampled, sampled
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class VisitsAnswer(PathAnswer):
    name: ClassVar[str] = "visits"
    repeats_moves: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves + 1)

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        return jointly_sampled(most, moves + 1)

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start + graph.by_target(features.moves)

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), start=items, moves=items[graph.target])

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_source(once)
