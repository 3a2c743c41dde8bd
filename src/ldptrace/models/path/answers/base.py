"""How the path model answers a question: what is expected of it, its Jacobian, and what repeats take away."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments

Floats = NDArray[np.float64]


class PathAnswer(ABC):
    """One question, as the path model sees it.

    A path with many positions answers with a random choice of them, so what it adds to the expected answer depends
    on its number of moves alone: `inclusion`. An item that a path has twice is named once; nearly all repeats are a
    step back and forth between two cells, and their expected number is subtracted: `repeats`.
    """

    name: ClassVar[str]
    # Whether the Jacobian needs how pairs of features go together, which is the expensive part.
    needs_pairs: ClassVar[bool] = True
    # Whether the number of empty places says something: it does where some paths fill fewer than others.
    has_total: ClassVar[bool] = True

    def inclusion(self, most: int, moves: Floats) -> Floats:
        """Probability that a position of a path with so many moves is among those it answers with."""
        return np.ones(len(moves))

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        """Probability that two given positions are both among those a path answers with."""
        return np.ones(len(moves))

    @abstractmethod
    def expected(self, messages: Messages, weight: Floats) -> Floats:
        """Expected items when paths with m moves count with `weight[m]`, repeats counted in full."""

    @abstractmethod
    def jacobian(self, moments: Moments) -> Floats:
        """Derivatives of the expected items (rows) by the potentials (columns)."""

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        """Expected items that are named once though a path has them twice; `both` weights paths by their moves."""
        return None


def sampled(most: int, positions: Floats) -> Floats:
    """Inclusion probability of one of so many positions."""
    return np.minimum(1.0, most / np.maximum(positions, 1))


def jointly_sampled(most: int, positions: Floats) -> Floats:
    """Joint inclusion probability of two of so many positions."""
    return np.minimum(1.0, most * (most - 1) / np.maximum(positions * (positions - 1), 1))
