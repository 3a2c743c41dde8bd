"""The device's own entry point, with the operating system's random source watched or replaced.

Everything the audit sends comes from the methods of `Reporter` that apps call, read-ahead included: a device that draws
from anywhere else does not behave as the bytes say, and that shows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from ldptrace.audit.trajectories import Points
from ldptrace.device import Ledger, Recording, Reporter, occasion_of
from ldptrace.device.storage import MemoryFile
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import ID_BYTES
from ldptrace.protocol.round import Round

Bytes = Callable[[int], bytes]
# Unix time at which somebody accepts a standing plan, at least: arrivals in the first two days of 1970 are no dates.
ACCEPTED = 1_000_000


@contextmanager
def system_source(take: Bytes) -> Iterator[None]:
    """Within the block the operating system's random bytes are those of `take`. Not for several threads."""
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
        self.reporter = Reporter(plan, unpadded=True)
        self.number = number
        self.window = 0

    def answer(self, trips: Sequence[Points], take: Bytes) -> bytes:
        """What the device sends when the system's random bytes are these and all trips have just ended."""
        standing = self.reporter.plan.standing
        if standing is None:
            with system_source(take):
                return self.reporter.report_one_of([Recording(points) for points in trips], self.number)
        self.reporter.ledger = Ledger(MemoryFile(), standing.lifetime)
        row = self.reporter.accept(max(standing.start + standing.every, ACCEPTED))
        self.window = row.window + 1
        end = standing.end(self.window, row.phase)
        with system_source(take):
            return self.reporter.report_window([Recording(points, end) for points in trips], end)

    def drawn(self, points: Points, source: Source) -> bytes:
        """The report that follows from these bytes, about the same round or window as the last answer."""
        occasion = occasion_of(points, self.reporter.plan.grid)
        return self.reporter.draw_about(occasion, self.number, source, window=self.window)

    def watched(self, points: Points) -> tuple[bytes, list[bytes]]:
        """What the device sends, and the bytes that the system handed out meanwhile."""
        real, handed = os.urandom, list[bytes]()

        def take(count: int) -> bytes:
            handed.append(real(count))
            return handed[-1]

        return self.answer([points], take), handed


@dataclass(frozen=True)
class OwnWitness:
    """Lets devices of this package answer one group of one round of a plan."""

    plan: Plan

    def messages(self, number: int, group: int, trips: Sequence[Points], count: int) -> Messages:
        """Fresh messages of devices that happened to draw this group."""
        device, round_ = Asked(self.plan, number), self.plan.rounds[number]
        sent = [device.answer(trips, in_group(round_, group)) for _ in range(count)]
        return Messages(self.plan, number, sent)


class Messages(NamedTuple):
    """What devices sent, and the round of the plan that it answers."""

    plan: Plan
    round: int
    sent: list[bytes]


def in_group(round_: Round, group: int) -> Bytes:
    """The system's bytes, but the first ones let a device draw this group, whatever its id.

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
    """An endless stream of bytes, the same for the same number."""
    block, data = 0, b""

    def take(count: int) -> bytes:
        nonlocal block, data
        while len(data) < count:
            data += hashlib.sha256(f"{number} {block}".encode()).digest()
            block += 1
        piece, data = data[:count], data[count:]
        return piece

    return take
