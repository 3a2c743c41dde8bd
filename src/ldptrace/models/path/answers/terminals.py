"""How the path model answers `start`, `end` and `terminals`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ldptrace.core.arrays import Floats
from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class StartAnswer(PathAnswer):
    name: ClassVar[str] = "start"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), start=items)


class EndAnswer(PathAnswer):
    name: ClassVar[str] = "end"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.end

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), end=items)


class TerminalsAnswer(PathAnswer):
    """Start and end as one set: a loop, whose first cell is its last, names one cell only."""

    name: ClassVar[str] = "terminals"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start + features.end

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return replace(Features.zero(graph, layout.districts), start=items, end=items)
