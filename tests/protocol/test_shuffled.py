"""Plans whose reports are shuffled, and the vectors of version 2."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ldptrace.curator.receive import Receiver
from ldptrace.device import Ledger, Reporter, trip_of
from ldptrace.errors import PlanError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_BATCH
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem, ReportRejected
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import read_report, report_bytes
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.shuffling import divergence, local_epsilon, stated_epsilon
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import Occasion

PROTOCOL = Path(__file__).parents[2] / "protocol"
VECTORS = PROTOCOL / "vectors" / "v2"
CLUB = Shuffled(
    GENERATOR, 10_000, 0.9, 1e-8, "0.5", None, 1_800_000_000, "A club", "https://shuffler.example"
)
DIRECT = Plan.single_report(Grid((0, 0, 6, 6), 6), 2)
SHUFFLED = DIRECT.changed(shuffled=CLUB)
WEEK = Standing.of(604_800, epsilon=2)


@cache
def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


@cache
def plans() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((VECTORS / "plans").iterdir())]


# -- the document ------------------------------------------------------------------------------------------


def test_a_plan_has_version_2_only_if_its_reports_are_shuffled() -> None:
    assert (DIRECT.version, SHUFFLED.version) == (1, 2)
    assert "shuffled" not in DIRECT.document()
    assert Plan.from_json(SHUFFLED.to_json()) == SHUFFLED
    assert SHUFFLED.changed(shuffled=None).id == DIRECT.id


def test_numbers_are_kept_as_they_were_written() -> None:
    assert CLUB.honest == Fraction(9, 10)
    assert CLUB.delta == Fraction(1, 10**8)
    assert CLUB.document()["delta"] == "0.00000001"
    assert CLUB.changed(honest="0.8999", batch=10_001).hidden == 8_999


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"key": GENERATOR[:-1] + b"\0"}, "P-256"),
        ({"batch": 1}, "batch"),
        ({"batch": MAX_BATCH + 1}, "batch"),
        ({"honest": "0.00001"}, "digits after the point"),
        ({"honest": "0.0001", "batch": 9_999}, "at least one device"),
        ({"honest": 0}, "share of honest"),
        ({"honest": "1.1"}, "share of honest"),
        ({"delta": "0.0000011"}, "delta of one answer"),
        ({"delta": "0.0000000000000001"}, "delta of one answer"),
        ({"epsilon": "0.00001"}, "at least 0.0001"),
        ({"until": -1}, "until"),
        ({"operator": " club"}, "operator"),
        ({"operator": "<b>club</b>"}, "operator"),
        ({"address": "ftp://shuffler.example"}, "address"),
    ],
)
def test_fields_out_of_their_ranges_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(Exception, match=says) as refusal:
        CLUB.changed(**changes)
    assert isinstance(refusal.value, ValueError)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": Fraction(3)}, "at most the epsilon of the plan"),
        ({"until": None}, "has until"),
        ({"lifetime": Fraction(1)}, "no central lifetime"),
    ],
)
def test_what_does_not_fit_the_plan_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        DIRECT.changed(shuffled=CLUB.changed(**changes))


def test_a_standing_plan_has_a_central_lifetime_in_place_of_until() -> None:
    standing = DIRECT.changed(standing=WEEK)
    with pytest.raises(PlanError, match="central lifetime"):
        standing.changed(shuffled=CLUB)
    fitting = CLUB.changed(lifetime=Fraction(1), until=None)
    assert standing.changed(shuffled=fitting).shuffled == fitting
    with pytest.raises(PlanError, match="at least one answer"):
        standing.changed(shuffled=fitting.changed(lifetime=Fraction(1, 10)))


def test_shuffled_plans_have_one_round_of_one_size() -> None:
    first = Plan.paper(Grid((0, 0, 6, 6), 6), 2)
    assert first.changed(shuffled=CLUB).shuffled is CLUB
    with pytest.raises(PlanError, match="one round"):
        first.paper_second_round(4).changed(shuffled=CLUB)
    with pytest.raises(PlanRefused) as refusal:
        first.changed(shuffled=CLUB, rounds=(first.rounds[0].changed(padded=False),))
    assert refusal.value.problem is Problem.PLAN_NOT_PRIVATE


# -- the promise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("local", "batch"), [(0.5, 1_000), (2.0, 10_000), (4.2, 8_000), (6.0, 300_000)])
def test_a_plan_that_claims_less_is_refused(local: float, batch: int) -> None:
    stated = stated_epsilon(batch * 9 // 10, local, 1e-8)
    plan = Plan.single_report(Grid((0, 0, 6, 6), 6), local)
    row = CLUB.changed(batch=batch, epsilon=Fraction(str(stated)))
    assert plan.changed(shuffled=row).shuffled == row
    for less in (
        row.changed(epsilon=Fraction(f"{stated * 0.985:.6f}")),
        row.changed(honest=Fraction("0.8")),
        row.changed(batch=batch * 9 // 10),
        row.changed(delta=Fraction(1, 10**12)),
    ):
        with pytest.raises(PlanRefused) as refusal:
            plan.changed(shuffled=less)
        assert refusal.value.problem is Problem.PLAN_PROMISES_TOO_MUCH


def test_a_wanted_central_epsilon_gives_a_plan_that_devices_answer() -> None:
    local = local_epsilon(9_000, 1, 1e-8)
    plan = Plan.single_report(Grid((0, 0, 6, 6), 6), local).changed(shuffled=CLUB.changed(epsilon=1))
    assert Plan.from_json(plan.to_json()) == plan


# -- reports -----------------------------------------------------------------------------------------------


def test_reports_of_shuffled_and_direct_plans_do_not_mix() -> None:
    shuffled, direct = (Reporter(plan, "none").draw([(1, 1)], 0) for plan in (SHUFFLED, DIRECT))
    assert (shuffled[0], direct[0], len(shuffled)) == (2, 1, len(direct))
    unknown = Problem.UNKNOWN_VERSION
    assert Receiver(SHUFFLED).receive(shuffled + b"\1" + shuffled[1:]).tolist() == [0, unknown.number]
    assert Receiver(DIRECT).receive(direct + b"\2" + direct[1:]).tolist() == [0, unknown.number]
    with pytest.raises(ReportRejected, match="unknown-version"):
        read_report(b"\1" + shuffled[1:], SHUFFLED, 0)


# -- the vectors of version 2 ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_generator_still_writes_these_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, PROTOCOL / "vectors" / "shuffled.py", tmp_path], check=True, timeout=120)
    written = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.json")}
    kept = {str(path.relative_to(VECTORS)): path.read_text() for path in VECTORS.rglob("*.json")}
    del kept["seals.json"]
    assert written.keys() == kept.keys()
    changed = [name for name in written if kept[name] != written[name]]
    assert not changed, f"run python protocol/vectors/shuffled.py, these files changed: {changed}"
    assert json.loads(written["index.json"]) == sorted([*(set(kept) - {"index.json"}), "seals.json"])


@pytest.mark.slow
def test_the_accountant_meets_its_vectors() -> None:
    for vector in load("accountant"):
        found = divergence(vector["n"], float(vector["local"]), float(vector["central"]))
        if "fits" in vector:
            assert (found <= float(vector["delta"])) == vector["fits"], vector
        else:
            assert found == pytest.approx(float(vector["divergence"]), rel=1e-9, abs=0)


def test_plans_and_their_reports() -> None:
    for vector in plans():
        plan = Plan.from_json(vector["document"])
        assert plan.shuffled is not None
        assert (plan.to_json(), plan.id, plan.version) == (vector["document"], vector["id"], 2)
        assert plan.shuffled.hidden == vector["hidden"]
        assert [report_bytes(plan.rounds[0])] == vector["report_bytes"]
        for about in vector["reports"]:
            source = Source(BytesReader(bytes.fromhex(about["random"])))
            points = [tuple(map(float, point)) for point in about["points"]]
            occasion = Occasion(trip_of(points, plan.grid), about["trips"])
            made = Reporter(plan, "none").draw_about(occasion, 0, source, window=about["window"])
            assert made.hex() == about["report"]
        for about in vector["tallies"]:
            receiver = Receiver(plan, window=about["window"])
            assert receiver.receive(bytes.fromhex(about["batch"])).tolist() == about["problems"]
            assert receiver.tally.to_json() == about["tally"]
        for about in vector["rejected_reports"]:
            with pytest.raises(ReportRejected) as rejection:
                read_report(bytes.fromhex(about["report"]), plan, 0)
            assert rejection.value.problem.code == about["problem"]


@pytest.mark.parametrize("vector", load("refused_plans"), ids=lambda vector: vector["name"])
def test_refused_plans(vector: dict[str, Any]) -> None:
    with pytest.raises(PlanRefused) as refusal:
        Plan.from_json(vector["document"].encode() + b" " * vector["spaces"])
    assert refusal.value.problem.code == vector["problem"]


# Faults that a schema cannot see: sums, order, and what has to agree.
SHAPELESS = {
    "epsilon '0'",
    "epsilon '0.00009'",
    "epsilon '2.000000001'",
    "epsilon '21'",
    "delta '0.00000101'",
    "delta '0.000002'",
    "delta '0.0000000000000009'",
    "honest devices that are less than one",
    "key '" + GENERATOR.hex()[:-2] + "ff'",
    "operator 'a\\n'",
    "standing: lifetime '0.4'",
    "too small an epsilon",
}


def test_the_schema_describes_the_plans() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema, first = (
        json.loads((PROTOCOL / version / "plan.schema.json").read_text()) for version in ("v2", "v1")
    )
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert schema["x-limits"] == first["x-limits"]
    same = {name: part for name, part in first["$defs"].items() if name != "round"}
    assert {name: schema["$defs"][name] for name in same} == same
    for vector in plans():
        validator.validate(json.loads(vector["document"]))
    for vector in load("refused_plans"):
        beyond = vector["problem"] == "plan-promises-too-much" or vector["name"] in SHAPELESS
        assert validator.is_valid(json.loads(vector["document"])) == beyond, vector["name"]


@pytest.mark.parametrize("vector", load("ledgers"), ids=lambda vector: vector["name"])
def test_ledgers(vector: dict[str, Any], tmp_path: Path) -> None:
    plans = {name: Plan.from_json(document) for name, document in vector["plans"].items()}
    settings: dict[str, Any] = {}
    reports = list[bytes | None]()
    for step in vector["steps"]:
        reports.append(None)
        ledger = Ledger(tmp_path / "ledger.json", **settings)
        if step["do"] == "set":
            settings |= {name: step[name] for name in ("limit", "local_limit", "most_local") if name in step}
            settings |= {"shuffled": step["shuffled"] == "yes"} if "shuffled" in step else {}
        elif step["do"] == "sent":
            Reporter(plans[step["plan"]], ledger).sent()
        elif step["do"] != "restart":
            assert _done(Reporter(plans[step["plan"]], ledger), step, reports) == step["result"], step
        cost = Ledger(tmp_path / "ledger.json", **settings).cost
        found = {"spent": cost.central, "local": cost.local, "delta": cost.delta}
        assert found == {name: Fraction(step[name]) for name in found}


def _done(reporter: Reporter, step: dict[str, Any], reports: list[bytes | None]) -> str:
    """What an acceptance or a request gives, in the words of the vectors."""
    ledger, plan, now = reporter.ledger, reporter.plan, float(step["now"])
    assert ledger is not None
    try:
        if step["do"] == "accept":
            random = Source(BytesReader(bytes.fromhex(step["random"])))
            return str(ledger.accept(plan, now, random).window)
        made = reporter.report([], now=now)
    except PlanRefused as refusal:
        return refusal.problem.code
    if made in reports:
        return str(reports.index(made))
    reports[-1] = made
    row = ledger.acceptance(plan)
    return f"fresh:{0 if row is None else row.window}"
