"""What the plans of one run cost each device, added up before anybody is asked.

A plan costs its epsilon once: its rounds together spend at most that, and so do the rounds of a plan that extends it.
A round that is asked again, or a second continuation of the same plan, is not covered by that, and is paid anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ldptrace.errors import PlanError
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan


@dataclass(eq=False)
class _Paid:
    """A plan whose epsilon was paid: the longest of its chain so far, and its rounds that were asked."""

    plan: Plan
    rounds: set[int] = field(default_factory=set)

    def covers(self, plan: Plan, round_number: int) -> bool:
        """Whether the round is one more round of the same plan, or of one that extends it or is extended by it."""
        one_chain = self.plan.id in plan.chain or plan.id in self.plan.chain
        return one_chain and round_number not in self.rounds


@dataclass(eq=False)
class Spending:
    """The epsilon that one run may cost each device, and what it has cost so far.

    >>> from ldptrace.protocol.grid import Grid
    >>> spending = Spending(Fraction(1))
    >>> spending.pay(Plan.single_report(Grid((0, 0, 1, 1), 6), 0.7), 0)
    >>> spending.spent
    Fraction(7, 10)
    """

    limit: Fraction
    paid: list[_Paid] = field(default_factory=list)

    @property
    def spent(self) -> Fraction:
        """The sum of the epsilons that were paid."""
        return sum((entry.plan.epsilon for entry in self.paid), Fraction(0))

    def pay(self, plan: Plan, round_number: int) -> None:
        """Enter one round of a plan that every device is asked, or raise an error if the limit does not allow it."""
        # A negative number would count from the end, and ask a round again under another number.
        if not 0 <= round_number < len(plan.rounds):
            raise PlanError(
                f"job.collect: the rounds of the plan {plan.method!r} have the numbers 0 to {len(plan.rounds) - 1}, "
                f"got {round_number}"
            )
        entry = next((entry for entry in self.paid if entry.covers(plan, round_number)), None)
        if entry is None:
            if self.spent + plan.epsilon > self.limit:
                raise PlanError(
                    f"job.collect: round {round_number} of the plan {plan.method!r} costs each device epsilon "
                    f"{decimal_text(plan.epsilon)}, but the job allows epsilon {decimal_text(self.limit)} in all, "
                    f"and earlier collections have used {decimal_text(self.spent)} of it"
                )
            entry = _Paid(plan)
            self.paid.append(entry)
        entry.plan = max(entry.plan, plan, key=lambda one: len(one.rounds))
        entry.rounds.add(round_number)
