"""How the path model answers the question `length`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class LengthAnswer(PathAnswer):
    """The distribution of the number of cells is a part of the model itself."""

    name: ClassVar[str] = "length"

    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        raise NotImplementedError("the number of cells is not made of features")

    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        return Features.zero(graph, layout.districts)

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return np.arange(layout.lengths)
