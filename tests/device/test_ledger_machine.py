"""The ledger as a small model: whatever anybody publishes and asks for, in any order, the person's limit holds.

The model knows plans by their contents, not by their ids: a plan lies on another's chain if it is what that one was
before rounds were added. It keeps its own account of the budgets that were really answered.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from ldptrace.device import Ledger, Reporter
from ldptrace.errors import PlanError
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import End, Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import Ask, Round

GRID = Grid((0, 0, 1, 1), 2)
LIMITS = ("0.5", "1", "2.5")
EPSILONS = ("0.5", "1", "1.000000000000000001")
BUDGETS = ("0.01", "0.1", "0.45", "0.9")
METHODS = ("a", "b")

rounds = st.builds(
    lambda budget, kind, padded: Round(
        (Ask(kind(2), GRR(4, 1, ratio_at_most(Fraction(budget)))),), "everyone", padded
    ),
    st.sampled_from(BUDGETS),
    st.sampled_from([Start, End]),
    # Now and then a round that leaks, which must spoil every plan that has it.
    st.sampled_from([True] * 9 + [False]),
)


def before(plan: Plan) -> list[Plan]:
    """The plan and, one round fewer each time, those that it extends."""
    if plan.extends is None:
        return [plan]
    count = len(plan.rounds) - 1
    shorter = plan.changed(rounds=plan.rounds[:count], extends=None)
    for number in range(2, count + 1):
        first = shorter.changed(rounds=plan.rounds[:1])
        for round_ in plan.rounds[1:number]:
            first = first.extended(round_)
        shorter = first
    return [plan, *before(shorter)]


def first_of(plan: Plan) -> Plan:
    return before(plan)[-1]


class Crash(BaseException):
    """The power goes out."""


class LedgerMachine(RuleBasedStateMachine):
    """Publish, extend, fork, ask, retry, confirm, restart, crash."""

    plans = Bundle("plans")

    @initialize(limit=st.sampled_from(LIMITS))
    def begin(self, limit: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.limit = limit
        self.ledger = Ledger(self.folder / "ledger.json", limit)
        # Every answer: the plan that asked, the round, the bytes, and whether they were sent.
        self.answers: list[dict[str, Any]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # -- the curator -----------------------------------------------------------------------------------

    @rule(target=plans, epsilon=st.sampled_from(EPSILONS), method=st.sampled_from(METHODS), first=rounds)
    def publish(self, epsilon: str, method: str, first: Round) -> Plan:
        try:
            return Plan(method, GRID, epsilon_fraction(epsilon), (first,))
        except PlanError:
            return Plan(method, GRID, Fraction(20), (first,))

    @rule(target=plans, plan=plans, more=rounds)
    def extend_or_fork(self, plan: Plan, more: Round) -> Plan:
        """From any plan, as often as one likes: several continuations of one plan are a fork."""
        try:
            return plan.extended(more) if plan.extends or len(plan.rounds) == 1 else plan
        except PlanError:
            return plan

    @rule(target=plans, plan=consumes(plans))
    def publish_all_rounds_at_once(self, plan: Plan) -> Plan:
        return plan.changed(extends=None)

    # -- the device ------------------------------------------------------------------------------------

    @rule(plan=plans, back=st.integers(0, 3))
    def ask(self, plan: Plan, back: int) -> None:
        self.check(plan, max(len(plan.rounds) - 1 - back, 0))

    @rule(plan=plans)
    def ask_for_a_round_that_is_not_there(self, plan: Plan) -> None:
        if plan.is_private:
            with pytest.raises(PlanRefused) as refusal:
                Reporter(plan, self.ledger).report([], len(plan.rounds))
            assert refusal.value.problem is Problem.PLAN_NO_SUCH_ROUND

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        if self.answers:
            again = data.draw(st.sampled_from(self.answers))
            self.check(again["plan"], again["round"])

    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        if self.answers:
            answer = data.draw(st.sampled_from(self.answers))
            Reporter(answer["plan"], self.ledger).sent(answer["round"])
            answer["sent"] = True

    @rule(plan=plans)
    def arrive_from_nowhere(self, plan: Plan) -> None:
        """Somebody confirms a plan that was perhaps never answered: nothing but that answer may change."""
        number = len(plan.rounds) - 1
        self.ledger.sent(plan, number)
        for answer in self.answers:
            if (answer["plan"], answer["round"]) == (plan, number):
                answer["sent"] = True

    @rule()
    def restart(self) -> None:
        self.ledger = Ledger(self.folder / "ledger.json", self.limit)

    @rule(limit=st.sampled_from(LIMITS))
    def change_the_limit(self, limit: str) -> None:
        self.limit = limit
        self.restart()

    @rule(plan=plans, step=st.sampled_from(["write", "replace"]))
    def crash(self, plan: Plan, step: str) -> None:
        """The power goes out before the entry is on the disk: nobody has seen the report."""
        number = len(plan.rounds) - 1
        if self.predicted(plan, number) != "fresh":
            return

        def stop(*_: object, **__: object) -> None:
            raise Crash

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json if step == "write" else os, "dumps" if step == "write" else "replace", stop)
            with pytest.raises(Crash):
                Reporter(plan, self.ledger).report([], number)
        self.restart()

    # -- what must come of it --------------------------------------------------------------------------

    def predicted(self, plan: Plan, number: int) -> object:
        """Section 9 of the protocol, from the contents of plans."""
        if not plan.is_private:
            return Problem.PLAN_NOT_PRIVATE
        first = first_of(plan)
        family = [answer for answer in self.answers if first_of(answer["plan"]) == first]
        for answer in family:
            if answer["round"] == number:
                same = answer["plan"] == plan and not answer["sent"]
                return answer["report"] if same else Problem.PLAN_ANSWERED
        if any(answer["plan"] not in before(plan) for answer in family):
            return Problem.PLAN_FORKED
        families = {first_of(answer["plan"]) for answer in self.answers} | {first}
        if sum(member.epsilon for member in families) > Fraction(self.limit):
            return Problem.PLAN_OVER_LIMIT
        return "fresh"

    def check(self, plan: Plan, number: int) -> None:
        wanted = self.predicted(plan, number)
        kept = [answer["report"] for answer in self.answers]
        try:
            found: object = Reporter(plan, self.ledger).report([(0.5, 0.5)], number)
        except PlanRefused as refusal:
            found = refusal.problem
        if wanted == "fresh":
            assert isinstance(found, bytes)
            assert found not in kept
            self.answers.append({"plan": plan, "round": number, "report": found, "sent": False})
        else:
            assert found == wanted

    @invariant()
    def nobody_learns_more_than_was_agreed(self) -> None:
        """The budgets really answered, added up here: per root within epsilon, in all within what the ledger says."""
        if not hasattr(self, "answers"):
            return
        families: dict[Plan, Decimal] = {}
        for answer in self.answers:
            first = first_of(answer["plan"])
            spent = answer["plan"].rounds[answer["round"]].spent
            families[first] = families.get(first, Decimal(0)) + spent
        for first, spent in families.items():
            assert Fraction(spent) <= first.epsilon
        assert sum(map(Fraction, families.values())) <= self.ledger.spent
        assert self.ledger.spent == sum(first.epsilon for first in families)

    @invariant()
    def what_was_sent_is_forgotten(self) -> None:
        if not hasattr(self, "answers"):
            return
        entries = self.ledger.entries
        assert len(entries) == len(self.answers)
        for entry, answer in zip(entries, self.answers, strict=True):
            assert (entry.plan, entry.round) == (answer["plan"].id, answer["round"])
            assert (entry.report is None) == answer["sent"]


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.pytestmark = [pytest.mark.slow]  # type: ignore[attr-defined]
TestLedgerMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_the_published_attack_is_over(tmp_path: Path) -> None:
    """A chain of tiny rounds, and from each of its prefixes a fork that ends in a big one: 16 plans of one root."""

    def big(budget: str) -> Round:
        return Round((Ask(Start(2), GRR(4, 1, ratio_at_most(Fraction(budget)))),), "everyone")

    chain = [Plan("fork", GRID, Fraction(1), (big("0.001"),))]
    while len(chain) < 15:
        chain.append(chain[-1].extended(big("0.001")))
    forks = [plan.extended(big("0.98")) for plan in chain]
    assert len({plan.root for plan in (*chain, *forks)}) == 1
    ledger, answered = Ledger(tmp_path / "ledger.json", limit=1), Decimal(0)
    for plan in (*forks, *chain, *forks[::-1]):
        for number in range(len(plan.rounds)):
            try:
                known = len(ledger.entries)
                Reporter(plan, ledger).report([(0.5, 0.5)], number)
                if len(ledger.entries) > known:
                    answered += plan.rounds[number].spent
            except PlanRefused:
                continue
    assert Decimal("0.98") < answered <= 1
    assert ledger.spent == 1


def test_plan_ids_are_compared_in_full(tmp_path: Path) -> None:
    """Ids that agree in their first half, as reports show them, are other plans."""
    first = Plan("ids", GRID, Fraction(1), (Round((Ask(Start(2), GRR(4, 1, Fraction(3, 2))),), "everyone"),))
    second = first.extended(first.rounds[0])
    ledger = Ledger(tmp_path / "ledger.json")
    Reporter(first, ledger).report([])
    text = (tmp_path / "ledger.json").read_text()
    twisted = first.id[:32] + first.id[32:][::-1]
    (tmp_path / "ledger.json").write_text(text.replace(f'"plan": "{first.id}"', f'"plan": "{twisted}"'))
    for plan, number, problem in (
        (first, 0, Problem.PLAN_ANSWERED),
        (second, 0, Problem.PLAN_ANSWERED),
        (second, 1, Problem.PLAN_FORKED),
    ):
        with pytest.raises(PlanRefused) as refusal:
            Reporter(plan, ledger).report([], number)
        assert refusal.value.problem is problem
    ledger.sent(first, 0)
    assert [entry.report is None for entry in ledger.entries] == [False]
    (tmp_path / "ledger.json").write_text(text.replace(f'"root": "{first.id}"', f'"root": "{twisted}"'))
    assert len(Reporter(first, ledger).report([])) > 0
    assert ledger.spent == 2
