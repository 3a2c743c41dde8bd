"""The device's own entry point, with the operating system's random source watched or replaced.

Everything the audit sends comes from the methods of `Reporter` that apps call, read-ahead included: a device that draws
from anywhere else does not behave as the bytes say, and that shows.

The bytes that the system hands out while a device answers are written down. The same report must follow from them
alone, read in order: then no byte was used twice, made up, kept from an earlier report or shared with another
process. Besides the rounds of the plan, each randomizer that a plan can name answers a probe that needs thousands of
bytes, so that a source which goes bad after a while shows too.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ldptrace.device import Ledger, Point, Recording, Reporter, occasion_of
from ldptrace.device.storage import MemoryFile
from ldptrace.errors import ProtocolError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Steps
from ldptrace.protocol.randomizers import RANDOMIZERS, PrivSet
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import ID_AT, ID_BYTES
from ldptrace.protocol.round import Ask, Round

Bytes = Callable[[int], bytes]
# Unix time at which somebody accepts a standing plan, at least: arrivals in the first two days of 1970 are no dates.
ACCEPTED = 1_000_000


@contextmanager
def system_source(take: Bytes) -> Iterator[None]:
    """Replace the operating system's random bytes by those of `take` within the block. Not for several threads."""
    real = os.urandom
    os.urandom = take
    try:
        yield
    finally:
        os.urandom = real


class Asked:
    """A device of this package that is asked for a round, or for the window of a standing plan that has just ended.

    A window is answered by a person of its own, with a ledger of its own, who accepted the plan a while ago.
    """

    def __init__(self, plan: Plan, number: int) -> None:
        self.reporter = Reporter(plan, "none", unpadded=True)
        self.number = number
        self.window = 0

    def answer(self, trips: Sequence[Points], take: Bytes) -> bytes:
        """Return what the device sends when the system's random bytes are these and all trips have just ended."""
        standing = self.reporter.plan.standing
        if standing is None:
            with system_source(take):
                return self.reporter.report([Recording(points) for points in trips], self.number)
        self.reporter.ledger = Ledger(MemoryFile(), standing.lifetime)
        row = self.reporter.accept(max(standing.start + standing.every, ACCEPTED))
        self.window = row.window + 1
        end = standing.end(self.window, row.phase)
        with system_source(take):
            return self.reporter.report([Recording(points, end) for points in trips], now=end)

    def drawn(self, points: Points, source: Source) -> bytes:
        """Return the report that follows from these bytes, about the same round or window as the last answer."""
        occasion = occasion_of(points, self.reporter.plan.grid)
        return self.reporter.draw_about(occasion, self.number, source, window=self.window)

    def watched(self, points: Points) -> tuple[bytes, list[bytes]]:
        """Return what the device sends, and the bytes that the system handed out meanwhile."""
        real, handed = os.urandom, list[bytes]()

        def take(count: int) -> bytes:
            handed.append(real(count))
            return handed[-1]

        return self.answer([points], take), handed


class Messages(NamedTuple):
    """What devices sent, and the round of the plan that it answers."""

    plan: Plan
    round: int
    sent: list[bytes]


def own_messages(plan: Plan, number: int, group: int, trips: Sequence[Points], count: int) -> Messages:
    """Return fresh messages of devices of this package that happened to draw this group."""
    device, round_ = Asked(plan, number), plan.rounds[number]
    sent = [device.answer(trips, in_group(round_, group)) for _ in range(count)]
    return Messages(plan, number, sent)


def in_group(round_: Round, group: int) -> Bytes:
    """Return the system's bytes, but the first ones let a device draw this group, whatever its id.

    They are for the stream of a report. A trip among several is drawn from a stream of its own, which is not replaced.
    """
    drawn = sum(ask.share for ask in round_.asks[:group]).to_bytes(2, "big")
    first = os.urandom(ID_BYTES) + (drawn if round_.assignment == "partition" else b"")
    real = os.urandom

    def take(count: int) -> bytes:
        nonlocal first
        begin, first = first[:count], first[count:]
        return begin + real(count - len(begin))

    return take


def tape(number: int) -> Bytes:
    """Return an endless stream of bytes, the same for the same number."""
    block, data = 0, b""

    def take(count: int) -> bytes:
        nonlocal block, data
        while len(data) < count:
            data += hashlib.sha256(f"{number} {block}".encode()).digest()
            block += 1
        piece, data = data[:count], data[count:]
        return piece

    return take


Points = list[Point]

# Fixes of trips like real ones, seconds between them, and trips of one person.
FIXES, INTERVAL, TRIPS = 1000, 5.0, 6


def extreme_trajectories(grid: Grid) -> dict[str, Points]:
    """Return trajectories: nothing, one cell, thousands of cells, all corners, lines of every length, to and fro,
    far outside, all times.

    >>> list(extreme_trajectories(Grid((0, 0, 2, 2), 2)))[-3:]
    ['out of the middle, fast', 'broken times', 'times that run backwards']
    """
    n, last = grid.n, grid.n - 1
    x0, y0, x1, y1 = grid.bounds

    def centre(i: int, j: int) -> Point:
        a, b, c, d = grid.cell_bounds(i * n + j)
        return (a + c) / 2, (b + d) / 2

    snake = [centre(i, j if i % 2 == 0 else last - j) for i in range(n) for j in range(n)]
    corners = [centre(0, 0), centre(0, last), centre(last, last), centre(last, 0)]
    far = 1e6 * (abs(x0) + abs(y0) + abs(x1) + abs(y1) + 1)
    lines: dict[str, Points] = {}
    for moves in range(1, n):
        lines[f"{moves} moves forth"] = [centre(0, n // 2), centre(moves, n // 2)]
        lines[f"{moves} moves back"] = [centre(last, last), centre(last - moves, last)]
    return {
        "no points": [],
        "one point in the first cell": [centre(0, 0)],
        "one point in the last cell": [centre(last, last)],
        "many points in one cell": [centre(0, last)] * 3000,
        "the first move": [centre(0, 0), centre(0, 1)],
        "the last move": [centre(last, last), centre(last, last - 1)],
        "to and fro": [centre(last, last), centre(last - 1, last)] * 5,
        "to and fro, a hundred times": [centre(last, last), centre(last - 1, last)] * 100,
        "thousands of cells": (snake + snake[::-1]) * max(1, 4000 // (2 * n * n)),
        "all corners, again and again": corners * 50,
        "far outside": [(-far, far), (far, -far), (float("inf"), 0.0), (0.0, float("nan"))],
        **lines,
        **{f"leaves at {hour} o'clock": [(*centre(0, 0), hour * 3600.0)] for hour in (0, 8, 17, 23)},
        "into the middle, slowly": [(*centre(0, 0), 28_800.0), (*centre(n // 2, n // 2), 9e5)],
        "out of the middle, fast": [(*centre(n // 2, n // 2), 64_800.0), (*centre(0, 0), 64_800.5)],
        "broken times": [(*centre(0, 0), float("nan")), (*centre(last, 0), float("inf"))],
        "times that run backwards": [(*centre(0, 0), 50.0), (*centre(last, 0), -1e300)],
    }


def lifelike(points: Points, moment: float | None = None) -> list[Points]:
    """Return the trips of somebody who went that way: hundreds of fixes, dates of today, several times the same trip.

    All trips of one person are alike, so that no answer depends on which of them is drawn. Nobody's trips are none.

    >>> trips = lifelike([(0.5, 0.5), (1.5, 0.5)], moment=1.7e9)
    >>> len(trips), len(trips[0]), trips[0][0], trips[0][-1]
    (6, 1000, (0.5, 0.5, 1700000000.0), (1.5, 0.5, 1700004995.0))
    """
    if not points:
        return []
    begin = time.time() // 3600 * 3600 - 7200 if moment is None else moment
    times = -(-FIXES // len(points))
    track = [point for point in points for _ in range(times)]
    return [[(point[0], point[1], begin + INTERVAL * k) for k, point in enumerate(track)]] * TRIPS


# Reports of each round, and of each probe, that are watched.
REPORTS, PROBES = 40, 8
# Slots of a probe.
PROBE = 150


@dataclass(frozen=True)
class SourceFinding:
    """Where the reports of one round, or of the probe of one randomizer, got their randomness from."""

    target: str
    reports: int
    bytes: int
    stands: bool
    detail: str


def source_findings(plan: Plan) -> list[SourceFinding]:
    """Return one finding for each round of the plan, and one for each randomizer there is."""
    inputs = [points for points in extreme_trajectories(plan.grid).values() if len(points) < 50]
    findings = [
        _finding(f"round {number}" if plan.standing is None else "windows", Asked(plan, number), inputs)
        for number in range(len(plan.rounds))
    ]
    for kind in RANDOMIZERS:
        probe = probe_plan(kind)
        walks = [points for points in extreme_trajectories(probe.grid).values() if len(points) < 50]
        findings.append(_finding(f"probe of {kind}", Asked(probe, 0), walks, PROBES))
    return findings


def probe_plan(kind: str) -> Plan:
    """Return a plan whose reports need many random bytes of one randomizer.

    >>> [probe_plan(kind).rounds[0].asks[0].randomizer.kind for kind in RANDOMIZERS]
    ['grr', 'oue', 'privset']
    """
    question = Steps(3, PROBE)
    channel = RANDOMIZERS[kind]
    own = {"size": 8} if channel is PrivSet else {}
    ratio = ratio_at_most(Fraction(1, PROBE))
    ask = Ask(question, channel(domain=question.domain, capacity=1, ratio=ratio, **own))
    return Plan("probe", Grid((0, 0, 3, 3), 3), Fraction(1), (Round((ask,), "everyone"),))


def _finding(target: str, device: Asked, inputs: list[Points], reports: int = REPORTS) -> SourceFinding:
    """Check that each report follows from the bytes that the system handed out for it, and that no two have one id."""
    ids, total = set[bytes](), 0
    for draw in range(reports):
        points = inputs[draw % len(inputs)]
        message, handed = device.watched(points)
        total += sum(map(len, handed))
        wrong = _unlike(device, points, message, handed)
        if wrong:
            return SourceFinding(target, draw + 1, total, False, wrong)
        ids.add(message[ID_AT])
    if len(ids) < reports:
        return SourceFinding(target, reports, total, False, "two reports have one id")
    detail = "each report follows from fresh bytes of the system alone"
    return SourceFinding(target, reports, total, True, detail)


def _unlike(device: Asked, points: Points, message: bytes, handed: list[bytes]) -> str | None:
    """Return how a report differs from what follows from the bytes that were handed out for it, if it does."""
    reader = BytesReader(b"".join(handed))
    try:
        again = device.drawn(points, Source(reader))
    except ProtocolError:
        return f"the system handed out {len(reader.data)} bytes, which are not enough for the report"
    if again != message:
        return "the report does not follow from the bytes that the system handed out for it"
    if handed and reader.position <= len(reader.data) - len(handed[-1]):
        return "bytes were read that the report did not need"
    return None
