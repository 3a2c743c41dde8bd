"""What tests of shuffled plans share: keys, small plans whose reports can be told apart, and seals."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ldptrace.curator.opening import CuratorKey
from ldptrace.device.sealing import Sealer
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns
from ldptrace.server.storage import Database
from ldptrace.shuffler.served import NO_WINDOW
from ldptrace.shuffler.store import Sealed, Store
from server_kit import TELLING, telling_report, terms

KEY = CuratorKey.from_text(f"{7:064x}")
# Tests begin at this time; the batch of the plan without windows closes an hour later.
NOW = 1_800_000_000
HOUR = 3_600
# The least batch.
BATCH = 3


def shuffled(key: CuratorKey = KEY, batch: int = BATCH, **options: Any) -> Shuffled:
    """What a plan says of its shuffler. Its central epsilon is no less than its own, which is true for every batch."""
    facts: dict[str, Any] = {
        "honest": Fraction(1),
        "delta": Fraction(1, 10**8),
        "epsilon": Fraction(1),
        "lifetime": None,
        "until": NOW + HOUR,
        "operator": "A club",
        "address": "https://club.example",
    }
    return Shuffled(key.public, batch, **facts | options)


def telling(**options: Any) -> Plan:
    """A shuffled plan without windows, whose reports can be told apart."""
    return TELLING.changed(shuffled=shuffled(**options))


def standing(every: int = HOUR, **options: Any) -> Plan:
    """A shuffled plan with a window every hour."""
    rule = Standing(every, every, NOW, Fraction(20), every // 2)
    return TELLING.changed(standing=rule, shuffled=shuffled(until=None, lifetime=Fraction(20), **options))


def sealed(plan: Plan, value: int, window: int | None = None) -> Sealed:
    """A sealed report that names a value."""
    assert plan.shuffled is not None
    report = telling_report(value, plan, window or 0)
    sealer = Sealer.of_plan(plan.shuffled.key, plan.id)
    return Sealed(sealer.seal(report, window), NO_WINDOW if window is None else window)


@dataclass
class Running:
    """Where a shuffler runs."""

    url: str


@contextmanager
def running(folder: Path, port: int) -> Iterator[Running]:
    """`ldptrace shuffle` in a process of its own."""
    command = [sys.executable, "-c", "from ldptrace.cli import main; main()", "shuffle"]
    found = Running(f"http://127.0.0.1:{port}")
    with subprocess.Popen(
        [*command, "--data", str(folder), "--port", str(port)], stderr=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(600):
                with suppress(OSError), urllib.request.urlopen(f"{found.url}/healthz", timeout=5):
                    break
                time.sleep(0.1)
            yield found
        finally:
            process.terminate()


def serving(folder: Path, plan: Plan, clock: Any, *, admission: bool = False) -> Store:
    """A storage that serves one plan."""
    store = Store(folder, clock)
    store.add_plan(plan, "http://curator.example/v1/campaigns/trips", "token", admission=admission)
    return store


def serving_both(folder: Path, clock: Any) -> Store:
    """A storage that serves a plan without windows, and a standing plan that needs codes."""
    store = serving(folder, telling(), clock)
    store.add_plan(standing(), "http://curator.example/v1/campaigns/trips", "token", admission=True)
    return store


def keyless(plan: Plan) -> Plan:
    """The plan as facts make it, for a campaign that draws a key."""
    assert plan.shuffled is not None
    return plan.changed(campaign=None, shuffled=plan.shuffled.changed(key=GENERATOR))


def opened_shuffled(database: Database, plan: Plan, name: str = "trips", **options: Any) -> Plan:
    """An open campaign with a key of its own; its plan."""
    campaigns.create(database, name, keyless(plan), terms(**options), actor="test")
    return campaigns.open_round(database, name, actor="test").plan


def batch_of(plan: Plan, values: Iterable[int], window: int | None = None) -> bytes:
    """The bytes of a batch with reports that name these values."""
    return b"".join(sealed(plan, value, window).body for value in values)
