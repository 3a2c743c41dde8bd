"""The shared state of all requests of one process, and its numbers for Prometheus: only counts, without anything about
a single report or address.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from collections import Counter as Multiset
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

from starlette.requests import Request

from ldptrace.server.campaigns import SCHEDULE, tick
from ldptrace.server.counting import Codes, Counter, warm_up
from ldptrace.server.registry import is_name
from ldptrace.server.releases import SILENT, Attempt, DueRelease, Running, begin, running_releases
from ldptrace.server.storage import Database, Session, StorageUnavailable
from ldptrace.server.tokens import Token, holder
from ldptrace.web.app import Shared
from ldptrace.web.intake import Intake
from ldptrace.web.limits import Arriving, Settings
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, bad_request

T = TypeVar("T")
# Seconds between two looks after the database.
MAINTAIN = 2.0
# Characters of a query.
MAX_QUERY = 200
# How often a release that fails is begun by itself.
TRIES = 3
log = logging.getLogger("ldptrace.server")


class State(Shared):
    """The database, intake, limits and counters of one process."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.metrics = Metrics()
        self.answered = self.metrics.answered
        super().__init__(
            settings, Intake(Counter(database, settings.clock).count, self.metrics.counted), threads=4
        )
        self.beside = (self.warm_up, self.maintain)
        self.database = database
        self.clock = settings.clock
        # Uploads are few and large: together they may have the size of the largest one.
        self.uploading = Arriving(settings.max_upload)
        self.ready = False
        # Reading an uploaded file may take minutes: one at a time, and beside everything else.
        self._uploads = ThreadPoolExecutor(1, thread_name_prefix="uploads")
        self._releases: set[asyncio.Task[None]] = set()
        self._tries: Multiset[DueRelease] = Multiset()
        # When the beat of each release last grew, by a monotonic clock.
        self._heard: dict[Running, float] = {}

    @staticmethod
    def after(request: Request) -> str:
        """Return the name after which a list of campaigns goes on; without the parameter `after` it begins."""
        # A query is parsed only if it can be no more than a name.
        after = request.query_params.get("after", "") if len(request.url.query) <= MAX_QUERY else "?"
        if after and not is_name(after):
            raise bad_request("after is the name of a campaign")
        return after

    async def upload(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run the work on an uploaded file in a thread, after earlier uploads."""
        doing = partial(work, *given, **named)
        return await asyncio.get_running_loop().run_in_executor(self._uploads, doing)

    async def read(self, work: Callable[[Session], T]) -> T:
        """Read from the database; once more, with a new connection, if the first one was cut."""

        def run() -> T:
            with self.database.reading() as session:
                return work(session)

        try:
            return await self.call(run)
        except StorageUnavailable:
            return await self.call(run)

    async def token(self, request: Request) -> Token:
        """Return the valid token that came with a request."""
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise Refused(ServerProblem.UNAUTHORIZED)
        return await self.read(lambda session: holder(session, text.strip()))

    def start_release(self, attempt: Attempt) -> None:
        """Make a release in a separate process, so that the intake of reports does not wait."""
        task = asyncio.create_task(self._release(attempt))
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    async def _release(self, attempt: Attempt) -> None:
        """Run the worker of a release until it ends. If it ended badly, the release has failed."""
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ldptrace.server.releases"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        # The address of the database may hold a password: nothing is among the arguments.
        asked = vars(attempt) | {"database": self.database.url, "address": self.settings.address}
        try:
            await worker.communicate(json.dumps(asked).encode())
            log.info("the release of campaign %s ended with status %s", attempt.name, worker.returncode)
        finally:
            if worker.returncode is None:
                worker.terminate()
                await worker.wait()
            if worker.returncode != 0:
                with contextlib.suppress(StorageUnavailable):
                    await self.call(attempt.fail, "the process that made it was ended")

    async def warm_up(self) -> None:
        """Compile what counts reports before the first one comes."""
        await self.call(warm_up)
        self.ready = True
        log.info("ready")

    async def maintain(self) -> None:
        """Keep the database in order, and do what is due by the clock, for as long as the server runs."""
        while True:
            await asyncio.sleep(MAINTAIN)
            try:
                await self.call(self.database.maintain)
                await self.advance()
            except Exception as error:  # What is due later is done all the same.
                log.error("what is due could not be done: %s", error, exc_info=error)

    async def advance(self) -> None:
        """Open, close and release what is due, and take up releases whose maker has ended."""
        due = await self.call(tick, self.database, self.clock())
        now, running = time.monotonic(), await self.read(running_releases)
        self._heard = {one: self._heard.get(one, now) for one in running}
        # Their server and their worker have both ended.
        silent = [release for (release, *_), since in self._heard.items() if now - since >= SILENT]
        for release in [*silent, *due]:
            # One at a time, so that they do not fight for the machine.
            if self._releases:
                return
            if self._tries[release] < TRIES:
                self._tries[release] += 1
                named = {"again": release in silent, "number": release.number, "count": release.count}
                with contextlib.suppress(Refused):
                    starting = self.call(begin, self.database, release.campaign, actor=SCHEDULE, **named)
                    self.start_release(await starting)

    async def stop(self) -> None:
        for task in list(self._releases):
            task.cancel()
        await asyncio.gather(*self._releases, return_exceptions=True)
        await super().stop()
        self._uploads.shutdown(cancel_futures=True)
        self.database.close_all()


# Upper ends of the buckets, in seconds.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class Metrics:
    """The counters of this process since it started.

    >>> metrics = Metrics()
    >>> metrics.answered("reports", 200)
    >>> 'ldptrace_requests_total{route="reports",status="200"} 1' in metrics.text(0)
    True
    """

    def __init__(self) -> None:
        self._requests: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._reports: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def answered(self, route: str, status: int) -> None:
        self._requests[route, status] += 1

    def counted(self, campaign: str, codes: Sequence[Codes], seconds: float) -> None:
        """Count one transaction of the intake."""
        for part in codes:
            if not part.any():
                self._reports[campaign, "counted"] += len(part)
                continue
            for number in part.tolist():
                self._reports[campaign, BY_NUMBER[number].code if number else "counted"] += 1
        self._buckets[sum(seconds > end for end in BUCKETS)] += 1
        self._seconds += seconds

    def text(self, waiting: int) -> str:
        """Return all metrics in the text format of Prometheus."""
        ends = (*map(str, BUCKETS), "+Inf")
        totals = list(accumulate(self._buckets))
        seconds = {f'_bucket{{le="{end}"}}': str(count) for end, count in zip(ends, totals, strict=True)}
        seconds |= {"_sum": f"{self._seconds:.6f}", "_count": str(totals[-1])}
        lines = []
        for name, kind, about, values in (
            (
                *("requests_total", "counter", "Requests by route and status."),
                {f'{{route="{a}",status="{b}"}}': str(n) for (a, b), n in sorted(self._requests.items())},
            ),
            (
                *("reports_total", "counter", "Reports by campaign and outcome, as seen by this process."),
                {f'{{campaign="{a}",outcome="{b}"}}': str(n) for (a, b), n in sorted(self._reports.items())},
            ),
            ("commit_seconds", "histogram", "Duration of the transactions that count reports.", seconds),
            ("waiting_bytes", "gauge", "Bytes of reports that wait to be counted.", {"": str(waiting)}),
        ):
            lines += [f"# HELP ldptrace_{name} {about}", f"# TYPE ldptrace_{name} {kind}"]
            lines += [f"ldptrace_{name}{label} {value}" for label, value in values.items()]
        return "\n".join(lines) + "\n"
