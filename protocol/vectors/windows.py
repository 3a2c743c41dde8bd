"""Standing plans: which trips a window is about, and what a ledger allows under clocks of all kinds. Section 9.2.

What follows each step is written by hand here and compared with the ledger of this repository.
"""

from __future__ import annotations

import math
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from draws import number_text, replayed, sources
from ledgers import GRID

from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.protocol.exact import decimal_text, ratio_at_most
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import Report
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.standing import Standing

DAY = 86_400
WEEK = Standing(7 * DAY, 7 * DAY, 4 * DAY, Fraction(3), DAY)
# Random bytes of a phase of 100,000 seconds, and windows that end by it.
PHASE, RANDOM = 100_000, "0186a0"
ENDS = {k: 4 * DAY + k * 7 * DAY + PHASE for k in range(2810, 2830)}


def occasions() -> list[dict[str, Any]]:
    """Arrivals, which of them are eligible, and which one is drawn."""
    vectors = []
    narrow = WEEK.changed(recent=DAY)
    for label, standing, phase, accepted in (
        ("recent is every", WEEK, PHASE, 0),
        ("recent is a day", narrow, PHASE, 0),
        ("no phase", WEEK, 0, 0),
        ("the largest phase", WEEK, 7 * DAY - 1, 0),
        ("accepted within the window", WEEK, PHASE, ENDS[2812] - DAY),
        ("accepted at its end", WEEK, PHASE, ENDS[2812]),
    ):
        end = standing.end(2812, phase)
        arrivals = [
            *(end - standing.recent - 1, end - standing.recent, end - standing.recent + 0.5),
            *(end - 1, end - DAY, end - DAY + 1, end - 3 * DAY, end, math.nextafter(end, math.inf), end + 1),
            *(math.nan, math.inf, 1e12, -float(end), 0.0, 172_799.0, end - 0.25),
        ]
        eligible = standing.eligible(arrivals, 2812, phase, accepted)
        for luck, recorder in sources(f"occasion {label}", ordinary=3):
            chosen = eligible[recorder.below(len(eligible))] if eligible else None
            random = replayed(lambda s, e=eligible: e[s.below(len(e))] if e else None, recorder, chosen)
            vectors.append(
                {
                    "name": f"{label}, {luck}",
                    "standing": standing.document(),
                    "phase": phase,
                    "accepted": accepted,
                    "window": 2812,
                    "arrivals": [number_text(float(value)) for value in arrivals],
                    "eligible": eligible,
                    "random": random,
                    "chosen": chosen,
                    "trips": len(eligible),
                }
            )
    early = WEEK.changed(start=0)
    arrivals = [172_799.0, 172_800.0, -172_800.0, 200_000.0]
    vectors.append(
        {
            "name": "times of a day are no dates",
            "standing": early.document(),
            "phase": 0,
            "accepted": -(10**6),
            "window": 1,
            "arrivals": [number_text(value) for value in arrivals],
            "eligible": early.eligible(arrivals, 1, 0, -(10**6)),
            "random": "01",
            "chosen": 3,
            "trips": 2,
        }
    )
    return vectors


# A script is lines of words. `accept PLAN NOW WINDOW`: the phase is drawn from given bytes, the window is the last
# that is over. `PLAN NOW RESULT` asks for a report; the result is `fresh:K`, a fresh report of window K, the number of
# the step whose bytes come again, or a problem. `sent PLAN WINDOW`, `limit VALUE`, `restart`.
Scenario = tuple[str, str, dict[str, Plan], str]


def _plan(standing: Standing | None = WEEK, campaign: CampaignName | None = None) -> Plan:
    ask = Ask(Start(GRID.n), GRR(4, 1, ratio_at_most(Fraction(1))))
    return Plan(
        "windows", GRID, Fraction(1), (Round((ask,), "everyone"),), campaign=campaign, standing=standing
    )


def _all() -> list[Scenario]:
    week, long = _plan(), _plan(WEEK.changed(lifetime=Fraction(100)))
    spring = CampaignName("spring", "0" * 32)
    e = ENDS
    return [
        (
            "one answer per window, at or after its end",
            "5",
            {"week": week},
            f"""accept week 1700000000 2810
            week 1700000000 plan-not-due
            week {e[2811] - 1} plan-not-due
            week {e[2811] - 0.001} plan-not-due
            week {e[2811]} fresh:2811
            week {e[2811]} 4
            restart
            week {e[2812] - 1} 4
            sent week 2811
            week {e[2812] - 1} plan-not-due
            week {e[2812]} fresh:2812""",
        ),
        (
            "clocks that go back and forth, and a lifetime of three answers",
            "5",
            {"week": week},
            f"""accept week 1700000000 2810
            week {e[2815] + 5} fresh:2815
            week {e[2812]} 1
            week 0 1
            sent week 2815
            week {e[2812]} plan-not-due
            week {e[2815] + 9} plan-not-due
            restart
            week {e[2817]} fresh:2817
            week {e[2816]} 8
            week {e[2818]} fresh:2818
            week {e[2819]} plan-lifetime
            sent week 2818
            week {e[2818]} plan-not-due
            week {e[2829]} plan-lifetime""",
        ),
        (
            "a missed window is not made up, and a late confirmation is not that of a newer report",
            "50",
            {"long": long},
            f"""accept long 1700000000 2810
            long {e[2811]} fresh:2811
            long {e[2814]} fresh:2814
            sent long 2811
            long {e[2814]} 2
            sent long 2814
            long {e[2814]} plan-not-due
            long {e[2813]} plan-not-due""",
        ),
        (
            "the phase is drawn once",
            "50",
            {"long": long},
            f"""accept long 1700000000 2810
            accept long {e[2820]} 2810
            long {e[2811]} fresh:2811
            restart
            accept long 5 2811
            long {e[2812]} fresh:2812""",
        ),
        (
            "the limit is changed by the person, up and down",
            "1",
            {"long": long, "once": _plan(None)},
            f"""accept long 1700000000 2810
            long {e[2811]} fresh:2811
            long {e[2812]} plan-over-limit
            long {e[2811]} 1
            limit 2
            long {e[2812]} fresh:2812
            once 0 plan-over-limit
            limit 3
            once 0 fresh:0
            long {e[2813]} plan-over-limit
            limit 2
            long {e[2813]} plan-over-limit
            limit 4
            long {e[2813]} fresh:2813""",
        ),
        (
            "two campaigns with the same settings",
            "5",
            {"one": _plan(WEEK, spring), "other": _plan(WEEK, spring.changed(nonce="0" * 31 + "1"))},
            f"""accept one 1700000000 2810
            accept other 1700000000 2810
            one {e[2811]} fresh:2811
            other {e[2811]} fresh:2811
            sent one 2811
            one {e[2811]} plan-not-due
            other {e[2811]} 3""",
        ),
        (
            "broken clocks",
            "5",
            {"week": week},
            f"""accept week NaN -1
            week NaN plan-not-due
            week 1000000000000 plan-not-due
            week -1000000000000 plan-not-due
            week Infinity plan-not-due
            week -5 plan-not-due
            week 999999999999.5 fresh:1653438
            week {e[2811]} 6
            sent week 1653438
            week {e[2811]} plan-not-due""",
        ),
        (
            "windows beyond the last number",
            "5",
            {"least": _plan(Standing(60, 60, 0, Fraction(1), 0))},
            """accept least 59 0
            least 257698037760 plan-not-due
            least 257698037759 fresh:4294967295
            least 257698037760 2""",
        ),
    ]


def window_scenarios() -> list[dict[str, Any]]:
    """Every scenario with its plans, checked."""
    return [_checked(*scenario) for scenario in _all()]


def _checked(name: str, limit: str, plans: dict[str, Plan], script: str) -> dict[str, Any]:
    """The scenario as plain data, after the ledger went through it."""
    steps, reports = [], list[bytes | None]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.json"
        ledger = Ledger(path, limit)
        for words in (line.split() for line in script.splitlines()):
            reports.append(None)
            if words[0] in ("restart", "limit"):
                ledger = Ledger(path, words[1] if words[0] == "limit" else None)
                step: dict[str, Any] = {"do": words[0]} | ({"limit": words[1]} if words[1:] else {})
            elif words[0] == "sent":
                Reporter(plans[words[1]], ledger).sent(window=int(words[2]))
                step = {"do": "sent", "plan": words[1], "window": int(words[2])}
            elif words[0] == "accept":
                step = _accepted(ledger, plans[words[1]], words)
            else:
                step = _asked(Reporter(plans[words[0]], ledger), words, reports, name)
            steps.append(step | {"spent": decimal_text(Ledger(path).spent)})
    used = {step["plan"] for step in steps if "plan" in step}
    documents = {key: plan.to_json() for key, plan in plans.items() if key in used}
    return {"name": name, "limit": limit, "plans": documents, "steps": steps}


def _accepted(ledger: Ledger, plan: Plan, words: list[str]) -> dict[str, Any]:
    standing = plan.standing
    assert standing is not None
    random = RANDOM if standing.every > PHASE else "00"
    row = ledger.accept(plan, float(words[2]), Source(BytesReader(bytes.fromhex(random))))
    assert row.window == int(words[3]), (words, row)
    told = {"now": words[2], "random": random, "phase": row.phase, "window": row.window}
    return {"do": "accept", "plan": words[1]} | told


def _asked(reporter: Reporter, words: list[str], reports: list[bytes | None], name: str) -> dict[str, Any]:
    number, wanted = len(reports) - 1, words[2]
    try:
        if reporter.plan.standing is None:
            reports[-1] = reporter.report([(0.5, 0.5)])
        else:
            reports[-1] = reporter.report([Recording([(0.5, 0.5)], 1.7e9)], now=float(words[1]))
        first = reports.index(reports[-1])
        window = Report.decode(reports[-1]).window
        found = f"fresh:{window}" if first == number else str(first)
    except PlanRefused as refusal:
        found = refusal.problem.code
    assert found == wanted, (name, number, words, found)
    return {"do": "report", "plan": words[0], "now": words[1], "result": wanted}
