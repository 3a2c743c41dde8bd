"""A client that is asked line by line, this repository's own or any that a command starts: its messages for people of
all kinds, and attacks on them.

A line is a JSON object with a plan, trips and a clock, and so is its answer (docs/how-to/audit-a-client.md). Ledgers
with names are kept in a folder, so that a client that is started again finds them.

Which question a device answers cannot be chosen from outside. So each question of the plan is asked alone, in a plan of
its own with the same grid and the same randomizer; the plan itself is asked too, where only its header is looked at.

Our own device code is also answered with the same random bytes for every trajectory. Then everything but the payload
must come out equal to the last bit: version, plan, round, group, report id, and the number of bytes.

A shuffled plan has a second promise: what the accountant says of it, and that reports leave a device sealed.
"""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import stats

from ldptrace.audit.system import Asked, Messages, Points, extreme_trajectories, lifelike, tape
from ldptrace.curator.accounting import composed_epsilon
from ldptrace.curator.opening import CuratorKey
from ldptrace.device.lines import Lines
from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_START
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.reports import GROUP_AT, HEADER_BYTES, ID_AT, asked_of, read_report, report_bytes
from ldptrace.protocol.round import SHARES, Round
from ldptrace.protocol.seals import POINT_BYTES, sealed_bytes
from ldptrace.protocol.shuffling import central_epsilon

# Where the command has this, the folder of the ledgers stands.
FOLDER = "{ledgers}"
# Reports that one line asks for.
MOST = 500

Json = dict[str, Any]


class OwnDevice:
    """The client of this package, in this process."""

    name = "ldptrace.device"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.restart()

    def ask(self, line: Json) -> Json:
        return self._lines.answer_to(line)

    def restart(self) -> None:
        self._lines = Lines(self._folder)


class CommandDevice:
    """A client that a command starts."""

    def __init__(self, command: str, folder: Path) -> None:
        if FOLDER not in command:
            raise InputError(
                f"the command of a device names the folder of its ledgers as {FOLDER}, got {command!r}"
            )
        self.name, self._folder = command, folder
        self._words = [word.replace(FOLDER, str(folder)) for word in shlex.split(command)]
        self._process = self._started()

    def ask(self, line: Json) -> Json:
        self.send(line)
        return self.receive()

    def send(self, line: Json) -> None:
        """Ask without waiting for the answer."""
        try:
            pipe = _pipe(self._process.stdin)
            pipe.write(json.dumps(_plain(line)) + "\n")
            pipe.flush()
        except BrokenPipeError:
            raise self._gone() from None

    def receive(self) -> Json:
        text = _pipe(self._process.stdout).readline()
        if not text:
            raise self._gone()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise InputError(f"the device {self.name!r} must answer with a JSON object, got {text[:80]!r}")
        return answer

    def restart(self) -> None:
        """Kill the client and start it again: what is not on the disk is lost."""
        self.close()
        self._process = self._started()

    def twin(self) -> CommandDevice:
        """Start another process of the same client with the same ledgers."""
        return CommandDevice(self.name, self._folder)

    def __enter__(self) -> CommandDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _started(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            raise InputError(f"the device {self.name!r} cannot be started: {error.strerror}") from None

    def _gone(self) -> InputError:
        return InputError(f"the device {self.name!r} ended before it answered, status {self._process.poll()}")


# Something that answers lines.
Device = OwnDevice | CommandDevice


def reports_of(device: Device, line: Json, count: int) -> list[bytes]:
    """Ask this many devices with new ledgers for their reports. A refusal is an error."""
    reports: list[bytes] = []
    while len(reports) < count:
        answer = device.ask(line | {"count": min(MOST, count - len(reports))})
        if not answer.get("reports"):
            raise InputError(f"the device {device.name!r} must answer, got {json.dumps(answer)[:200]}")
        reports += map(bytes.fromhex, answer["reports"])
    return reports


def trip_lines(trips: Sequence[Points], arrivals: Sequence[float] = ()) -> list[Json]:
    """Return trips in the form that lines have.

    >>> trip_lines([[(1.0, 2.0)]])
    [{'points': [(1.0, 2.0)], 'arrival': None}]
    """
    ends: list[float | None] = [*arrivals] or [None for _ in trips]
    return [{"points": points, "arrival": end} for points, end in zip(trips, ends, strict=True)]


def _plain(value: Any) -> Any:
    """Return the same without numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


# Random tapes that every trajectory is answered with.
TAPES = 20


@dataclass(frozen=True)
class StructuralFinding:
    """One property of the messages of one round, and the trajectories it tells apart, if any."""

    round: int
    checked: str
    stands: bool
    detail: str


def structural_findings(plan: Plan) -> list[StructuralFinding]:
    """Check size, header and form of what the device sends for trajectories that differ as much as possible."""
    everybody = extreme_trajectories(plan.grid)
    findings = []
    for number in range(len(plan.rounds)):
        device = Asked(plan, number)
        sent = {
            name: [device.answer([points], tape(luck)) for luck in range(TAPES)]
            for name, points in everybody.items()
        }
        sizes = {name: [f"1 message of {len(m)} bytes" for m in messages] for name, messages in sent.items()}
        headers = {name: [m[:HEADER_BYTES].hex() for m in messages] for name, messages in sent.items()}
        findings += [_equal(number, "number and size", sizes), _equal(number, "header", headers)]
        if plan.rounds[number].padded:
            findings.append(_valid(plan, number, sent))
    return findings


def _equal(
    number: int, what: str, values: dict[str, list[str]], whose: str = "extreme trajectories"
) -> StructuralFinding:
    """Check that a property of the messages is the same for everybody, draw by draw."""
    names = list(values)
    first = values[names[0]]
    other = next((name for name in names if values[name] != first), None)
    if other is None:
        detail = f"the same for {len(names)} {whose}, {len(first)} draws each"
        return StructuralFinding(number, what, True, detail)
    seen, instead = next((a, b) for a, b in zip_longest(first, values[other]) if a != b)
    detail = f"{seen} for {names[0]!r}, {instead} for {other!r}: one message distinguishes them, so epsilon is infinite"
    return StructuralFinding(number, what, False, detail)


# Chance that a group which does not depend on the trajectory raises an alarm.
ALPHA = 1e-6
# Reports of every trajectory whose messages are compared.
DRAWS = 3
# Most copies of a trip, so that one of them arrived in whatever window a device has.
COPIES = 64


def alone(plan: Plan, number: int, group: int) -> Plan:
    """Return the plan that asks everyone what this group is asked.

    How many trips there are is not for the audit to say in a standing plan, so that question is asked without windows.
    """
    asks = tuple(ask.changed(share=SHARES) for ask in asked_of(plan.rounds[number], group))
    counted = any(ask.question.name == "trips" for ask in asks)
    round_ = Round(asks, "everyone", plan.rounds[number].padded)
    return plan.changed(rounds=(round_,), extends=None, standing=None if counted else plan.standing)


def asking(plan: Plan, trips: Sequence[Points]) -> Json:
    """Return the line that asks somebody with these trips, who took part long enough for a window to end. A plan that
    begins later is asked then."""
    standing = plan.standing
    line: Json = {"plan": plan.to_json(), "limit": "20"}
    if standing is None:
        return line | {"now": time.time(), "trips": trip_lines(trips)}
    now = max(time.time(), standing.start + 4.0 * standing.every)
    step = 0.9 * standing.recent
    copies = min(int((standing.every + standing.recent) / step) + 1, COPIES)
    kept = [points for points in trips[:1] for _ in range(copies)]
    arrivals = [now - 1 - step * k for k in range(len(kept))]
    accepted = now - 3 * standing.every
    return line | {"now": now, "accepted": accepted, "trips": trip_lines(kept, arrivals)}


@dataclass
class DrivenWitness:
    """Lets a client answer one group of one round of a plan, asked alone; remembers all ids."""

    plan: Plan
    device: Device
    ids: Counter[bytes] = field(default_factory=Counter)

    def messages(self, number: int, group: int, trips: Sequence[Points], count: int) -> Messages:
        plan = alone(self.plan, number, group)
        sent = reports_of(self.device, asking(plan, trips), count)
        self.ids.update(message[ID_AT] for message in sent)
        return Messages(plan, 0, sent)


def client_structure(plan: Plan, device: Device, trials: int) -> list[StructuralFinding]:
    """Check size, header, form and group of what the client sends for people as different as possible."""
    people = {name: [points] if points else [] for name, points in extreme_trajectories(plan.grid).items()}
    people |= {f"{name}, as real trips": lifelike(trips[0]) for name, trips in people.items() if trips}
    findings = []
    for number in range(len(plan.rounds)):
        sent = {
            name: reports_of(device, asking(plan, trips) | {"round": number}, DRAWS)
            for name, trips in people.items()
        }
        sizes = {name: [f"{len(m)} bytes" for m in messages] for name, messages in sent.items()}
        # Version, plan and round; the window of a standing plan follows from a phase that is drawn.
        heads = {name: [m[: GROUP_AT.start].hex() for m in messages] for name, messages in sent.items()}
        findings += [_equal(number, "size", sizes, "people"), _equal(number, "header", heads, "people")]
        findings += [_valid(plan, number, sent), _group(plan, device, number, trials)]
    return findings


def id_finding(ids: Counter[bytes]) -> StructuralFinding:
    """Check that every report has an id of its own."""
    repeated = len(ids) < ids.total()
    detail = f"{'two' if repeated else 'no two'} of {ids.total():,} reports have one id"
    return StructuralFinding(0, "report id", not repeated, detail)


def _valid(plan: Plan, number: int, sent: dict[str, list[bytes]]) -> StructuralFinding:
    for name, messages in sent.items():
        for message in messages:
            try:
                read_report(message, plan, number)
            except ReportRejected as problem:
                return StructuralFinding(
                    number, "form", False, f"what is sent for {name!r} is not valid: {problem}"
                )
    return StructuralFinding(number, "form", True, "every message follows the protocol, padding included")


def _group(plan: Plan, device: Device, number: int, trials: int) -> StructuralFinding:
    """Check by chi-square that the drawn question does not depend on the person."""
    grid = plan.grid
    corners = [grid.bounds[:2], grid.bounds[2:]] * 4
    counts = np.zeros((2, len(plan.rounds[number].asks)))
    for row, trips in enumerate(([], lifelike([(x, y) for x, y in corners]))):
        for message in reports_of(device, asking(plan, trips) | {"round": number}, trials):
            counts[row, min(message[GROUP_AT][0], counts.shape[1] - 1)] += 1
    seen = counts[:, counts.sum(axis=0) > 0]
    chance = 1.0 if seen.shape[1] < 2 else float(stats.chi2_contingency(seen).pvalue)
    detail = f"drawn alike for somebody with and without trips (p = {chance:.2g}, {trials:,} draws each)"
    if chance <= ALPHA:
        detail = f"depends on the trips: {counts.astype(int).tolist()} for nobody's and for many"
    return StructuralFinding(number, "group", chance > ALPHA, detail)


# Seals that are looked at.
SEALS = 20


@dataclass(frozen=True)
class CentralFinding:
    """What the clones' pair gives for a delta, beside what the plan states."""

    checked: str
    delta: float
    epsilon: float
    claimed: float

    @property
    def stands(self) -> bool:
        return self.epsilon <= self.claimed


def central_findings(plan: Plan) -> list[CentralFinding]:
    """Compute the central epsilon of one answer, and of all answers to a standing plan by composition."""
    shuffled = plan.shuffled
    if shuffled is None:
        return []
    local, delta = float(plan.epsilon), float(shuffled.delta)
    one = central_epsilon(shuffled.hidden, local, delta)
    findings = [CentralFinding("one answer", delta, one, float(shuffled.epsilon))]
    if plan.standing is not None and shuffled.lifetime is not None:
        most = plan.standing.answers(plan.epsilon)
        all_of_them = composed_epsilon(shuffled.hidden, local, most * delta, most)
        findings.append(
            CentralFinding(f"all {most} answers", most * delta, all_of_them, float(shuffled.lifetime))
        )
    return findings


def sealed_finding(plan: Plan, device: Device) -> StructuralFinding:
    """Look at what a device sends to the plan with a key of the audit: seals of one size with fresh keys, and in each a
    report of the plan. A standing plan is tried without its windows."""
    key = CuratorKey.drawn()
    row = plan.shuffled
    assert row is not None
    own = plan.changed(standing=None, shuffled=row.changed(key=key.public, lifetime=None, until=MAX_START))
    sent = reports_of(device, {"plan": own.to_json(), "trips": trip_lines([])}, SEALS)
    size = sealed_bytes(report_bytes(own.rounds[0]))
    opened, lost = key.opener(own.id).open_all(sent, None)
    wrong = ""
    if lost:
        wrong = f"{lost} of {SEALS} messages are not sealed for this plan"
    elif {len(one) for one in sent} != {size}:
        wrong = f"messages have {sorted({len(one) for one in sent})} bytes, not {size}"
    elif len({one[:POINT_BYTES] for one in sent}) < SEALS:
        wrong = "two seals have the same key"
    for report in opened:
        try:
            read_report(report, own, 0)
        except ReportRejected as rejection:
            wrong = wrong or str(rejection)
    detail = wrong or f"{SEALS} seals of {size} bytes, each with a fresh key"
    return StructuralFinding(0, "seal", not wrong, detail)
