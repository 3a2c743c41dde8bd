"""Documents and reports with one fault each, and the problem that a reader must find."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from draws import Ordinary

from ldptrace.device import Reporter
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_COUNT, MAX_DOCUMENT, MAX_PAYLOAD, RATIO_BITS
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem, ReportRejected
from ldptrace.protocol.questions import Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.reports import HEADER_BYTES, read_report
from ldptrace.protocol.round import SHARES, Ask, Round


def refused(made: dict[str, Plan]) -> list[dict[str, Any]]:
    """Documents with one fault each."""
    plan = made["three questions"]
    second = made["paper, second round"]
    vectors = []

    def add(name: str, document: str, problem: Problem = Problem.PLAN_MALFORMED, spaces: int = 0) -> None:
        if refusal_of(document + " " * spaces) is not problem:
            raise AssertionError(f"{name} is not {problem.code}")
        vectors.append({"name": name, "document": document, "spaces": spaces, "problem": problem.code})

    def edit(
        name: str, change: Callable[[Any], None], problem: Problem = Problem.PLAN_MALFORMED, of: Plan = plan
    ) -> None:
        data = json.loads(of.to_json())
        change(data)
        add(name, dumps(data).decode(), problem)

    text = plan.to_json()
    for name, document in {
        "nothing": "",
        "not JSON": "plan",
        "a list": "[]",
        "cut": text[:-1],
        "a space": " " + text,
        "a line break at the end": text + "\n",
        "an escape": text.replace("vectors", "vector\\u0073"),
        "a key twice": text.replace('{"epsilon"', '{"epsilon":"1.5","epsilon"', 1),
        "keys not sorted": text.replace('"crs":"EPSG:4326","n":6', '"n":6,"crs":"EPSG:4326"'),
        "a fraction": text.replace('"n":6', '"n":6.0'),
        "an exponent": text.replace('"n":6', '"n":6e0'),
        "minus zero": text.replace('"n":6', '"n":-0'),
        "not a number": text.replace('"n":6', '"n":NaN'),
        "a huge integer": text.replace('"n":6', '"n":' + "9" * 5000),
        "beyond ASCII": text.replace("vectors", "vectörs"),
        "deep": "[" * 1000 + "]" * 1000,
        "another format": text.replace("ldptrace-plan", "ldptrace-tally"),
    }.items():
        add(name, document)
    add("too large", text, Problem.PLAN_TOO_LARGE, spaces=MAX_DOCUMENT)
    for version in (0, 2, True, "1", None):
        edit(f"version {version!r}", lambda d, v=version: d.update(version=v), Problem.PLAN_UNKNOWN_VERSION)
    for key in ("epsilon", "extends", "grid", "method", "rounds"):
        edit(f"without {key}", lambda d, k=key: d.pop(k))
        edit(f"{key} a list", lambda d, k=key: d.update({k: []}))
        edit(f"{key} an object", lambda d, k=key: d.update({k: {}}))
    edit("an unknown key", lambda d: d.update(note="x"))
    for value in (
        "0",
        "-1",
        "21",
        "20.1",
        "1.50",
        "01.5",
        "1e0",
        ".5",
        "1.",
        " 1.5",
        "1/2",
        "",
        "1.0000000000000000001",
        1,
        None,
    ):
        edit(f"epsilon {value!r}", lambda d, v=value: d.update(epsilon=v))
    for value in ("", "Vectors", "a b", "x" * 33, 7, None):
        edit(f"method {value!r}", lambda d, v=value: d.update(method=v))
    for value in ("", "a b", "x" * 65, 4326):
        edit(f"crs {value!r}", lambda d, v=value: d["grid"].update(crs=v))
    for value in (1, 0, -6, 257, "6", True, None):
        edit(f"n {value!r}", lambda d, v=value: d["grid"].update(n=v))
    for value in (
        "-8.70",
        "+1",
        "1e3",
        "-0",
        "0x1",
        "NaN",
        "Infinity",
        "",
        "1" * 41,
        "0.1000000000000000055",
        1,
        None,
    ):
        edit(f"bound {value!r}", lambda d, v=value: d["grid"]["bounds"].__setitem__(0, v))
    edit("three bounds", lambda d: d["grid"]["bounds"].pop())
    edit("bounds without width", lambda d: d["grid"].update(bounds=["1", "0", "1", "1"]))
    edit("bounds turned", lambda d: d["grid"].update(bounds=["0", "1", "1", "0"]))
    edit("no rounds", lambda d: d.update(rounds=[]))
    edit(
        "17 rounds", lambda d: d.update(rounds=d["rounds"] + d["rounds"][:1]), of=made["most rounds, at once"]
    )

    def of_round(name: str, change: Callable[[Any], None], problem: Problem = Problem.PLAN_MALFORMED) -> None:
        edit(name, lambda d: change(d["rounds"][0]), problem)

    for value in ("all", None, []):
        of_round(f"assignment {value!r}", lambda r, v=value: r.update(assignment=v))
    for value in (1, "true", None):
        of_round(f"padded {value!r}", lambda r, v=value: r.update(padded=v))
    of_round("no asks", lambda r: r.update(asks=[]))
    of_round("a round with an unknown key", lambda r: r.update(note=1))
    of_round("an ask twice", lambda r: r["asks"].append(r["asks"][0]))
    of_round("everyone with shares", lambda r: r.update(assignment="everyone"))
    of_round("an ask missing, shares too small", lambda r: r["asks"].pop())
    for value in (0, SHARES + 1, -1, "1", True, None):
        of_round(f"share {value!r}", lambda r, v=value: r["asks"][0].update(share=v))
    of_round("a share too large", lambda r: r["asks"][0].update(share=r["asks"][0]["share"] + 1))

    def of_ask(name: str, change: Callable[[Any], None], question: str = "moves") -> None:
        def edit_ask(data: Any) -> None:
            change(next(ask for ask in data["rounds"][0]["asks"] if ask["question"]["name"] == question))

        edit(name, edit_ask)

    for value in ("speed", "", None, 3, [], {}):
        of_ask(f"question {value!r}", lambda a, v=value: a["question"].update(name=v))
    of_ask("a question without its parameter", lambda a: a["question"].pop("most"))
    of_ask("a question with another's parameter", lambda a: a["question"].update(cap=3))
    of_ask("a question that is no object", lambda a: a.update(question="moves"))
    for value in (0, 257, 221, "3", True, None):
        of_ask(f"most {value!r}", lambda a, v=value: a["question"].update(most=v))
    for value in (1, MAX_COUNT + 1, "9"):
        of_ask(f"cap {value!r}", lambda a, v=value: a["question"].update(cap=v), question="length")
    for key in ("kind", "domain", "capacity", "ratio", "size"):
        of_ask(f"randomizer without {key}", lambda a, k=key: a["randomizer"].pop(k))
    for value in ("hash", None, 1, []):
        of_ask(f"kind {value!r}", lambda a, v=value: a["randomizer"].update(kind=v))
    of_ask("a kind with a size too many", lambda a: a["randomizer"].update(kind="grr"), question="start")
    of_ask("another domain", lambda a: a["randomizer"].update(domain=219))
    of_ask("another capacity", lambda a: a["randomizer"].update(capacity=4))
    for value in (0, 221, 4097, "3", True):
        of_ask(f"size {value!r}", lambda a, v=value: a["randomizer"].update(size=v))
    good = plan.rounds[0].asks[0].randomizer.ratio
    for name, value in {
        "not in lowest terms": [str(2 * good.numerator), str(2 * good.denominator)],
        "one": ["1", "1"],
        "below one": ["1", "2"],
        "a denominator that is no power of two": ["4", "3"],
        "a denominator above 2^40": [str((1 << 42) + 1), str(1 << 41)],
        "a numerator of 2^70": [str(1 << 70), "1"],
        "a leading zero": ["03", "1"],
        "a negative one": ["-3", "1"],
        "numbers": [3, 1],
        "three numbers": ["3", "1", "1"],
        "many digits": ["9" * 4000, "1"],
        "a denominator of zero": ["3", "0"],
    }.items():
        of_ask(f"ratio: {name}", lambda a, v=value: a["randomizer"].update(ratio=v))

    raised = good + Fraction(1, 1 << RATIO_BITS)
    edit(
        "one question with more than epsilon",
        lambda d: d["rounds"][0]["asks"][0]["randomizer"].update(
            ratio=[str(raised.numerator), str(raised.denominator)]
        ),
        Problem.PLAN_OVERSPENDS,
    )
    edit("a smaller epsilon", lambda d: d.update(epsilon="1.499999999999"), Problem.PLAN_OVERSPENDS)
    edit("rounds that add up to more", lambda d: d.update(rounds=d["rounds"] * 2), Problem.PLAN_OVERSPENDS)
    slots = Round((Ask(Steps(6, 3), OUE(220, 1, plan.rounds[0].asks[0].randomizer.ratio)),), "partition")
    add(
        "slots that add up to more",
        dumps(plan.document() | {"rounds": [_round_document(slots)]}).decode(),
        Problem.PLAN_OVERSPENDS,
    )
    tiny = ratio_at_most(epsilon_fraction("0.0000001"))
    fitting = MAX_PAYLOAD // OUE(220, 1, tiny).payload_bytes
    for count in (fitting, fitting + 1):
        data = plan.document() | {
            "rounds": [_round_document(Round((Ask(Steps(6, count), OUE(220, 1, tiny)),), "everyone"))]
        }
        if count > fitting:
            add("a payload too large", dumps(data).decode(), Problem.PLAN_TOO_LARGE)
        else:
            Plan.from_json(dumps(data))
    edit("extends nothing", lambda d: d.update(extends="0" * 64))
    edit("extends another plan", lambda d: d.update(extends=plan.id), of=second)
    edit("extends with another epsilon", lambda d: d.update(epsilon="1.1"), of=second)
    edit("extends in capitals", lambda d: d.update(extends=d["extends"].upper()), of=second)
    return vectors


def rejected(made: dict[str, Plan]) -> list[dict[str, Any]]:
    vectors = []

    def add(name: str, plan: str, number: int, data: bytes, problem: Problem) -> None:
        if rejection_of(data, made[plan], number) is not problem:
            raise AssertionError(f"{name} is not {problem.code}")
        vectors.append(
            {"name": name, "plan": plan, "round": number, "report": data.hex(), "problem": problem.code}
        )

    for plan in (
        "every question, privset",
        "every question, grr",
        "every question, oue",
        "paper, second round",
    ):
        number = len(made[plan].rounds) - 1
        good = Reporter(made[plan]).draw([], number, Ordinary(f"rejected {plan}"))
        add("nothing", plan, number, b"", Problem.WRONG_SIZE)
        add("one byte", plan, number, good[:1], Problem.WRONG_SIZE)
        add("header cut", plan, number, good[: HEADER_BYTES - 1], Problem.WRONG_SIZE)
        add("header only", plan, number, good[:HEADER_BYTES], Problem.WRONG_SIZE)
        add("one byte short", plan, number, good[:-1], Problem.WRONG_SIZE)
        add("one byte long", plan, number, good + b"\0", Problem.WRONG_SIZE)
        for version in (0, 2, 123, 255):
            add(f"version {version}", plan, number, bytes([version]) + good[1:], Problem.UNKNOWN_VERSION)
        for at in (1, 16):
            add(f"plan, byte {at}", plan, number, flipped_bit(good, at), Problem.WRONG_PLAN)
        add("next round", plan, number, changed_byte(good, 17, number + 1), Problem.WRONG_ROUND)
        groups = len(made[plan].rounds[number].asks) if number == 0 else 1
        for group in (groups, 255):
            add(f"group {group}", plan, number, changed_byte(good, 18, group), Problem.UNKNOWN_GROUP)
        round_ = made[plan].rounds[number]
        for group, ask in enumerate(round_.asks if number == 0 else ()):
            end = HEADER_BYTES + ask.payload_bytes
            empty = changed_byte(good, 18, group)[:HEADER_BYTES] + bytes(round_.payload_bytes)
            for bad_name, payload in _bad_payloads(ask.randomizer):
                data = empty[:HEADER_BYTES] + payload + empty[end:]
                add(f"{ask.question.name}, {bad_name}", plan, number, data, Problem.BAD_PAYLOAD)
            if end < len(good):
                add(f"{ask.question.name}, padding", plan, number, empty[:-1] + b"\1", Problem.BAD_PADDING)
    return vectors


def _bad_payloads(channel: Randomizer) -> Iterator[tuple[str, bytes]]:
    """Bytes that the randomizer cannot have written."""
    size = channel.payload_bytes
    if isinstance(channel, GRR):
        if channel.domain + 1 < 1 << (8 * size):
            yield "output out of range", (channel.domain + 1).to_bytes(size, "big")
        return
    if isinstance(channel, PrivSet) and channel.lists_items:
        width = size // channel.size
        if channel.size > 1:
            yield "the same output again", bytes(size)
            first, *rest = range(channel.size)
            yield "descending", b"".join(item.to_bytes(width, "big") for item in [*rest, first])
        last = [*range(channel.size - 1), channel.outputs]
        if channel.outputs < 1 << (8 * width):
            yield "output out of range", b"".join(item.to_bytes(width, "big") for item in last)
        return
    if channel.outputs % 8:
        yield "unused bit set", bytes(size - 1) + b"\x80"
    if isinstance(channel, PrivSet):
        yield "no output", bytes(size)
        many = channel.encode(range(channel.size + 1)) if channel.size < channel.outputs else b""
        if many:
            yield "one output too many", many


def refusal_of(document: str) -> Problem | None:
    try:
        Plan.from_json(document)
    except PlanRefused as refusal:
        return refusal.problem
    return None


def rejection_of(data: bytes, plan: Plan, number: int) -> Problem | None:
    try:
        read_report(data, plan, number)
    except ReportRejected as rejection:
        return rejection.problem
    return None


def _round_document(round_: Round) -> dict[str, Any]:
    return Plan("x", Grid((0, 0, 1, 1), 6), Fraction(20), (round_,)).document()["rounds"][0]


def changed_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


def flipped_bit(data: bytes, at: int) -> bytes:
    return changed_byte(data, at, data[at] ^ 1)
