"""Signs of life of releases: the one who makes a release beats, and a server takes up what has fallen silent.

A server can end together with the worker it started. The release is then `running` for ever, unless somebody notices
that its beat no longer grows. Only how often it grew is compared, so that machines need not agree about the time.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ldptrace.errors import LdptraceError
from ldptrace.server.storage import Session

# Seconds between two beats, and without one after which a release is taken up by somebody else.
EVERY, SILENT = 5.0, 60.0
log = logging.getLogger("ldptrace.server")


@dataclass(frozen=True)
class Running:
    """A release that is being made, or was when its maker ended; `number` as in the table of releases."""

    campaign: str
    number: int
    attempt: str
    count: int
    beat: int


def running_releases(session: Session) -> list[Running]:
    """All releases that somebody has begun."""
    found = session.rows(
        "SELECT campaign, number, attempt, count, beat FROM releases WHERE state = 'running' "
        "ORDER BY campaign, number"
    )
    return [Running(*row) for row in found]


class Listener:
    """Remembers when the beat of each release last grew."""

    def __init__(self) -> None:
        self._heard: dict[Running, float] = {}

    def silent(self, running: Sequence[Running], now: float) -> list[Running]:
        """Those of these that did not beat for `SILENT` seconds; `now` is a clock that never goes back."""
        self._heard = {one: self._heard.get(one, now) for one in running}
        return [one for one, since in self._heard.items() if now - since >= SILENT]


@contextlib.contextmanager
def beating(beat: Callable[[], None], every: float = EVERY) -> Iterator[None]:
    """Beat in a thread of its own until the work is done."""
    done = threading.Event()

    def run() -> None:
        while not done.wait(every):
            try:
                beat()
            except LdptraceError as error:
                # A database that is away for a moment, or another attempt that has taken over: the work will notice.
                log.info("no sign of life was written: %s", error)

    thread = threading.Thread(target=run, name="beating", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
