"""How the path model answers the question `length`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import Features, PathAnswer
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments


class LengthAnswer(PathAnswer):
    """The distribution of the number of cells is a part of the model itself."""

    name: ClassVar[str] = "length"
    needs_pairs: ClassVar[bool] = False

    def expected(self, messages: Messages, weight: Floats) -> Floats:
        return weight

    def jacobian(self, moments: Moments) -> Floats:
        length = moments.length
        others = np.zeros((len(length), moments.messages.features.shape[1]))
        return np.hstack([others, np.diag(length) - np.outer(length, length)])

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        raise NotImplementedError("the number of cells is not made of features")

    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        return Features.zero(graph)

    def pools(self, graph: MoveGraph, lengths: int) -> Ints:
        return np.arange(lengths)
