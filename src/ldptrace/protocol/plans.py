"""Reading a plan document: every type, range, key and sum is checked before anything is built from it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ldptrace.errors import InputError, PlanError
from ldptrace.grid import MAX_N, Grid
from ldptrace.plan import CRS_PATTERN, FORMAT, METHOD_PATTERN, SHARES, VERSION, Ask, Plan, Round
from ldptrace.protocol.canonical import decimal_in, integer_in, list_in, loads, object_in, text_in
from ldptrace.protocol.limits import (
    EPSILON_DIGITS,
    MAX_CAPACITY,
    MAX_DOCUMENT,
    MAX_DOMAIN,
    MAX_PAYLOAD,
    MAX_RATIO_NUMERATOR,
    MAX_ROUNDS,
    RATIO_BITS,
)
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.questions import question
from ldptrace.randomizers import GRR, OUE, PrivSet, Randomizer


def read_plan(data: bytes) -> Plan:
    """The plan in these bytes, or `PlanRefused` with the problem."""
    if len(data) > MAX_DOCUMENT:
        raise PlanRefused(
            Problem.PLAN_TOO_LARGE, f"a plan has at most {MAX_DOCUMENT:,} bytes, this one has {len(data):,}"
        )
    try:
        return _plan(loads(data))
    except PlanRefused:
        raise
    except InputError as error:
        raise PlanRefused(Problem.PLAN_MALFORMED, str(error)) from None


def _plan(data: Any) -> Plan:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanError(f"the document's format is not {FORMAT!r}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise PlanRefused(
            Problem.PLAN_UNKNOWN_VERSION,
            f"this is a plan of version {str(data.get('version'))[:40]}, known is {VERSION}",
        )
    object_in(data, ("format", "version", "method", "grid", "epsilon", "extends", "rounds"), "the plan")
    area = object_in(data["grid"], ("bounds", "crs", "n"), "grid")
    x0, y0, x1, y1 = (decimal_in(value, "a bound") for value in list_in(area["bounds"], 4, 4, "bounds"))
    grid = Grid((x0, y0, x1, y1), integer_in(area["n"], 2, MAX_N, "n"))
    plan = Plan(
        method=text_in(data["method"], METHOD_PATTERN, "method"),
        grid=grid,
        epsilon=Fraction(
            text_in(data["epsilon"], rf"[0-9]{{1,2}}(\.[0-9]{{1,{EPSILON_DIGITS}}})?", "epsilon")
        ),
        rounds=tuple(_round(grid.n, entry) for entry in list_in(data["rounds"], 1, MAX_ROUNDS, "rounds")),
        extends=None if data["extends"] is None else text_in(data["extends"], r"[0-9a-f]{64}", "extends"),
        crs=None if area["crs"] is None else text_in(area["crs"], CRS_PATTERN, "crs"),
    )
    if plan.document() != data:
        raise PlanError("numbers of the plan are not written in their canonical form")
    return plan


def _round(n: int, entry: object) -> Round:
    data = object_in(entry, ("assignment", "asks", "padded"), "a round")
    if data["assignment"] not in ("everyone", "partition") or not isinstance(data["padded"], bool):
        raise PlanError("a round's assignment is everyone or partition, and padded is true or false")
    asks = tuple(_ask(n, item) for item in list_in(data["asks"], 1, 255, "asks"))
    round_ = Round(asks, data["assignment"], data["padded"])
    if round_.payload_bytes > MAX_PAYLOAD:
        raise PlanRefused(
            Problem.PLAN_TOO_LARGE,
            f"a payload has at most {MAX_PAYLOAD:,} bytes, this round asks for {round_.payload_bytes:,}",
        )
    return round_


def _ask(n: int, entry: object) -> Ask:
    data = object_in(entry, ("question", "randomizer", "share"), "an ask")
    if not isinstance(data["question"], dict):
        raise PlanError("a question must be an object")
    asked = question(n, data["question"])
    return Ask(asked, _randomizer(data["randomizer"]), integer_in(data["share"], 1, SHARES, "share"))


def _randomizer(data: object) -> Randomizer:
    kind = data.get("kind") if isinstance(data, dict) else None
    common = ("kind", "domain", "capacity", "ratio")
    fields = object_in(data, (*common, "size") if kind == PrivSet.kind else common, "a randomizer")
    domain = integer_in(fields["domain"], 1, MAX_DOMAIN, "domain")
    capacity = integer_in(fields["capacity"], 1, MAX_CAPACITY, "capacity")
    ratio = _ratio(fields["ratio"])
    if kind == PrivSet.kind:
        return PrivSet(domain, capacity, ratio, integer_in(fields["size"], 1, MAX_DOMAIN, "size"))
    if kind == OUE.kind:
        return OUE(domain, capacity, ratio)
    if kind == GRR.kind:
        return GRR(domain, capacity, ratio)
    raise PlanError(f"unknown randomizer {str(kind)[:40]!r}; known are grr, oue, privset")


def _ratio(data: object) -> Fraction:
    pair = list_in(data, 2, 2, "a ratio")
    numerator, denominator = (int(text_in(value, r"[1-9][0-9]{0,21}", "a ratio's integer")) for value in pair)
    if numerator > MAX_RATIO_NUMERATOR or (1 << RATIO_BITS) % denominator:
        raise PlanError(
            f"a ratio is an integer below 2^70 over a power of two up to 2^{RATIO_BITS}, got {pair}"
        )
    return Fraction(numerator, denominator)
