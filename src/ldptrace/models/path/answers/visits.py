"""How the path model answers the question `visits`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.answers.base import PathAnswer, jointly_sampled, sampled
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments

Floats = NDArray[np.float64]


class VisitsAnswer(PathAnswer):
    name: ClassVar[str] = "visits"

    def inclusion(self, most: int, moves: Floats) -> Floats:
        return sampled(most, moves + 1)

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        return jointly_sampled(most, moves + 1)

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight @ messages.starts + messages.graph.by_target(weight @ messages.moves)

    def jacobian(self, moments: Moments) -> Floats:
        return moments.start_rows + moments.messages.graph.by_target(moments.move_rows.T).T

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.messages.graph.by_source(moments.messages.returns(both))
