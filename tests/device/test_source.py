"""Where a device's randomness comes from: the code path that ships, watched at the operating system."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from ldptrace.device import Ledger, Reporter
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import HEADER_BYTES, ID_BYTES
from ldptrace.protocol.round import Ask, Round

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
RATIO = ratio_at_most(Fraction(1, 40))
WALK = [(0.5, 0.5), (5.5, 0.5), (5.5, 5.5)]


def of(question: Start | Steps, channel: GRR | OUE | PrivSet) -> Plan:
    return Plan("source", GRID, Fraction(1), (Round((Ask(question, channel),), "everyone"),))


PLANS = {
    "one question of eight": Plan.single_report(GRID, 1.0),
    "questions about time": Plan.single_report(GRID, 1.0, time=True),
    "a long oue": of(Steps(6, 30), OUE(220, 1, RATIO)),
    "a long grr": of(Steps(6, 40), GRR(220, 1, RATIO)),
    "a long privset": of(Steps(6, 40), PrivSet(220, 1, RATIO, 50)),
    "a short grr": of(Start(6), GRR(36, 1, RATIO)),
}


class Watched:
    """The operating system's source, and everything it handed out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real: Callable[[int], bytes] = os.urandom
        self.handed: list[bytes] = []
        monkeypatch.setattr(os, "urandom", self)

    def __call__(self, count: int) -> bytes:
        self.handed.append(self.real(count))
        return self.handed[-1]

    def taken(self) -> bytes:
        data = b"".join(self.handed)
        self.handed.clear()
        return data


@pytest.mark.parametrize("name", PLANS)
def test_a_report_follows_from_fresh_bytes_of_the_system_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, plan = Watched(monkeypatch), PLANS[name]
    reporter, earlier = Reporter(plan, "none"), b""
    for _ in range(5):
        report = reporter.report(WALK)
        data = system.taken()
        reader = BytesReader(data)
        # Read in order from the first byte on, the bytes of this call give this report; nothing else was needed.
        assert reporter.draw(WALK, 0, Source(reader)) == report
        assert report[HEADER_BYTES - ID_BYTES : HEADER_BYTES] == data[:ID_BYTES]
        assert len(data) - reader.position < 512
        assert data[:64] not in earlier
        earlier += data


def test_a_long_report_refills_and_uses_every_byte_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slot after another, more than ten times what is read ahead."""
    system = Watched(monkeypatch)
    reporter = Reporter(PLANS["a long privset"], "none")
    report = reporter.report(WALK)
    assert len(system.handed) > 5
    reader = BytesReader(system.taken())
    assert reporter.draw(WALK, 0, Source(reader)) == report


def test_a_retry_repeats_the_bytes_and_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, plan = tmp_path / "ledger.json", PLANS["one question of eight"]
    report = Reporter(plan, Ledger(path)).report(WALK)
    Reporter(PLANS["a short grr"], Ledger(path)).report(WALK)
    system = Watched(monkeypatch)
    assert Reporter(plan, Ledger(path)).report([(3.0, 3.0)]) == report
    assert system.handed == []


def test_a_refusal_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "ledger.json", limit="0.5")
    system = Watched(monkeypatch)
    with pytest.raises(ValueError, match="plan-over-limit"):
        Reporter(PLANS["a short grr"], ledger).report(WALK)
    assert system.handed == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_that_fork_share_no_randomness() -> None:
    """The parent has answered before it forks; afterwards parent and children answer the same trajectory."""
    reporter = Reporter(PLANS["one question of eight"], "none")
    reporter.report(WALK)
    readers = []
    for _ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, b"".join(reporter.report(WALK)[HEADER_BYTES - ID_BYTES :] for _ in range(3)))
            os._exit(0)
        os.close(writer)
        readers.append((child, reader))
    ids = {reporter.report(WALK)[HEADER_BYTES - ID_BYTES : HEADER_BYTES] for _ in range(3)}
    size = len(reporter.report(WALK)) - HEADER_BYTES + ID_BYTES
    for child, reader in readers:
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        ids |= {data[at : at + ID_BYTES] for at in range(0, len(data), size)}
    assert len(ids) == 3 + 4 * 3


def test_the_stream_is_read_in_order_whatever_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of every size, around and beyond what is read ahead."""
    from ldptrace.device import reporter

    system = Watched(monkeypatch)
    take = reporter._ReadAhead()
    pieces = [take(count) for count in (0, 1, 16, 495, 1, 511, 512, 513, 2000, 3, 700, 0, 5)]
    assert [len(piece) for piece in pieces] == [0, 1, 16, 495, 1, 511, 512, 513, 2000, 3, 700, 0, 5]
    assert system.taken().startswith(b"".join(pieces))
