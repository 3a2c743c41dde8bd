"""From a wanted central epsilon to a shuffled plan: which eps0 devices may have, and what the plan may state."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ldptrace.errors import InputError
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.limits import MAX_BATCH, MAX_LIFETIME, MIN_BATCH
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shuffled import HONEST
from ldptrace.protocol.shuffling import local_epsilon, stated_epsilon
from ldptrace.protocol.standing import ANSWERS

# Share of the expected users that a batch counts on; the others may not answer.
EXPECTED = Fraction(4, 5)
# What devices allow unless a person says otherwise: epsilon of everything; and for the case that shuffler and curator
# work together, eps0 of one shuffled answer and of everything.
MOST, MOST_LOCAL, MOST_TOGETHER = Fraction(5), Fraction(6), Fraction(30)


@dataclass(frozen=True)
class Hiding:
    """How reports of a plan hide among each other. `wanted` is the central epsilon of one answer.

    >>> hiding = Hiding(Fraction(1), 8_000, Fraction(1, 10**8))
    >>> float(hiding.local), float(hiding.central)
    (4.109, 1.0)
    """

    wanted: Fraction
    batch: int
    delta: Fraction
    honest: Fraction = HONEST
    most_local: Fraction = MOST_LOCAL

    def __post_init__(self) -> None:
        if not MIN_BATCH <= self.batch <= MAX_BATCH:
            raise InputError(
                f"a batch must have from {MIN_BATCH} to {MAX_BATCH:,} reports, got {self.batch:,}: give batch"
            )
        if self.hidden < 1:
            raise InputError(
                f"a batch of {self.batch:,} reports of which {decimal_text(self.honest)} are honest hides nobody"
            )

    @property
    def hidden(self) -> int:
        """The number of honest devices in every batch."""
        return int(self.honest * self.batch)

    @cached_property
    def local(self) -> Fraction:
        """The largest eps0 for the wanted central epsilon, at most `most_local`."""
        epsilon = local_epsilon(self.hidden, float(self.wanted), float(self.delta), float(self.most_local))
        return min(Fraction(str(epsilon)), self.most_local)

    @cached_property
    def central(self) -> Fraction:
        """The central epsilon that the plan states: as wanted, or less where `most_local` bounds eps0."""
        if self.local < self.most_local:
            return self.wanted
        epsilon = stated_epsilon(self.hidden, float(self.local), float(self.delta))
        return min(Fraction(str(epsilon)), self.wanted)

    def answers(self, lifetime: Fraction | None) -> int:
        """Return how many windows a device answers at most, so that all answers together cost at most this central
        epsilon. Without a `lifetime`, ten, or fewer if devices would refuse ten by default."""
        most = int(MAX_LIFETIME / self.local)
        if lifetime is None:
            return max(1, min(ANSWERS, int(MOST_TOGETHER / self.local)))
        if self.lifetime(1) > lifetime:
            raise InputError(
                f"a lifetime holds at least one answer of central epsilon {decimal_text(self.central)}, got "
                f"{decimal_text(lifetime)}"
            )
        return bisect_right(range(1, most + 1), lifetime, key=self.lifetime)

    def lifetime(self, answers: int) -> Fraction:
        """Return the central epsilon of this many answers of one device together."""
        from ldptrace.curator.accounting import stated_lifetime

        if answers == 1:
            return self.central
        epsilon = stated_lifetime(self.hidden, float(self.local), float(self.delta), answers)
        return max(Fraction(str(epsilon)), self.central)


def refused_by_default(plan: Plan) -> str | None:
    """Return why devices refuse the first answer to a plan, or a standing plan, as long as their owners change no
    setting, or None.

    >>> from ldptrace.protocol.grid import Grid
    >>> refused_by_default(Plan.single_report(Grid((0, 0, 1, 1), 6), 1))
    >>> refused_by_default(Plan.single_report(Grid((0, 0, 1, 1), 6), 7))
    'devices refuse this plan unless their owners allow more: one answer costs epsilon 7, and 5 is allowed'
    """
    shuffled, standing = plan.shuffled, plan.standing
    together = "if shuffler and curator work together, "
    costs = [("one answer costs", plan.epsilon if shuffled is None else shuffled.epsilon, MOST)]
    if shuffled is not None:
        costs.append((f"{together}one answer costs", plan.epsilon, MOST_LOCAL))
        if standing is not None:
            whole = standing.answers(plan.epsilon) * plan.epsilon
            costs.append((f"{together}all answers cost", whole, MOST_TOGETHER))
    for what, cost, most in costs:
        if cost > most:
            return (
                f"devices refuse this plan unless their owners allow more: {what} epsilon {decimal_text(cost)}, and "
                f"{decimal_text(most)} is allowed"
            )
    return None


def usual_batch(users: int) -> int:
    """Return the batch that a plan for this many expected users counts on.

    >>> usual_batch(10_000)
    8000
    """
    return min(int(EXPECTED * users), MAX_BATCH)
