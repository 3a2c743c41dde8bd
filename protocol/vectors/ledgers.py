"""What a ledger allows, step by step: forks, retries, limits, restarts. Section 9 of the text.

What follows each step is written by hand here and compared with the ledger of this repository.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from ldptrace.device import Ledger, Reporter
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.questions import End, Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import Ask, Round

GRID = Grid((0, 0, 1, 1), 2)
FRESH = "fresh"

# A script is steps joined by ";". `PLAN ROUND RESULT` asks for a report: the result is "fresh", the number of the step
# whose bytes come again, or a problem. `sent PLAN ROUND`: the report has arrived. `restart`: the program begins again.
Scenario = tuple[str, str, dict[str, Plan], str]


def scenarios() -> list[dict[str, Any]]:
    """Every scenario with its plans, checked."""
    return [_checked(*scenario) for scenario in _all()]


def _round(budget: str, kind: type[Start] | type[End] = Start, *, padded: bool = True) -> Round:
    question = kind(GRID.n)
    return Round(
        (Ask(question, GRR(question.domain, 1, ratio_at_most(Fraction(budget)))),), "everyone", padded
    )


def _plan(epsilon: str, *budgets: str, method: str = "ledger") -> Plan:
    """A plan that was extended round by round."""
    plan = Plan(method, GRID, epsilon_fraction(epsilon), (_round(budgets[0]),))
    for budget in budgets[1:]:
        plan = plan.extended(_round(budget))
    return plan


def _all() -> list[Scenario]:
    one = _plan("1", "0.1")
    two, other_two = one.extended(_round("0.2")), one.extended(_round("0.3"))
    three, other_three = two.extended(_round("0.2")), other_two.extended(_round("0.2"))
    # A chain of tiny rounds, and from each of its prefixes a fork that ends in a big one.
    chain = {f"chain-{k}": _plan("1", *["0.01"] * k) for k in range(1, 16)}
    forks = {f"fork-{k}": _plan("1", *["0.01"] * k, "0.8") for k in range(1, 16)}
    together = one.changed(rounds=(_round("0.1"), _round("0.5", End)))
    a, b, c = (_plan("1", "0.9", method=name) for name in "abc")
    leaks = Plan("ledger", GRID, Fraction(1), (_round("0.1", padded=False),)).extended(_round("0.1"))
    almost, hair = _plan("0.999999999999999999", "0.5"), _plan("0.00000000001", "0.000000000009")
    return [
        (
            "the same bytes until they were sent",
            "5",
            {"one": one},
            "one 0 fresh; one 0 0; restart; one 0 0; sent one 0; one 0 plan-answered; restart; one 0 plan-answered",
        ),
        (
            "a later round is covered by the first answer",
            "1",
            {"one": one, "two": two, "three": three},
            "one 0 fresh; two 1 fresh; sent one 0; three 2 fresh; two 1 1; three 1 plan-answered; "
            "three 0 plan-answered; three 2 3",
        ),
        (
            "all rounds under the newest plan",
            "1",
            {"one": one, "three": three},
            "three 2 fresh; three 0 fresh; one 0 plan-answered; three 1 fresh",
        ),
        (
            "two continuations of one plan",
            "5",
            {"one": one, "two": two, "other-two": other_two, "three": three},
            "one 0 fresh; two 1 fresh; other-two 1 plan-answered; three 2 fresh; other-two 1 plan-answered; "
            "sent two 1; other-two 1 plan-answered",
        ),
        (
            "another continuation for a later round",
            "5",
            {"one": one, "two": two, "other-three": other_three},
            "one 0 fresh; two 1 fresh; other-three 2 plan-forked; restart; other-three 2 plan-forked; two 1 1; "
            "other-three 0 plan-answered",
        ),
        (
            "an earlier plan after a later one",
            "5",
            {"one": one, "two": two},
            "two 1 fresh; one 0 plan-forked; two 0 fresh",
        ),
        (
            "a fork at every round",
            "1",
            chain | forks,
            "chain-1 0 fresh; fork-1 1 fresh; "
            + "; ".join(f"fork-{k} {k} plan-forked" for k in range(2, 16))
            + "; chain-3 2 plan-forked; fork-1 1 1",
        ),
        (
            "a fork after a chain",
            "1",
            chain | forks,
            "; ".join(f"chain-{k} {k - 1} fresh" for k in range(1, 6))
            + "; fork-2 2 plan-answered; fork-4 4 plan-answered; fork-5 5 fresh; chain-6 5 plan-answered; "
            "fork-7 7 plan-forked; chain-8 7 plan-forked",
        ),
        (
            "the same rounds in one plan are another root",
            "1.5",
            {"together": together, "two": one.extended(together.rounds[1])},
            "two 1 fresh; together 1 plan-over-limit; two 0 fresh",
        ),
        (
            "equal epsilon under other plans adds up",
            "2",
            {"a": a, "b": b, "c": c},
            "a 0 fresh; b 0 fresh; c 0 plan-over-limit; a 0 0; sent b 0; c 0 plan-over-limit; b 0 plan-answered",
        ),
        (
            "a limit is reached exactly, and passed by nothing",
            "1.999999999999999999",
            {"almost": almost, "a": a, "hair": hair},
            "almost 0 fresh; a 0 fresh; hair 0 plan-over-limit; a 0 1",
        ),
        (
            "a plan above the limit leaves the ledger as it was",
            "0.5",
            {"one": one, "half": _plan("0.5", "0.5")},
            "one 0 plan-over-limit; half 0 fresh; half 0 1",
        ),
        (
            "a round that is not there, and an earlier round that leaks",
            "5",
            {"one": one, "leaks": leaks},
            "one 1 plan-no-such-round; leaks 1 plan-not-private; leaks 0 plan-not-private; one 0 fresh",
        ),
        (
            "sent means this plan and this round",
            "5",
            {"one": one, "two": two, "a": a},
            "one 0 fresh; two 1 fresh; a 0 fresh; sent two 0; one 0 0; two 1 1; sent a 0; one 0 0; two 1 1; "
            "a 0 plan-answered",
        ),
    ]


def _checked(name: str, limit: str, plans: dict[str, Plan], script: str) -> dict[str, Any]:
    """The scenario as plain data, after the ledger went through it."""
    steps, reports = [], list[bytes | None]()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.json", limit)
        for number, words in enumerate(step.split() for step in script.split(";")):
            reports.append(None)
            if words == ["restart"]:
                ledger = Ledger(Path(folder) / "ledger.json", limit)
                step: dict[str, Any] = {"do": "restart"}
            elif words[0] == "sent":
                Reporter(plans[words[1]], ledger).sent(int(words[2]))
                step = {"do": "sent", "plan": words[1], "round": int(words[2])}
            else:
                wanted = int(words[2]) if words[2].isdigit() else words[2]
                step = {"do": "report", "plan": words[0], "round": int(words[1]), "result": wanted}
                try:
                    reports[-1] = Reporter(plans[words[0]], ledger).report([(0.5, 0.5)], int(words[1]))
                    found: str | int = reports.index(reports[-1])
                except PlanRefused as refusal:
                    found = refusal.problem.code
                assert (FRESH if found == number else found) == wanted, (name, number, words, found)
            steps.append(step | {"spent": decimal_text(ledger.spent)})
    used = {step["plan"] for step in steps if "plan" in step}
    documents = {key: plan.to_json() for key, plan in plans.items() if key in used}
    return {"name": name, "limit": limit, "plans": documents, "steps": steps}
