"""How the path model answers the question `turns`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import Features, PathAnswer
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments
from ldptrace.protocol.lattice import TURNS


class TurnsAnswer(PathAnswer):
    """One bend of the path, drawn at random: each of its m - 1 bends with the same chance."""

    name: ClassVar[str] = "turns"
    needs_pairs: ClassVar[bool] = False
    has_turns: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return 1 / np.maximum(moves - 1, 1)

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.turns

    def jacobian(self, moments: Moments) -> Floats:
        return moments.turn_rows

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        return features.turns

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return replace(Features.zero(graph), turns=items)

    def pools(self, graph: MoveGraph, lengths: int) -> Ints:
        return np.arange(TURNS)
