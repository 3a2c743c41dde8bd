"""Reports with one fault each, and the problem that a reader must find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from draws import Ordinary

from ldptrace.device import Reporter
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem, ReportRejected
from ldptrace.protocol.randomizers import GRR, PrivSet, Randomizer
from ldptrace.protocol.reports import HEADER_BYTES, WINDOW_AT, Report, plan_prefix, read_report


def rejected(made: dict[str, Plan]) -> dict[str, list[dict[str, Any]]]:
    """Reports with one fault each, by the name of their plan."""
    vectors: dict[str, list[dict[str, Any]]] = {}
    largest, full = made["most payload"], made["most payload"].rounds[0].payload_bytes
    head = Report(plan_prefix(largest), 0, 0, 0, bytes(16), b"").encode()
    vectors["most payload"] = [
        _rejected(f"the largest report, {name}", largest, 0, head, Problem.WRONG_SIZE, zeros)
        for name, zeros in (("as few", 0), ("one byte short", full - 1), ("one byte long", full + 1))
    ]
    for plan in (
        "many questions, privset",
        "many questions, grr",
        "many questions, oue",
        "paper, second round",
        "standing",
    ):
        number = len(made[plan].rounds) - 1
        good = Reporter(made[plan], "none").draw([], number, Ordinary(f"rejected {plan}"))
        vectors[plan] = of_plan(made[plan], number, good)
    return vectors


def of_plan(plan: Plan, number: int, good: bytes) -> list[dict[str, Any]]:
    """Faulty reports of a round, made from a good report about no trip."""
    vectors: list[dict[str, Any]] = []

    def add(name: str, data: bytes, problem: Problem) -> None:
        vectors.append(_rejected(name, plan, number, data, problem))

    add("nothing", b"", Problem.WRONG_SIZE)
    add("one byte", good[:1], Problem.WRONG_SIZE)
    add("header cut", good[: HEADER_BYTES - 1], Problem.WRONG_SIZE)
    add("header only", good[:HEADER_BYTES], Problem.WRONG_SIZE)
    add("one byte short", good[:-1], Problem.WRONG_SIZE)
    add("one byte long", good + b"\0", Problem.WRONG_SIZE)
    for version in (0, 3 - plan.version, 123, 255):
        add(f"version {version}", bytes([version]) + good[1:], Problem.UNKNOWN_VERSION)
    for at in (1, 16):
        add(f"plan, byte {at}", flipped_bit(good, at), Problem.WRONG_PLAN)
    add("next round", changed_byte(good, 17, number + 1), Problem.WRONG_ROUND)
    groups = len(plan.rounds[number].asks) if number == 0 else 1
    for group in (groups, 255):
        add(f"group {group}", changed_byte(good, 18, group), Problem.UNKNOWN_GROUP)
    for value in () if plan.standing else (1, 1 << 24, (1 << 32) - 1):
        other = good[: WINDOW_AT.start] + value.to_bytes(4, "big") + good[WINDOW_AT.stop :]
        add(f"window {value}", other, Problem.WRONG_WINDOW)
    round_ = plan.rounds[number]
    for group, ask in enumerate(round_.asks if number == 0 else ()):
        end = HEADER_BYTES + ask.payload_bytes
        empty = changed_byte(good, 18, group)[:HEADER_BYTES] + bytes(round_.payload_bytes)
        for bad_name, payload in _bad_payloads(ask.randomizer):
            data = empty[:HEADER_BYTES] + payload + empty[end:]
            add(f"{ask.question.name}, {bad_name}", data, Problem.BAD_PAYLOAD)
        if end < len(good):
            add(f"{ask.question.name}, padding", empty[:-1] + b"\1", Problem.BAD_PADDING)
    return vectors


def _rejected(
    name: str, plan: Plan, number: int, data: bytes, problem: Problem, zeros: int = 0
) -> dict[str, Any]:
    if rejection_of(data + bytes(zeros), plan, number) is not problem:
        raise AssertionError(f"{name} is not {problem.code}")
    return {"name": name, "round": number, "report": data.hex(), "zeros": zeros, "problem": problem.code}


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


def rejection_of(data: bytes, plan: Plan, number: int) -> Problem | None:
    try:
        read_report(data, plan, number)
    except ReportRejected as rejection:
        return rejection.problem
    return None


def changed_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


def flipped_bit(data: bytes, at: int) -> bytes:
    return changed_byte(data, at, data[at] ^ 1)
