"""Answers summed over blocks of cells, so that a change in a whole part of the map becomes visible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.curator.estimates import Estimate
from ldptrace.protocol.words import item_words

# Blocks along one side of the map, by default.
BLOCKS = 3
# Domains up to this size are broad as they are.
FEW = 40


@dataclass(frozen=True, eq=False)
class Answers:
    """Frequencies with standard errors; `group` has the group of each item of the question. The errors include the
    noise of the randomised answers and the random choice of the people who were asked.
    """

    estimate: Estimate
    frequencies: Floats
    std_errors: Floats
    group: Ints

    @staticmethod
    def single(estimate: Estimate) -> Answers:
        """Return the answers for each single item."""
        return Answers(
            estimate,
            estimate.frequencies,
            np.sqrt(_variances(estimate)),
            np.arange(len(estimate.frequencies)),
        )

    @staticmethod
    def broad(estimate: Estimate, blocks: int = BLOCKS) -> Answers | None:
        """Return the answers for blocks of cells, or for single items if they are few. The result is None for questions
        about moves, which have too many items."""
        question = estimate.question
        if question.domain == question.n**2 and question.n > blocks:
            i, j = np.divmod(np.arange(question.domain), question.n)
            group = (i * blocks // question.n) * blocks + j * blocks // question.n
        elif question.domain <= FEW:
            return Answers.single(estimate)
        else:
            return None
        return Answers(
            estimate,
            np.bincount(group, estimate.frequencies).astype(np.float64),
            np.sqrt(np.bincount(group, _variances(estimate))),
            group,
        )

    def words(self, number: int) -> str:
        """Return in words what an answer is about."""
        items = np.flatnonzero(self.group == number)
        first = item_words(self.estimate.question, int(items[0]))
        if len(items) == 1:
            return first
        return f"{first} to {item_words(self.estimate.question, int(items[-1]))}"


def _variances(estimate: Estimate) -> Floats:
    """Return the variances of shares among people who were drawn at random."""
    inside = np.clip(estimate.frequencies, 0.0, 1.0)
    return estimate.std_errors**2 + inside * (1 - inside) / max(estimate.users, 1)
