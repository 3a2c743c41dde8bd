"""What a ledger with shuffled plans allows, step by step: section 10 of the text of version 2.

What follows each step is written by hand here and compared with the ledger of this repository.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from ledgers import GRID
from windows import ENDS, PHASE, RANDOM, WEEK

from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, ratio_at_most
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shuffled import Shuffled

# A script is lines of words. `PLAN NOW RESULT` asks for a report; the result is `fresh:K` (K is the window, 0 without
# windows), the number of the step whose bytes come again, or a problem. `accept PLAN NOW RESULT`: the phase is drawn
# from given bytes; the result is the last window that is over, or a problem. `sent PLAN`, `restart`. `set NAME=VALUE
# ...`: the person changes limit, local_limit, most_local or shuffled (yes, no). After each line: the two sums and the
# sum of the deltas.
Scenario = tuple[str, dict[str, Plan], str]


def _plan(epsilon: str, method: str = "sums", **changes: Any) -> Plan:
    ask = Ask(Start(GRID.n), GRR(4, 1, ratio_at_most(Fraction(epsilon))))
    rounds = (Round((ask,), "everyone"),)
    return Plan(method, GRID, epsilon_fraction(epsilon), rounds, **changes)


def _shuffled(epsilon: str, central: str, method: str = "sums", delta: str = "0.00000001") -> Plan:
    row = Shuffled(GENERATOR, 10**7, 1, delta, central, None, 1_800_000_000, "x", "http://x")
    return _plan(epsilon, method, shuffled=row)


def _weekly(epsilon: str, central: str, answers: int, method: str = "sums") -> Plan:
    standing = WEEK.changed(lifetime=Fraction(epsilon) * answers)
    row = Shuffled(GENERATOR, 10**7, 1, "0.00000001", central, central, None, "x", "http://x")
    return _plan(epsilon, method, standing=standing, shuffled=row)


def _all() -> list[Scenario]:
    many = {name: _shuffled("6", "0.5", name) for name in "abcdef"}
    e = ENDS
    return [
        (
            "a shuffled answer costs its central epsilon, and the same bytes are sent again",
            {"one": _shuffled("4.2", "1"), "direct": _plan("4")},
            """one 0 fresh:0 | 1 4.2 0.00000001
            one 0 0 | 1 4.2 0.00000001
            restart | 1 4.2 0.00000001
            one 0 0 | 1 4.2 0.00000001
            direct 0 fresh:0 | 5 8.2 0.00000001
            sent one | 5 8.2 0.00000001
            one 0 plan-answered | 5 8.2 0.00000001""",
        ),
        (
            "eps0 of all answers together",
            many,
            """a 0 fresh:0 | 0.5 6 0.00000001
            b 0 fresh:0 | 1 12 0.00000002
            c 0 fresh:0 | 1.5 18 0.00000003
            d 0 fresh:0 | 2 24 0.00000004
            e 0 fresh:0 | 2.5 30 0.00000005
            f 0 plan-over-limit | 2.5 30 0.00000005
            a 0 0 | 2.5 30 0.00000005
            set local_limit=35.999999999999999999 | 2.5 30 0.00000005
            f 0 plan-over-limit | 2.5 30 0.00000005
            set local_limit=36 | 2.5 30 0.00000005
            f 0 fresh:0 | 3 36 0.00000006""",
        ),
        (
            "the limit bounds central epsilons and direct answers together",
            {"a": _shuffled("2", "2", "a"), "b": _shuffled("2", "2", "b"), "c": _shuffled("2", "1.5", "c")}
            | {"direct": _plan("1"), "hair": _plan("0.000000000001")},
            """a 0 fresh:0 | 2 2 0.00000001
            b 0 fresh:0 | 4 4 0.00000002
            c 0 plan-over-limit | 4 4 0.00000002
            direct 0 fresh:0 | 5 5 0.00000002
            hair 0 plan-over-limit | 5 5 0.00000002""",
        ),
        (
            "direct answers count within the second limit, too",
            {"a": _shuffled("5", "0.5", "a"), "direct": _plan("4"), "small": _plan("1", "small")},
            """set local_limit=8.5 | 0 0 0
            direct 0 fresh:0 | 4 4 0
            a 0 plan-over-limit | 4 4 0
            set local_limit=9 | 4 4 0
            a 0 fresh:0 | 4.5 9 0.00000001
            set limit=8 | 4.5 9 0.00000001
            small 0 plan-over-limit | 4.5 9 0.00000001""",
        ),
        (
            "a limit above 30 is the second limit, too, unless the person says otherwise",
            {"a": _plan("18", "a"), "b": _plan("17", "b"), "c": _plan("1", "c")},
            """set limit=36 | 0 0 0
            a 0 fresh:0 | 18 18 0
            b 0 fresh:0 | 35 35 0
            set local_limit=35.5 | 35 35 0
            c 0 plan-over-limit | 35 35 0""",
        ),
        (
            "eps0 of one answer",
            {
                "large": _shuffled("6.000000000000000001", "1"),
                "six": _shuffled("6", "1"),
                "direct": _plan("7"),
            },
            """large 0 plan-over-limit | 0 0 0
            six 0 fresh:0 | 1 6 0.00000001
            set most_local=6.5 | 1 6 0.00000001
            large 0 fresh:0 | 2 12.000000000000000001 0.00000002
            set limit=10 most_local=1 | 2 12.000000000000000001 0.00000002
            direct 0 fresh:0 | 9 19.000000000000000001 0.00000002""",
        ),
        (
            "deltas add up to 0.00001",
            {f"p{k}": _shuffled("1", "0.1", f"p{k}", "0.000001") for k in range(11)} | {"direct": _plan("1")},
            "\n".join(
                f"p{k} 0 fresh:0 | {decimal_text(Fraction(k + 1, 10))} {k + 1} "
                f"{decimal_text(Fraction(k + 1, 10**6))}"
                for k in range(10)
            )
            + """
            p10 0 plan-over-limit | 1 10 0.00001
            direct 0 fresh:0 | 2 11 0.00001""",
        ),
        (
            "a person who takes part in no shuffled plan",
            {"one": _shuffled("2", "1"), "week": _weekly("2", "1", 3), "direct": _plan("1")},
            """one 0 fresh:0 | 1 2 0.00000001
            set shuffled=no | 1 2 0.00000001
            one 0 plan-not-wanted | 1 2 0.00000001
            accept week 1700000000 plan-not-wanted | 1 2 0.00000001
            week 1700000000 plan-not-wanted | 1 2 0.00000001
            direct 0 fresh:0 | 2 3 0.00000001
            set shuffled=yes | 2 3 0.00000001
            one 0 0 | 2 3 0.00000001""",
        ),
        (
            "the total of a standing plan is agreed to once",
            {"week": _weekly("3", "0.5", 12), "direct": _plan("1"), "small": _plan("1", "small")},
            f"""accept week 1700000000 plan-over-limit | 0 0 0
            week 1700000000 plan-over-limit | 0 0 0
            set local_limit=36 | 0 0 0
            accept week 1700000000 2810 | 0 36 0
            direct 0 plan-over-limit | 0 36 0
            week {e[2811]} fresh:2811 | 0.5 36 0.00000001
            week {e[2811]} 5 | 0.5 36 0.00000001
            restart | 0.5 36 0.00000001
            week {e[2812]} fresh:2812 | 1 36 0.00000002
            set local_limit=35 | 1 36 0.00000002
            week {e[2812]} 8 | 1 36 0.00000002
            week {e[2813]} plan-over-limit | 1 36 0.00000002
            set local_limit=37 limit=1.5 | 1 36 0.00000002
            week {e[2814]} fresh:2814 | 1.5 36 0.00000003
            week {e[2815]} plan-over-limit | 1.5 36 0.00000003
            set limit=5 | 1.5 36 0.00000003
            direct 0 fresh:0 | 2.5 37 0.00000003
            sent week | 2.5 37 0.00000003
            week {e[2814]} plan-not-due | 2.5 37 0.00000003""",
        ),
        (
            "a total of a lifetime that is no multiple of epsilon, and its end",
            {"week": _weekly("3", "0.5", 2).changed(standing=WEEK.changed(lifetime=Fraction("8.9")))},
            f"""accept week 1700000000 2810 | 0 6 0
            week {e[2811]} fresh:2811 | 0.5 6 0.00000001
            week {e[2812]} fresh:2812 | 1 6 0.00000002
            week {e[2813]} plan-lifetime | 1 6 0.00000002""",
        ),
    ]


def sum_scenarios() -> list[dict[str, Any]]:
    """Every scenario with its plans, checked."""
    return [_checked(*scenario) for scenario in _all()]


def _checked(name: str, plans: dict[str, Plan], script: str) -> dict[str, Any]:
    steps, reports = [], list[bytes | None]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.json"
        settings: dict[str, Any] = {}
        for line in script.splitlines():
            told, sums = (part.split() for part in line.split("|"))
            reports.append(None)
            ledger = Ledger(path, **settings)
            if told[0] == "set":
                changes = dict(word.split("=") for word in told[1:])
                settings |= {
                    key: value == "yes" if key == "shuffled" else value for key, value in changes.items()
                }
                step: dict[str, Any] = {"do": "set"} | changes
            elif told[0] == "restart":
                step = {"do": "restart"}
            elif told[0] == "sent":
                Reporter(plans[told[1]], ledger).sent()
                step = {"do": "sent", "plan": told[1]}
            elif told[0] == "accept":
                step = _accepted(ledger, plans[told[1]], told)
            else:
                step = _asked(Reporter(plans[told[0]], ledger), told, reports, name)
            cost = Ledger(path, **settings).cost
            found = [decimal_text(value) for value in (cost.central, cost.local, cost.delta)]
            assert found == sums, (name, line, found)
            steps.append(step | dict(zip(("spent", "local", "delta"), found, strict=True)))
    return {"name": name, "plans": {key: plan.to_json() for key, plan in plans.items()}, "steps": steps}


def _accepted(ledger: Ledger, plan: Plan, told: list[str]) -> dict[str, Any]:
    step = {"do": "accept", "plan": told[1], "now": told[2], "random": RANDOM, "result": told[3]}
    try:
        row = ledger.accept(plan, float(told[2]), Source(BytesReader(bytes.fromhex(RANDOM))))
        assert row.phase == PHASE
        found = str(row.window)
    except PlanRefused as refusal:
        found = refusal.problem.code
    assert found == told[3], (told, found)
    return step


def _asked(reporter: Reporter, told: list[str], reports: list[bytes | None], name: str) -> dict[str, Any]:
    number, now = len(reports) - 1, float(told[1])
    try:
        if reporter.plan.standing is None:
            reports[-1] = reporter.report([(0.5, 0.5)])
            window = 0
        else:
            reports[-1] = reporter.report([Recording([(0.5, 0.5)], 1.7e9)], now=now)
            row = reporter.ledger.acceptance(reporter.plan) if reporter.ledger else None
            window = -1 if row is None else row.window
        first = reports.index(reports[-1])
        found = f"fresh:{window}" if first == number else str(first)
    except PlanRefused as refusal:
        found = refusal.problem.code
    assert found == told[2], (name, number, told, found)
    return {"do": "report", "plan": told[0], "now": told[1], "result": told[2]}
