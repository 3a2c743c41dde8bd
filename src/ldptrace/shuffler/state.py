"""What all requests to a shuffler share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from ldptrace.shuffler.sender import Put, Sender, put
from ldptrace.shuffler.store import Sealed, Store
from ldptrace.web.intake import Intake
from ldptrace.web.limits import Arriving, RateLimit, Settings
from ldptrace.web.problems import StorageUnavailable

T = TypeVar("T")
# Seconds between two looks for batches that are due.
MAINTAIN = 1.0
log = logging.getLogger("ldptrace.shuffler")


class State:
    """The storage, intake, limits and sender of a shuffler that runs in the loop in which this is made."""

    def __init__(self, store: Store, settings: Settings, send: Put = put) -> None:
        self.store = store
        self.settings = settings
        self.rate = RateLimit(settings.rate, settings.burst)
        self.arriving = Arriving()
        self.intake: Intake[Sealed, int] = Intake(store.take)
        self.sender = Sender(store, send, asyncio.get_running_loop().time)
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="requests")
        self._sending = ThreadPoolExecutor(1, thread_name_prefix="sending")

    @staticmethod
    def of(request: Request) -> State:
        state: State = request.app.state.shared
        return state

    async def call(self, work: Callable[[], T]) -> T:
        """Run something that waits for the database in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def maintain(self) -> None:
        """Close and send what is due, for as long as the shuffler runs."""
        while True:
            try:
                await asyncio.get_running_loop().run_in_executor(self._sending, self.sender.step)
            except StorageUnavailable as error:
                log.error("batches could not be closed or sent: %s", error)
            except Exception as error:  # Whatever it is: the next batches are closed and sent.
                log.error("batches could not be closed or sent", exc_info=error)
            await asyncio.sleep(MAINTAIN)

    async def stop(self) -> None:
        """Store what was accepted, and end."""
        await self.intake.stop()
        self._threads.shutdown()
        # A batch that is being sent is sent again after the next start.
        self._sending.shutdown(wait=False, cancel_futures=True)
        self.store.close()
