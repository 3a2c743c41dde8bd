"""The device's own entry point, with the operating system's random source watched or replaced.

Everything the audit sends comes from `Reporter.report`, read-ahead included: a device that draws from anywhere else
does not behave as the bytes say, and that shows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from ldptrace.audit.trajectories import Points
from ldptrace.device import Recording, Reporter
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import ID_BYTES
from ldptrace.protocol.round import Round

Bytes = Callable[[int], bytes]


@contextmanager
def system_source(take: Bytes) -> Iterator[None]:
    """Within the block the operating system's random bytes are those of `take`. Not for several threads."""
    real = os.urandom
    os.urandom = take
    try:
        yield
    finally:
        os.urandom = real


def answered(reporter: Reporter, points: Points, number: int, take: Bytes) -> bytes:
    """What the device sends when the system's random bytes are these."""
    with system_source(take):
        return reporter.report(points, number)


@dataclass(frozen=True)
class OwnWitness:
    """Lets devices of this package answer one group of one round of a plan."""

    plan: Plan

    def messages(self, number: int, group: int, trips: Sequence[Points], count: int) -> Messages:
        """Fresh messages of devices that happened to draw this group."""
        reporter, round_ = Reporter(self.plan, unpadded=True), self.plan.rounds[number]
        recordings, sent = [Recording(points) for points in trips], list[bytes]()
        for _ in range(count):
            with system_source(in_group(round_, group)):
                sent.append(reporter.report_one_of(recordings, number))
        return Messages(self.plan, number, sent)


class Messages(NamedTuple):
    """What devices sent, and the round of the plan that it answers."""

    plan: Plan
    round: int
    sent: list[bytes]


def watched(reporter: Reporter, points: Points, number: int) -> tuple[bytes, list[bytes]]:
    """What the device sends, and the bytes that the system handed out meanwhile."""
    real, handed = os.urandom, list[bytes]()

    def take(count: int) -> bytes:
        handed.append(real(count))
        return handed[-1]

    return answered(reporter, points, number, take), handed


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
