"""Random histories of a ledger, for any client that answers lines, beside what section 9 of the protocol demands.

What must happen is predicted from the contents of plans alone: no id, no hash and no code of a ledger is used.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ldptrace.audit.client import Device
from ldptrace.protocol.exact import decimal_text, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.questions import End, Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import Report
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.standing import Standing

GRID = Grid((0.0, 0.0, 1.0, 1.0), 2)
BUDGETS = ("0.01", "0.1", "0.45", "0.9")
EPSILONS = ("0.5", "1", "1.000000000000000001")
LIMITS = ("1", "2.5", "8", "20")
NOW, EVERY = 1_780_300_800, 3600
# Rounds, and whether they were published one after the other: what a plan is, apart from its name.
Lineage = tuple[Any, ...]


@dataclass
class Answer:
    plan: Plan
    round: int
    report: str
    sent: bool = False


@dataclass
class Row:
    """A standing plan that was accepted at NOW + accepted * EVERY; windows are counted from then on."""

    plan: Plan
    last: int
    answers: int = 0
    report: str | None = None
    windows: list[tuple[int, int]] = field(default_factory=list)


def lineage(plan: Plan) -> list[Lineage]:
    """What the plan was before rounds were added, itself last."""
    head = (plan.method, plan.campaign, plan.epsilon)
    if plan.extends is None:
        return [(*head, plan.rounds, "at once" if len(plan.rounds) > 1 else "")]
    return [(*head, plan.rounds[: count + 1], "") for count in range(len(plan.rounds))]


class History:
    """One person, one ledger, and curators who publish whatever they like."""

    def __init__(self, device: Device, seed: int) -> None:
        self.device, self.name = device, f"history-{seed}"
        self.lottery = random.Random(seed)
        self.limit = self.lottery.choice(LIMITS)
        self.plans: list[Plan] = []
        self.answers: list[Answer] = []
        self.rows: dict[str, Row] = {}
        self.clock = 0
        often = (
            [self.ask] * 6 + [self.pass_time] * 3 + [self.extend, self.retry, self.confirm, self.publish] * 2
        )
        self.doings = [*often, self.rewrite, self.new_limit, self.restart]

    def run(self, steps: int) -> None:
        self.publish()
        for _ in range(steps):
            doing = self.lottery.choice(self.doings)
            if self.plans or doing == self.publish:
                doing()

    # -- what curators do --------------------------------------------------------------------------------------

    def publish(self) -> None:
        standing = None
        epsilon = self.lottery.choice(EPSILONS)
        if self.lottery.random() < 0.4:
            standing = Standing(EVERY, EVERY, 0, Fraction(self.lottery.choice((2, 3, 5))), 0)
        nonce = f"{self.lottery.randrange(3):032x}"
        self._add("history", epsilon, [self._round()], None, CampaignName("history", nonce), standing)

    def extend(self) -> None:
        plan = self.lottery.choice(self.plans)
        if plan.standing is None and (plan.extends is not None or len(plan.rounds) == 1):
            rounds = [*plan.rounds, self._round()]
            self._add(plan.method, plan.epsilon, rounds, plan.id, plan.campaign, None)

    def rewrite(self) -> None:
        """The same rounds, published at once."""
        plan = self.lottery.choice(self.plans)
        if plan.standing is None:
            self._add(plan.method, plan.epsilon, list(plan.rounds), None, plan.campaign, None)

    def _round(self) -> Round:
        question = self.lottery.choice((Start(2), End(2)))
        ratio = ratio_at_most(Fraction(self.lottery.choice(BUDGETS)))
        return Round((Ask(question, GRR(4, 1, ratio)),), "everyone", padded=self.lottery.random() < 0.97)

    def _add(
        self,
        method: str,
        epsilon: Any,
        rounds: list[Round],
        extends: str | None,
        campaign: Any,
        standing: Any,
    ) -> None:
        try:
            plan = Plan(method, GRID, epsilon, tuple(rounds), extends, None, campaign, standing)
        except PlanRefused:
            return  # A plan that overspends is nobody's to answer.
        if plan not in self.plans:
            self.plans.append(plan)

    # -- what the device does ----------------------------------------------------------------------------------

    def ask(self) -> None:
        plan = self.lottery.choice(self.plans)
        self._ask(plan, max(len(plan.rounds) - 1 - self.lottery.randrange(3), 0))

    def retry(self) -> None:
        if self.answers:
            answer = self.lottery.choice(self.answers)
            self._ask(answer.plan, answer.round)

    def confirm(self) -> None:
        kept = [answer for answer in self.answers if not answer.sent]
        rows = [row for row in self.rows.values() if row.report is not None]
        if kept and self.lottery.random() < 0.5:
            answer = self.lottery.choice(kept)
            self._line(answer.plan, sent=answer.report)
            answer.sent = True
        elif rows:
            row = self.lottery.choice(rows)
            self._line(row.plan, sent=row.report)
            row.report = None

    def restart(self) -> None:
        self.device.restart()

    def new_limit(self) -> None:
        self.limit = self.lottery.choice(LIMITS)

    def pass_time(self) -> None:
        """Clocks go forth, and sometimes back."""
        self.clock += self.lottery.choice((1, 1, 2, 5, -3))

    def _ask(self, plan: Plan, round_: int) -> None:
        wanted = self._predicted(plan, round_)
        points = [[self.lottery.random(), self.lottery.random()]] * self.lottery.choice((0, 1, 3))
        trip = {"points": points, "arrival": NOW + self.clock * EVERY - 60}
        answer = self._line(plan, round=round_, trips=[trip])
        report, known = answer.get("report"), self._known()
        found = answer.get("problem") or answer.get("error") or (report if report in known else "fresh")
        assert found == wanted, f"{self.name}: {found} instead of {wanted}"
        if wanted == "fresh":
            self._entered(plan, round_, report)
        self._check_budgets()

    def _line(self, plan: Plan, **more: Any) -> dict[str, Any]:
        line = {
            "plan": plan.to_json(),
            "ledger": self.name,
            "limit": self.limit,
            "now": NOW + self.clock * EVERY,
        }
        return self.device.ask(line | more)

    def _entered(self, plan: Plan, round_: int, report: str) -> None:
        decoded = Report.decode(bytes.fromhex(report))
        if plan.standing is None:
            assert (decoded.round, decoded.window) == (round_, 0)
            self.answers.append(Answer(plan, round_, report))
            return
        row = self.rows[plan.id]
        row.last, row.answers, row.report = self.clock, row.answers + 1, report
        row.windows.append((self.clock, decoded.window))
        # One phase for all windows: they are as far apart as the clocks were.
        assert len({window - clock for clock, window in row.windows}) == 1

    def _known(self) -> set[str | None]:
        return {answer.report for answer in self.answers} | {row.report for row in self.rows.values()} - {
            None
        }

    # -- what must happen --------------------------------------------------------------------------------------

    def _predicted(self, plan: Plan, round_: int) -> str:
        if not plan.is_private:
            return "plan-not-private"
        if plan.standing is not None:
            return self._predicted_window(plan)
        own = lineage(plan)
        family = [answer for answer in self.answers if lineage(answer.plan)[0] == own[0]]
        for answer in family:
            if answer.round == round_:
                again = lineage(answer.plan)[-1] == own[-1] and not answer.sent
                return answer.report if again else "plan-answered"
        if any(lineage(answer.plan)[-1] not in own for answer in family):
            return "plan-forked"
        cost = Fraction(0) if family else plan.epsilon
        return "plan-over-limit" if self._spent() + cost > Fraction(self.limit) else "fresh"

    def _predicted_window(self, plan: Plan) -> str:
        row = self.rows.setdefault(plan.id, Row(plan, self.clock))
        if self.clock <= row.last:
            return row.report or "plan-not-due"
        assert plan.standing is not None
        if (row.answers + 1) * plan.epsilon > plan.standing.lifetime:
            return "plan-lifetime"
        return "plan-over-limit" if self._spent() + plan.epsilon > Fraction(self.limit) else "fresh"

    def _spent(self) -> Fraction:
        roots = {lineage(answer.plan)[0]: answer.plan.epsilon for answer in self.answers}
        return sum(roots.values(), Fraction(0)) + sum(
            (row.answers * row.plan.epsilon for row in self.rows.values()), Fraction(0)
        )

    def _check_budgets(self) -> None:
        """All that was answered under one root spends at most its epsilon."""
        for root in {lineage(answer.plan)[0] for answer in self.answers}:
            given = [answer for answer in self.answers if lineage(answer.plan)[0] == root]
            spent = sum(answer.plan.rounds[answer.round].spent for answer in given)
            assert Fraction(spent) <= given[0].plan.epsilon, decimal_text(given[0].plan.epsilon)
