"""How the path model answers `start`, `end` and `terminals`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ldptrace.core.arrays import Floats
from ldptrace.models.path.answers.base import Features, PathAnswer
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments


class StartAnswer(PathAnswer):
    name: ClassVar[str] = "start"

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.starts

    def jacobian(self, moments: Moments) -> Floats:
        return moments.start_rows

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), start=items)


class EndAnswer(PathAnswer):
    name: ClassVar[str] = "end"

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.ends

    def jacobian(self, moments: Moments) -> Floats:
        return moments.end_rows

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.end

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), end=items)


class TerminalsAnswer(PathAnswer):
    """Start and end as one set: a loop, whose first cell is its last, names one cell only."""

    name: ClassVar[str] = "terminals"

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.starts + weight @ messages.ends

    def jacobian(self, moments: Moments) -> Floats:
        return moments.start_rows + moments.end_rows

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.start_and_end.diagonal()

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.start + features.end

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), start=items, end=items)
