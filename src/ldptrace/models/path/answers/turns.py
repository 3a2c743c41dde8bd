"""How the path model answers the question `turns`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments

Floats = NDArray[np.float64]


class TurnsAnswer(PathAnswer):
    """One bend of the path, drawn at random: each of its m - 1 bends with the same chance."""

    name: ClassVar[str] = "turns"
    needs_pairs: ClassVar[bool] = False

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return 1 / np.maximum(moves - 1, 1)

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.turns

    def jacobian(self, moments: Moments) -> Floats:
        return moments.turn_rows
