"""The Python device and curator against the golden vectors, and the vectors against their generator."""

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
from ldptrace.device import Ledger, Recording, Reporter, trip_of
from ldptrace.device.track import occasion_among
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_DOCUMENT, MAX_PAYLOAD, MAX_WORK
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem, ReportRejected
from ldptrace.protocol.questions import QUESTIONS, question_from
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import read_report, report_bytes, window_of
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import Occasion, Trip

PROTOCOL = Path(__file__).parents[2] / "protocol"
VECTORS = PROTOCOL / "vectors" / "v1"


# What the file of a plan holds besides the plan.
OF_PLANS = ("reports", "tallies", "rejected_reports")


@cache
def load(name: str) -> list[dict[str, Any]]:
    """Vectors of one kind: of one file, of the files of all questions, or of those of all plans."""
    if name in ("questions", "plans"):
        found = [json.loads(path.read_text()) for path in sorted((VECTORS / name).iterdir())]
        return found if name == "plans" else [vector for vectors in found for vector in vectors]
    if name in OF_PLANS:
        return [{"plan": plan["name"]} | vector for plan in load("plans") for vector in plan[name]]
    vectors: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text())
    return vectors


@cache
def plan_named(name: str) -> Plan:
    return Plan.from_json(next(v["document"] for v in load("plans") if v["name"] == name))


class Replay(Source):
    """Hands out the bytes of a vector; all of them must be used."""

    def __init__(self, text: str) -> None:
        self.reader = BytesReader(bytes.fromhex(text))
        super().__init__(self.reader)

    def assert_used_up(self) -> None:
        assert self.reader.position == len(self.reader.data)


@pytest.mark.slow
def test_the_generator_still_writes_these_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, PROTOCOL / "vectors" / "generate.py", tmp_path], check=True, timeout=120)
    written, kept = (
        {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.json")}
        for folder in (tmp_path, VECTORS)
    )
    assert written.keys() == kept.keys()
    changed = [name for name in kept if kept[name] != written[name]]
    assert not changed, f"run python protocol/vectors/generate.py, these files changed: {changed}"


def test_integers() -> None:
    for vector in load("integers"):
        source = Replay(vector["random"])
        if "below" in vector:
            assert source.below(int(vector["below"])) == int(vector["value"])
        else:
            assert source.subset(vector["subset"], vector["size"]) == vector["value"]
        source.assert_used_up()


def points_of(vector: dict[str, Any]) -> list[tuple[float, ...]]:
    return [tuple(map(float, point)) for point in vector.get("points", ())]


def times_of(vector: dict[str, Any]) -> tuple[float | None, float | None]:
    departure, arrival = (vector.get(name) for name in ("departure", "arrival"))
    return None if departure is None else float(departure), None if arrival is None else float(arrival)


def test_paths() -> None:
    for vector in load("paths"):
        x0, y0, x1, y1 = map(float, vector["bounds"])
        trip = trip_of(points_of(vector), Grid((x0, y0, x1, y1), vector["n"]))
        assert (trip.path, trip.departure, trip.arrival) == (vector["path"], *times_of(vector))


def test_questions() -> None:
    for vector in load("questions"):
        question, source = question_from(vector["n"], vector["question"]), Replay(vector["random"])
        assert (question.domain, question.capacity) == (vector["domain"], vector["capacity"])
        trip = Trip(vector["path"], points_of(vector), *times_of(vector))
        assert question.answer(Occasion(trip, vector["trips"]), source) == vector["slots"]
        source.assert_used_up()
    assert {vector["question"]["name"] for vector in load("questions")} == set(QUESTIONS)


def channel_of(data: dict[str, Any]) -> Randomizer:
    ratio = Fraction(*map(int, data["ratio"]))
    if data["kind"] == "privset":
        return PrivSet(data["domain"], data["capacity"], ratio, data["size"])
    return {"oue": OUE, "grr": GRR}[data["kind"]](data["domain"], data["capacity"], ratio)


def test_randomizers() -> None:
    for vector in load("randomizers"):
        channel, source = channel_of(vector["randomizer"]), Replay(vector["random"])
        named = channel.perturb(vector["items"], source)
        source.assert_used_up()
        assert list(named) == vector["named"]
        assert channel.encode(named).hex() == vector["payload"]
        assert channel.decode(bytes.fromhex(vector["payload"])) == named
        p, q = (Fraction(*map(int, vector[name])) for name in ("p", "q"))
        assert channel.probabilities == (p, q)


def test_plans() -> None:
    for vector in load("plans"):
        plan = Plan.from_json(vector["document"])
        assert plan.to_json() == vector["document"]
        assert (plan.id, plan.root, list(plan.chain)) == (vector["id"], vector["root"], vector["chain"])
        assert [report_bytes(round_) for round_ in plan.rounds] == vector["report_bytes"]
        assert plan.is_private == vector["private"]
        assert f"{plan.spent:.40f}" == vector["spent"]


def test_reports() -> None:
    for vector in load("reports"):
        source = Replay(vector["random"])
        plan = plan_named(vector["plan"])
        occasion = Occasion(trip_of(points_of(vector), plan.grid), vector["trips"])
        report = Reporter(plan, "none").draw_about(occasion, vector["round"], source, window=vector["window"])
        source.assert_used_up()
        assert report.hex() == vector["report"]


def test_every_question_and_randomizer_is_on_the_wire() -> None:
    seen = set()
    for vector in load("reports"):
        for ask, _ in read_report(
            bytes.fromhex(vector["report"]), plan_named(vector["plan"]), vector["round"]
        ):
            seen.add((ask.question.name, ask.randomizer.kind))
    assert {name for name, _ in seen} == set(QUESTIONS)
    assert {kind for _, kind in seen} == {"grr", "oue", "privset"}


@pytest.mark.slow
def test_tallies() -> None:
    for vector in load("tallies"):
        receiver = Receiver(plan_named(vector["plan"]), vector["round"], window=vector["window"])
        assert (
            receiver.receive(bytes.fromhex(vector["batch"]) + bytes(vector["zeros"])).tolist()
            == vector["problems"]
        )
        assert receiver.tally.to_json() == vector["tally"]


def test_refused_plans() -> None:
    for vector in load("refused_plans"):
        with pytest.raises(PlanRefused) as refusal:
            Plan.from_json(vector["document"].encode() + b" " * vector["spaces"])
        assert refusal.value.problem.code == vector["problem"], vector["name"]


def test_rejected_reports() -> None:
    for vector in load("rejected_reports"):
        plan = plan_named(vector["plan"])
        data = bytes.fromhex(vector["report"]) + bytes(vector["zeros"])
        with pytest.raises(ReportRejected) as rejection:
            read_report(data, plan, vector["round"])
        assert rejection.value.problem.code == vector["problem"], vector["name"]
        # A batch is cut into pieces, so only a report of the right size is judged as one.
        if len(data) == report_bytes(plan.rounds[vector["round"]]):
            codes = Receiver(plan, vector["round"]).receive(data).tolist()
            assert [Problem.of_number(code).code for code in codes] == [vector["problem"]]


@pytest.mark.parametrize("vector", load("ledgers"), ids=lambda vector: vector["name"])
def test_ledgers(vector: dict[str, Any], tmp_path: Path) -> None:
    plans = {name: Plan.from_json(document) for name, document in vector["plans"].items()}
    ledger, reports = Ledger(tmp_path / "ledger.json", vector["limit"]), list[bytes | None]()
    for step in vector["steps"]:
        reports.append(None)
        if step["do"] == "restart":
            ledger = Ledger(tmp_path / "ledger.json", vector["limit"])
        elif step["do"] == "sent":
            Reporter(plans[step["plan"]], ledger).sent(step["round"])
        else:
            try:
                reports[-1] = Reporter(plans[step["plan"]], ledger).report([(0.5, 0.5)], step["round"])
                first = reports.index(reports[-1])
                found = "fresh" if first == len(reports) - 1 else first
            except PlanRefused as refusal:
                found = refusal.problem.code
            assert found == step["result"], step
        assert ledger.spent == Fraction(step["spent"])


def test_occasions() -> None:
    for vector in load("occasions"):
        standing = Standing.from_document(vector["standing"])
        arrivals = [float(text) for text in vector["arrivals"]]
        places = standing.eligible(arrivals, vector["window"], vector["phase"], vector["accepted"])
        assert places == vector["eligible"], vector["name"]
        source = Replay(vector["random"])
        recordings = [Recording([(place, 0.0)]) for place in places]
        occasion = occasion_among(recordings, Grid((0, 0, 60, 60), 60), source)
        source.assert_used_up()
        assert occasion.trips == vector["trips"]
        assert [x for x, _ in occasion.trip.points] == (
            [] if vector["chosen"] is None else [vector["chosen"]]
        )


@pytest.mark.parametrize("vector", load("windows"), ids=lambda vector: vector["name"])
def test_windows(vector: dict[str, Any], tmp_path: Path) -> None:
    plans = {name: Plan.from_json(document) for name, document in vector["plans"].items()}
    path = tmp_path / "ledger.json"
    ledger, reports = Ledger(path, vector["limit"]), list[bytes | None]()
    for step in vector["steps"]:
        reports.append(None)
        if step["do"] in ("restart", "limit"):
            ledger = Ledger(path, step.get("limit"))
        elif step["do"] == "sent":
            Reporter(plans[step["plan"]], ledger).sent(window=step["window"])
        elif step["do"] == "accept":
            reader = BytesReader(bytes.fromhex(step["random"]))
            row = ledger.accept(plans[step["plan"]], float(step["now"]), Source(reader))
            assert (row.phase, row.window) == (step["phase"], step["window"])
        else:
            assert asked(Reporter(plans[step["plan"]], ledger), float(step["now"]), reports) == step["result"]
        assert Ledger(path).spent == Fraction(step["spent"])


def asked(reporter: Reporter, now: float, reports: list[bytes | None]) -> str:
    """What asking for a report gives, in the words of the vectors."""
    try:
        if reporter.plan.standing is None:
            report = reporter.report([(0.5, 0.5)])
        else:
            report = reporter.report([Recording([(0.5, 0.5)], 1.7e9)], now=now)
    except PlanRefused as refusal:
        return refusal.problem.code
    if report in reports:
        return str(reports.index(report))
    reports[-1] = report
    return f"fresh:{window_of(report)}"


def test_problems_are_listed() -> None:
    listed = json.loads((PROTOCOL / "v1" / "problems.json").read_text())
    ours = [{"number": p.number, "code": p.code, "status": p.status, "sentence": p.sentence} for p in Problem]
    assert json.loads((PROTOCOL / "v2" / "problems.json").read_text()) == ours
    assert listed == ours[: len(listed)]
    texts = [(PROTOCOL / name).read_text() for name in ("v1.md", "v2.md")]
    for number, p in enumerate(Problem):
        row = f"| {p.number} | `{p.code}` | {p.status} | {p.sentence} |"
        assert row in texts[number >= len(listed)]


def test_the_text_names_every_question() -> None:
    text = (PROTOCOL / "v1.md").read_text()
    for name in QUESTIONS:
        assert f"| `{name}` |" in text


# Faults that a schema cannot see: how it is written, sums, order, and what has to agree.
SHAPELESS = {
    "a space",
    "a space inside",
    "a line break at the end",
    "an escape",
    "a key twice",
    "keys not sorted",
    "a fraction",
    "an exponent",
    "as large as allowed, with spaces",
    "epsilon '0'",
    "epsilon '21'",
    "epsilon '20.000000000000000001'",
    "method 'a\\n'",
    "bound '0.1000000000000000055'",
    "bounds without width",
    "bounds without height",
    "bounds turned in x",
    "bounds turned in y",
    "an ask twice",
    "shares that add up to less",
    "shares that add up to more",
    "everyone with a smaller share",
    "everyone with shares",
    "more moves than there are",
    "more visits than cells",
    "more links than there are",
    "centre 36",
    "another domain",
    "another capacity",
    "size 221",
    "ratio: not in lowest terms",
    "ratio: two over one not in lowest terms",
    "ratio: one",
    "ratio: below one",
    "ratio: a denominator that is no power of two",
    "ratio: a denominator above 2^40",
    "ratio: a numerator of 2^70",
    "reach of speeds 13",
    "campaign: name 'a\\n'",
    "standing: recent 604801",
    "standing: grace 604801",
    "standing: lifetime '1.4'",
    "standing: lifetime '1.499999999999999999'",
    "standing: lifetime '0'",
    "standing: lifetime above 999",
    "extends nothing",
    "extends itself",
    "extends another plan",
    "extends with another epsilon",
    "extends with another first round",
}


def test_the_schema_describes_the_plans() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((PROTOCOL / "v1" / "plan.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    limits = {"document_bytes": MAX_DOCUMENT, "payload_bytes": MAX_PAYLOAD, "work": MAX_WORK}
    assert schema["x-limits"] == limits
    for vector in load("plans"):
        validator.validate(json.loads(vector["document"]))
    for vector in load("refused_plans"):
        beyond = vector["problem"] in ("plan-overspends", "plan-too-large") or vector["name"] in SHAPELESS
        try:
            document = json.loads(vector["document"])
        except (ValueError, RecursionError):
            continue
        assert validator.is_valid(document) == beyond, vector["name"]
