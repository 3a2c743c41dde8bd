"""Unbiased frequencies with their standard errors, from a tally."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """For each item of one question: the estimated number of users per user asked who hold it.

    Unbiased, hence sometimes negative. `nulls` is the estimate for "no item" where the randomizer has nulls:
    empty places per user asked.
    """

    question: Question
    frequencies: Floats
    std_errors: Floats
    users: int
    nulls: float | None = None


@dataclass(frozen=True, eq=False)
class Estimates(Mapping[str, Estimate]):
    """Estimates by the name of their question."""

    by_question: dict[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        return self.by_question[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_question)

    def __len__(self) -> int:
        return len(self.by_question)

    @staticmethod
    def from_tally(plan: Plan, tally: Tally) -> Estimates:
        """De-bias every count (eq. 3) and attach its standard error (eq. 4).

        A question that nobody was asked has frequencies of zero and infinite standard errors.
        """
        if tally.plan_id != plan.id:
            raise InputError(f"the tally belongs to plan {tally.plan_id[:12]}, this is plan {plan.id[:12]}")
        estimates = {}
        asks = plan.rounds[tally.round].asks
        for ask, counts, reports, users in zip(asks, tally.counts, tally.reports, tally.users, strict=True):
            domain, channel = ask.randomizer.domain, ask.randomizer
            nulls = None
            if users == 0:
                frequencies, errors = np.zeros(domain), np.full(domain, np.inf)
            else:
                held = channel.debias(counts.astype(np.float64), reports)
                errors = np.sqrt(channel.variance(reports, np.clip(held[:domain], 0, users))) / users
                frequencies = held[:domain] / users
                if channel.outputs > domain:
                    nulls = float(held[domain:].sum()) / users
            estimates[ask.question.name] = Estimate(ask.question, frequencies, errors, users, nulls)
        return Estimates(estimates)

    def joined(self, other: Estimates) -> Estimates:
        """With the estimates of another round."""
        return Estimates({**self.by_question, **other.by_question})
