"""All three clients: the audit drives each, random histories fit each, and their reports have one distribution."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import pytest

from audit_kit import ONE_GRR
from cli_kit import run
from clients_kit import CLIENTS, JVM, java_jar, java_tests
from histories_kit import History
from ldptrace.audit import CommandDevice, audit
from ldptrace.audit.client import reports_of, trip_lines
from ldptrace.curator.opening import CuratorKey
from ldptrace.device.sealing import Sealer
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import decimal_text, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import Report, read_report
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.seals import bound_info, label_bytes
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.words import shuffled_promise
from programs_kit import require
from shuffled_kit import KEY, shuffled, weekly
from statistics_kit import assert_same_categories

pytestmark = pytest.mark.slow

NAMES = ("java", "javascript", "python")
PLAN = Plan.single_report(Grid((0.0, 0.0, 2.0, 2.0), 2), 1.0, time=True)
WALK = [[0.5, 0.5, 30600.0], [1.5, 0.5, 31200.0], [1.5, 1.5, 31800.0], [0.5, 1.5, 32400.0]]
# A device that forgets: every question meets an empty ledger.
REDRAWS = """
import sys, json
from ldptrace.device.lines import Lines
for line in sys.stdin:
    asked = json.loads(line)
    if "ledger" in asked and asked.pop("ledger") and ("accept" in asked or "sent" in asked):
        print("{}", flush=True)
    else:
        print(json.dumps(Lines(sys.argv[1]).answer_to(asked)), flush=True)
"""


def command(name: str, config: pytest.Config) -> str:
    """What starts a client."""
    if name == "java":
        return f"{' '.join(JVM)} -jar {java_jar(config)} lines --ledgers {{ledgers}}"
    if name == "javascript":
        return f"{require('Node')} {CLIENTS / 'js' / 'bin' / 'lines.js'} --ledgers {{ledgers}}"
    return f"{sys.executable} -m ldptrace.device.program lines --ledgers {{ledgers}}"


@pytest.fixture(params=NAMES)
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CommandDevice]:
    with CommandDevice(command(request.param, request.config), tmp_path) as found:
        yield found


def test_the_audit_drives_it(device: CommandDevice) -> None:
    found = audit(ONE_GRR, trials=40, device=device)
    assert found.stands, found.summary()
    assert found.device == device.name
    assert "two processes give one answer" in [finding.checked for finding in found.ledger]


def test_histories(device: CommandDevice) -> None:
    answered = 0
    for seed in range(2000, 2004):
        history = History(device, seed)
        history.doings.remove(history.restart)
        history.run(60)
        answered += len(history.answers) + sum(row.answers for row in history.rows.values())
    assert answered > 10


def test_a_standing_plan_is_answered_alike(device: CommandDevice) -> None:
    """Accepted for three weeks, asked now, with a trip of yesterday: one answer, of a window that has ended."""
    now = 1_780_300_800
    plan = PLAN.changed(standing=Standing.of(604_800, epsilon=1))
    trips = trip_lines([WALK], [now - 86_400.0])
    line = {"plan": plan.to_json(), "trips": trips, "now": now, "accepted": now - 3 * 604_800}
    for report in reports_of(device, line, 3):
        window = Report.decode(report).window
        assert (now - 345_600) // 604_800 - 1 <= window <= (now - 345_600) // 604_800
        read_report(report, plan, 0)


def test_a_check_says_the_same_in_all_clients(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """What each makes of good and odd trips, of a ledger, of windows."""
    now, week = 1_780_300_800, 604_800
    standing = PLAN.changed(standing=Standing.of(week, epsilon=1))
    city = Plan.single_report(Grid((13.3, 52.4, 13.6, 1e6), 6), 1.0, crs="EPSG:4326")
    far = Plan.single_report(Grid((389_000, 5_819_000.5, 390_000, 5_820_000), 6), 1.0)
    walks = [
        [], [[]], [WALK], [WALK, [], WALK[:1]], [WALK * 1025], [[[1, 1]]], [[[99, 0.5, 1.7e12], [0.5, 0.5, 1]]],
        [[["NaN", 1]], [["Infinity", 0, 3]]], [[[52.5, 13.4]]], [[[500_000, 5e6]]], [[[1, 1, 9], [1, 1, 3]]],
        [[[181, 91], [500, 500]]],
    ]  # fmt: skip
    lines = [
        {"plan": plan.to_json(), "trips": trip_lines(trips), "check": True}
        for plan in (PLAN, city, far) for trips in walks
    ]  # fmt: skip
    # Whatever the phase: one in the future, one of the last week that has ended.
    arrivals = [[now + 60.0], [now - 30 * 86_400.0, now - week + 0.5, 3600.0], [1e3 * now], ["NaN"], []]
    asked = [
        {
            "trips": [{"points": WALK, "arrival": one} for one in some],
            "now": now,
            "ledger": "ana",
            "check": True,
        }
        for some in arrivals
    ]
    lines += [{"plan": standing.to_json(), **line} for line in asked]
    said = []
    for name in NAMES:
        (tmp_path / name).mkdir()
        with CommandDevice(command(name, request.config), tmp_path / name) as device:
            found = [device.ask(line) for line in lines]
            # A phase is drawn, so that moments differ; numbers of trips do not.
            device.ask({"plan": standing.to_json(), "ledger": "ana", "accept": True, "now": now - 9 * week})
            found += [re.sub(r"[0-9-]+T[0-9:]+Z", "T", str(device.ask(line))) for line in asked]
            device.ask({"plan": PLAN.to_json(), "ledger": "ben", "trips": []})
            found.append(device.ask({"plan": PLAN.to_json(), "ledger": "ben", "trips": [], "check": True}))
            said.append(found)
    for one, line in enumerate(said[0]):
        assert said[1][one] == said[2][one] == line
    assert "check" in said[0][0]


def test_a_shuffled_report_of_each_client_is_opened_by_the_curator(device: CommandDevice) -> None:
    """And a plan that claims too little is refused, as are plans that a person does not allow."""
    plan = shuffled(PLAN)
    line = {"plan": plan.to_json(), "trips": trip_lines([WALK])}
    for sealed in [
        *reports_of(device, line, 5),
        bytes.fromhex(device.ask({**line, "ledger": "ana"})["report"]),
    ]:
        opened = KEY.opener(plan.id).open(sealed, label_bytes(None))
        assert opened is not None
        read_report(opened, plan, 0)
    again = device.ask({**line, "ledger": "ana", "trips": []})
    assert again == {"report": sealed.hex()}
    assert device.ask({"ledger": "ana", "sent": sealed.hex()}) == {}
    assert device.ask({**line, "ledger": "ana"}) == {"problem": "plan-answered"}
    assert plan.shuffled is not None
    stated = f'"epsilon":"{decimal_text(plan.shuffled.epsilon)}"'
    less = plan.to_json().replace(stated, f'"epsilon":"{float(plan.shuffled.epsilon) * 0.97:.4f}"')
    assert device.ask({"plan": less, "trips": []}) == {"problem": "plan-promises-too-much"}
    large = shuffled(Plan.single_report(PLAN.grid, 6.5), 1_000_000)
    assert device.ask({"plan": large.to_json(), "trips": [], "ledger": "ben"}) == {
        "problem": "plan-over-limit"
    }
    total = weekly(PLAN, 31)
    assert device.ask({"plan": total.to_json(), "ledger": "ben", "accept": True}) == {
        "problem": "plan-over-limit"
    }


def test_the_promise_is_said_alike() -> None:
    """In JavaScript and in Python; the Java client is compared with all it says."""
    found = Plan.single_report(PLAN.grid, "2.75")
    week = weekly(found, 3, honest=Fraction("0.875"), epsilon=Fraction("2.5"), lifetime=Fraction("7.5"))
    code = (
        f"import {{ readPlan, shuffledPromise }} from '{CLIENTS}/js/index.js';"
        "for (const text of process.argv.slice(1)) console.log(JSON.stringify(shuffledPromise(await readPlan(text))));"
    )
    plans = (PLAN, shuffled(PLAN), shuffled(found, 1_234_567), week)
    command = [require("Node"), "--input-type=module", "-e", code, *(plan.to_json() for plan in plans)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        shuffled_promise(plan) for plan in plans
    ], done.stderr


def test_a_chain_names_the_plan_before_it(device: CommandDevice) -> None:
    """Of three rounds the third extends the plan of two, and no earlier one."""
    rounds = [
        Round((Ask(Start(2), GRR(4, 1, ratio_at_most(Fraction(k, 10)))),), "everyone") for k in (1, 2, 3)
    ]
    first = Plan("chain", PLAN.grid, Fraction(1), (rounds[0],))
    third = first.extended(rounds[1]).extended(rounds[2])
    assert "report" in device.ask({"plan": third.to_json(), "trips": []})
    wrong = dumps(third.document() | {"extends": first.id}).decode()
    assert device.ask({"plan": wrong, "trips": []}) == {"problem": "plan-malformed"}


def test_reports_have_one_distribution(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """1,000 reports of each client for one plan and two trips: the drawn question and the first item that it names."""
    line = {"plan": PLAN.to_json(), "trips": trip_lines([WALK, WALK[:2]])}
    samples = []
    for name in NAMES:
        with CommandDevice(command(name, request.config), tmp_path) as found:
            reports = reports_of(found, line, 1000)
        samples.append([_category(report) for report in reports])
    # What is rare counts as one: the test is for categories that are expected a few times.
    often = {what for what, count in Counter(chain(*samples)).items() if count >= 30}
    assert len(often) > 20
    for one, other in combinations(samples, 2):
        assert_same_categories(
            *([what if what in often else None for what in sample] for sample in (one, other))
        )


def _category(report: bytes) -> tuple[int, int]:
    """The group of a report, and the first item that it names."""
    [(_, [named, *_])] = read_report(report, PLAN, 0)
    return Report.decode(report).group, named[0]


def test_the_command_audits_any_client(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(ONE_GRR.to_json())
    options = ("--trials", "100", "--device")
    result = run("audit", "plan.json", *options, command("python", request.config))
    assert result.exit_code == 0, result.output
    assert "Not tried: the randomizers case by case" in result.stdout
    Path("redraws.py").write_text(REDRAWS)
    result = run("audit", "plan.json", *options, f"{sys.executable} redraws.py {{ledgers}}")
    assert result.exit_code == 1
    assert "The ledger does not keep its word that a retry gets the same bytes" in result.stdout


def test_seals_of_one_client_are_opened_by_another(request: pytest.FixtureRequest) -> None:
    """Python seals and JavaScript and Java open, and the other way round."""
    key, text = CuratorKey.drawn(), b"a report of one size"
    info, label = bound_info("ab" * 32), label_bytes(2913)
    bound = [key.public.hex(), info.hex(), label.hex()]
    tests = java_tests(request.config)

    def node(call: str) -> str:
        code = (
            f"import {{ seal }} from '{CLIENTS}/js/src/seals.js'; import {{ open }} from '{CLIENTS}/js/test/seals.js';"
            "import { bytes, hex } from '" + f"{CLIENTS}/js/test/check.js';"
            "const [point, info, label, data, secret] = process.argv.slice(1).map(bytes);"
            f"console.log(hex(await {call}));"
        )
        return f"{require('Node')}\0--input-type=module\0-e\0{code}\0--"

    def said(command: str, *given: str) -> bytes:
        done = subprocess.run(
            [*command.split("\0"), *given], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return bytes.fromhex(done.stdout)

    java = "\0".join((*JVM, "-cp", tests, "org.ldptrace.device.Sealing"))
    sealed = {
        "python": Sealer.of_plan(key.public, "ab" * 32).seal(text, 2913),
        "javascript": said(node("seal(point, info, label, data)"), *bound, text.hex()),
        "java": said(f"{java}\0seal", *bound, text.hex()),
    }
    for name, data in sealed.items():
        assert len(data) == len(text) + 81
        assert key.opener("ab" * 32).open(data, label) == text, name
        opened = said(node("open({ secret, point, info, label }, data)"), *bound, data.hex(), key.text)
        assert opened == text, name
        assert said(f"{java}\0open", key.text, *bound, data.hex()) == text, name
