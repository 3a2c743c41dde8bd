"""How the path model answers `moves` and `links`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.answers.base import PathAnswer, jointly_sampled, sampled
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments

Floats = NDArray[np.float64]


class MovesAnswer(PathAnswer):
    name: ClassVar[str] = "moves"

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


class LinksAnswer(MovesAnswer):
    """Moves without direction: a step and the step back are the same item."""

    name: ClassVar[str] = "links"

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return messages.graph.by_link(weight @ messages.moves)

    def jacobian(self, moments: Moments) -> Floats:
        return moments.messages.graph.by_link(moments.move_rows.T).T

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        return moments.messages.graph.by_link(moments.messages.returns(both))
