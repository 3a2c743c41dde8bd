"""Store the reports of several requests in one transaction: requests that arrive while a transaction runs share the
next one. Writing to disk takes milliseconds, for one report or for a thousand. A request is answered only after its
reports are on disk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable

# Bytes of bodies that may wait; beyond that, devices must try again later.
MAX_WAITING = 64 << 20
# Bytes that go into one transaction, so that nobody waits long for a large neighbour.
MAX_GROUP = 4 << 20
# Seconds between attempts when the database fails, and how often it is tried. Other requests go on meanwhile.
PAUSES = (0.05, 0.5, 2.0)

log = logging.getLogger("ldptrace.server")


class WithBody(Protocol):
    """A submission: the body of a request, and what belongs to it."""

    @property
    def body(self) -> bytes: ...


Given = TypeVar("Given", bound=WithBody)
Got = TypeVar("Got")
# Submissions, each with what its sender waits for.
Group = list[tuple[Given, asyncio.Future[Got]]]


class Intake(Generic[Given, Got]):
    """Takes the submissions of all campaigns or plans, and passes those of one to `store`, one transaction at a time.
    `observe` is called with the campaign, the results and the seconds of each transaction.
    """

    def __init__(
        self,
        store: Callable[[str, Sequence[Given]], list[Got]],
        observe: Callable[[str, Sequence[Got], float], None] | None = None,
    ) -> None:
        self._store = store
        self._observe = observe
        self._queues: dict[str, Group[Given, Got]] = {}
        # Bytes that wait to be stored.
        self.waiting = 0
        self._wake = asyncio.Event()
        self._stopping = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="intake")
        self._task: asyncio.Task[None] | None = None
        # Groups that the database failed, until their next attempt.
        self._again: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Store what is waiting, then stop. Nothing that was accepted is lost."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task
        while self._again:
            await asyncio.gather(*self._again)
        self._thread.shutdown()

    async def submit(self, campaign: str, submission: Given) -> Got:
        """Return the result of a submission, once it is on the disk."""
        if self._stopping:
            raise Refused(ServerProblem.STOPPING)
        if self.waiting + len(submission.body) > MAX_WAITING:
            raise Refused(ServerProblem.BUSY)
        future: asyncio.Future[Got] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(campaign, []).append((submission, future))
        self.waiting += len(submission.body)
        self._wake.set()
        return await future

    async def _run(self) -> None:
        """Store what waits, group by group, until the intake stops."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queues:
                # The campaign that has waited longest, as far as its submissions fit into one transaction.
                campaign, queue = next(iter(self._queues.items()))
                del self._queues[campaign]
                group = _first(queue, MAX_GROUP)
                if len(group) < len(queue):
                    self._queues[campaign] = queue[len(group) :]
                await self._run_group(campaign, group)
            if self._stopping:
                return

    async def _run_group(self, campaign: str, group: Group[Given, Got], attempt: int = 0) -> None:
        """Store a group in one transaction, and give each sender its result."""
        submissions = [submission for submission, _ in group]
        started = time.monotonic()
        try:
            results = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._store, campaign, submissions
            )
        except Exception as error:
            await self._failed(campaign, group, attempt, error)
            return
        for (_, future), part in zip(group, results, strict=True):
            if not future.done():
                future.set_result(part)
        self.waiting -= sum(len(submission.body) for submission in submissions)
        if self._observe is not None:
            self._observe(campaign, results, time.monotonic() - started)

    async def _failed(self, campaign: str, group: Group[Given, Got], attempt: int, error: Exception) -> None:
        """Try again later, beside the others; or each on its own, so that one cannot fail its neighbours; or give up.

        A commit whose outcome is unknown may have been kept. Then the ids are known the second time, and the
        reports are answered as duplicates, which devices take as acknowledged: counted once all the same.
        """
        if isinstance(error, StorageUnavailable) and attempt < len(PAUSES):
            task = asyncio.create_task(self._later(campaign, group, attempt))
            self._again.add(task)
            task.add_done_callback(self._again.discard)
            return
        if not isinstance(error, Refused | StorageUnavailable) and len(group) > 1:
            for one in group:
                await self._run_group(campaign, [one], attempt)
            return
        problem = error if isinstance(error, Refused) else Refused(ServerProblem.STORAGE_UNAVAILABLE)
        for _, future in group:
            if not future.done():
                future.set_exception(problem)
        self.waiting -= sum(len(submission.body) for submission, _ in group)
        if not isinstance(error, Refused):
            log.error("reports of %s could not be stored: %s", campaign, error, exc_info=error)

    async def _later(self, campaign: str, group: Group[Given, Got], attempt: int) -> None:
        await asyncio.sleep(PAUSES[attempt])
        await self._run_group(campaign, group, attempt + 1)


def _first(queue: Group[Given, Got], most: int) -> Group[Given, Got]:
    """Take submissions from the front of the queue, at least one, up to this number of bytes."""
    total = 0
    for count, (submission, _) in enumerate(queue):
        total += len(submission.body)
        if total > most and count > 0:
            return queue[:count]
    return queue
