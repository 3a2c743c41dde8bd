"""Weighted sums of tallies: what is left of many steps when older ones count less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.tally import Tally


@dataclass(frozen=True, eq=False)
class Sums:
    """For each question the sums of weight times counts, reports and users, and of the squared weights times users.

    >>> step = Sums((np.array([4.0, 6.0]),), (10.0,), (10.0,), (10.0,))
    >>> (step.aged(0.5) + step).of_ask(0)[2:]  # ten users that count half and ten that count: as good as 18
    (15.0, 18.0)
    """

    counts: tuple[Floats, ...]
    reports: tuple[float, ...]
    users: tuple[float, ...]
    squares: tuple[float, ...]

    @staticmethod
    def of(tally: Tally) -> Sums:
        """Of one tally, which counts fully."""
        users = tuple(float(users) for users in tally.users)
        counts = tuple(counts.astype(np.float64) for counts in tally.counts)
        return Sums(counts, tuple(float(reports) for reports in tally.reports), users, users)

    def aged(self, weight: float) -> Sums:
        """All of it with that weight."""
        return Sums(
            tuple(weight * counts for counts in self.counts),
            tuple(weight * reports for reports in self.reports),
            tuple(weight * users for users in self.users),
            tuple(weight**2 * squares for squares in self.squares),
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.reports, other.reports, strict=True)),
            tuple(a + b for a, b in zip(self.users, other.users, strict=True)),
            tuple(a + b for a, b in zip(self.squares, other.squares, strict=True)),
        )

    def of_ask(self, number: int) -> tuple[Floats, float, float, float]:
        """Counts, reports and users of one question, and how many users who count fully would say as much."""
        users, squares = self.users[number], self.squares[number]
        effective = users**2 / squares if squares > 0 else 0.0
        return self.counts[number], self.reports[number], users, effective

    @property
    def effective(self) -> float:
        """The effective number of users of all questions."""
        return sum(self.of_ask(number)[3] for number in range(len(self.users)))
