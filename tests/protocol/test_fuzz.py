"""Readers of plans and reports on random, cut, changed, oversized and nested input: an answer, soon, or a problem."""

from __future__ import annotations

import json
import re
import tracemalloc
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.protocol.canonical import decimal_in, decimal_of, dumps, loads
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem, ReportRejected
from ldptrace.protocol.reports import read_report, report_bytes

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
PLANS = [
    Plan.single_report(GRID, 1.0),
    Plan.paper(GRID, 1.0).paper_second_round(3),
    Plan.paper(GRID, 1.0, method="combtran").paper_second_round(2),
]
DOCUMENTS = [plan.to_json().encode() for plan in PLANS]


def check_plan(data: bytes) -> None:
    """Either a problem, or a plan that writes the same bytes, keeps its budget and can be answered."""
    try:
        plan = Plan.from_json(data)
    except PlanRefused:
        return
    assert plan.to_json().encode() == data
    assert Fraction(plan.spent) <= plan.epsilon
    if plan.is_private:
        Reporter(plan, "none").report([(1.0, 1.0)])


def test_the_plans_themselves_pass() -> None:
    for document in DOCUMENTS:
        check_plan(document)


def check_report(data: bytes, plan: Plan, number: int) -> None:
    """The plain reader and the compiled one say the same."""
    try:
        read_report(data, plan, number)
        problem = 0
    except ReportRejected as rejection:
        problem = rejection.problem.number
    codes = Receiver(plan, number).receive(data).tolist()
    if len(data) == report_bytes(plan.rounds[number]):
        assert codes == [problem]
    else:
        assert problem != 0


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=400))
def test_random_bytes_as_plans(data: bytes) -> None:
    check_plan(data)


@given(values)
def test_random_documents_as_plans(value: Any) -> None:
    check_plan(dumps(value))


@given(st.sampled_from(DOCUMENTS), st.data())
def test_changed_bytes_of_plans(document: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(document)))
    end = data.draw(st.integers(start, min(len(document), start + 20)))
    check_plan(document[:start] + data.draw(st.binary(max_size=20)) + document[end:])


@given(st.sampled_from(DOCUMENTS), values, st.data())
def test_changed_values_of_plans(document: bytes, value: Any, data: st.DataObject) -> None:
    """One entry anywhere in the document is replaced, removed or doubled."""
    root = json.loads(document)
    places = list(_places(root))
    holder, key = data.draw(st.sampled_from(places))
    action = data.draw(st.sampled_from(["replace", "remove", "double", "number"]))
    if action == "replace":
        holder[key] = value
    elif action == "number":
        holder[key] = data.draw(st.integers(-2, 300) | st.integers())
    elif action == "remove":
        del holder[key]
    elif isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key + "x"] = holder[key]
    check_plan(dumps(root))


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 60_000,
        b'{"a":' * 12_000,
        b"[" * 30_000 + b"]" * 30_000,
        b"1" * 60_000,
        b'{"format":"ldptrace-plan","version":' + b"9" * 60_000 + b"}",
        b'{"format":"ldptrace-plan","version":1,"x":"' + b"a" * 60_000 + b'"}',
        b"\xff" * 60_000,
        b'"\\ud800"',
        b"\xed\xa0\x80",
    ],
)
def test_hostile_documents_cost_little(data: bytes) -> None:
    tracemalloc.start()
    check_plan(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def largest(question: dict[str, Any], domain: int, capacity: int, size: int) -> bytes:
    ratio = ["1099511627777", "1099511627776"]
    randomizer = {"kind": "privset", "domain": domain, "capacity": capacity, "ratio": ratio, "size": size}
    ask = {"question": question, "randomizer": randomizer, "share": 65536}
    round_ = {"assignment": "everyone", "padded": True, "asks": [ask]}
    document = {
        "format": "ldptrace-plan",
        "version": 1,
        "method": "large",
        "grid": {"bounds": ["0", "0", "1", "1"], "crs": None, "n": 256},
        "epsilon": "1",
        "campaign": None,
        "standing": None,
        "extends": None,
        "rounds": [round_] * 16,
    }
    return dumps(document)


def test_the_largest_plan_is_answered() -> None:
    document = largest({"name": "moves", "most": 256}, 8 * 256**2 - 12 * 256 + 4, 256, 4096)
    plan = Plan.from_json(document)
    report = Reporter(plan, "none").report([(0.0, 0.0), (1.0, 1.0)])
    assert len(read_report(report, plan, 15)) == 1


def test_what_is_larger_is_refused_before_it_costs_anything() -> None:
    too_many = largest({"name": "moves", "most": 256}, 8 * 256**2 - 12 * 256 + 4, 256, 4097)
    with pytest.raises(PlanRefused) as refusal:
        Plan.from_json(too_many)
    assert refusal.value.problem is Problem.PLAN_MALFORMED


@pytest.mark.slow
@given(st.sampled_from(PLANS), st.binary(max_size=300))
def test_random_bytes_as_reports(plan: Plan, data: bytes) -> None:
    check_report(data, plan, len(plan.rounds) - 1)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(PLANS), st.data())
def test_changed_bytes_of_reports(plan: Plan, data: st.DataObject) -> None:
    number = len(plan.rounds) - 1
    report = bytearray(Reporter(plan, "none").draw([(1.0, 1.0), (4.0, 2.0)], number))
    for _ in range(data.draw(st.integers(0, 3))):
        report[data.draw(st.integers(0, len(report) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    if data.draw(st.booleans()):
        report[18] = data.draw(st.integers(0, 9))
    cut = data.draw(st.integers(0, 4))
    check_report(bytes(report[: len(report) - cut] if cut else report), plan, number)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e20, max_value=1e20))
def test_decimals_come_back(value: float) -> None:
    if abs(value) > 1e-15 or value == 0:
        assert decimal_in(decimal_of(value), "x") == value


@given(values)
def test_canonical_documents_come_back(value: Any) -> None:
    text = dumps(value)
    try:
        assert loads(text) == value
    except ValueError:
        # Floats, escapes, large integers and deep nesting are not part of the protocol.
        number = re.search(rb"[0-9]{16}|[.e]", text)
        assert number or b"\\" in text or text.count(b"[") + text.count(b"{") > 10
