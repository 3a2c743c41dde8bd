"""Answers in broad terms: cells added up to blocks, so that what happens everywhere in a part of the map shows."""

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
    """Frequencies with standard errors; `group` says which items of the question each is about.

    The errors are those of the randomised answers together with those of who was asked: two steps ask different people.
    """

    estimate: Estimate
    frequencies: Floats
    std_errors: Floats
    group: Ints

    @staticmethod
    def single(estimate: Estimate) -> Answers:
        """Every item by itself."""
        return Answers(
            estimate,
            estimate.frequencies,
            np.sqrt(_variances(estimate)),
            np.arange(len(estimate.frequencies)),
        )

    @staticmethod
    def broad(estimate: Estimate, blocks: int = BLOCKS) -> Answers | None:
        """Blocks of cells, or the few items that there are; None for questions about moves, which are too many."""
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
        """What one of the answers is about."""
        items = np.flatnonzero(self.group == number)
        first = item_words(self.estimate.question, int(items[0]))
        if len(items) == 1:
            return first
        return f"{first} to {item_words(self.estimate.question, int(items[-1]))}"


def _variances(estimate: Estimate) -> Floats:
    """Squared errors of shares among people who were drawn at random."""
    inside = np.clip(estimate.frequencies, 0.0, 1.0)
    return estimate.std_errors**2 + inside * (1 - inside) / max(estimate.users, 1)
