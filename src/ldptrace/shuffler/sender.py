"""Close batches when their windows have closed, and send them to the curator until it has acknowledged them."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.store import FIXED, Batch, Store
from ldptrace.web.answers import BATCH_TYPE

# The longest silence of the curator, who opens a batch before the answer, and the longest request, both in seconds:
# batches for other curators wait meanwhile.
PATIENCE, WHOLE = 600.0, 1_800.0
# Seconds until the next attempt: twice as many each time, up to the second number.
PAUSE, LONGEST = 2.0, 300.0
# Bytes of an answer that are read.
MOST = 1 << 16
log = logging.getLogger("ldptrace.shuffler")


@dataclass(frozen=True)
class Request:
    """A PUT request to the curator: where, with which token, and its body of `size` bytes in pieces."""

    url: str
    token: str
    media_type: str
    size: int
    body: Iterable[bytes]


# Sends a request and returns the status and the text of the answer; raises `OSError` if there is none.
Put = Callable[[Request], tuple[int, str]]


class Sender:
    """Sends the batches of a store. `wait` tells the seconds of a clock that never goes back."""

    def __init__(self, store: Store, put: Put, wait: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._put = put
        self._wait = wait
        # When a batch is tried again, and the pause after that.
        self._next: dict[tuple[str, int], tuple[float, float]] = {}

    def step(self) -> None:
        """Do what is due now: close batches, and try each of those that the curator does not have once."""
        for batch in self._store.close_due():
            log.info(
                "a batch of plan %s has closed: %s reports, %s", batch.plan[:12], batch.reports, batch.state
            )
        for batch, served in self._store.unsent():
            key, now = (batch.plan, batch.window), self._wait()
            due, pause = self._next.get(key, (now, PAUSE))
            if now < due:
                continue
            answer = self._sent(batch, served)
            if answer is None:
                self._next[key] = (self._wait() + pause, min(2 * pause, LONGEST))
            else:
                self._store.acknowledged(batch, answer)
                self._next.pop(key, None)

    def _sent(self, batch: Batch, served: Served) -> str | None:
        """Send a batch, or the number of reports of a deleted one, and return the curator's final answer."""
        try:
            status, text = self._put(self._request(batch, served))
            answer = json.loads(text)
            code = str(answer.get("code", "")) if isinstance(answer, dict) else ""
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            log.warning("plan %s: the curator gives no answer: %s", batch.plan[:12], type(error).__name__)
            return None
        if status == 200:
            return text
        if status == 409 and code == "another-batch":
            log.error("plan %s: the curator has another batch for this window", batch.plan[:12])
            return json.dumps({"problem": code})
        log.warning("plan %s: the curator answers %s %s", batch.plan[:12], status, code[:40])
        return None

    def _request(self, batch: Batch, served: Served) -> Request:
        window = "" if batch.window == NO_WINDOW else f"/windows/{batch.window}"
        url = f"{served.campaign}/plans/{batch.plan}{window}/batch"
        if batch.state == FIXED:
            size = batch.reports * served.size
            return Request(url, served.token, BATCH_TYPE, size, self._store.reports(batch))
        number = json.dumps({"deleted": batch.reports}).encode()
        return Request(url, served.token, "application/json", len(number), [number])


class Network:
    """The network, over which one request at a time is sent."""

    def __init__(self) -> None:
        self._link: socket.socket | None = None
        self._stopped = False

    def put(self, request: Request) -> tuple[int, str]:
        """Send a request, and return the status and the text of the answer."""
        if self._stopped:
            raise OSError("the shuffler is being stopped")
        parts = urlsplit(request.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=PATIENCE)
        headers = {
            "Authorization": f"Bearer {request.token}",
            "Content-Type": request.media_type,
            "Content-Length": str(request.size),
        }
        end = threading.Timer(WHOLE, self._cut)
        end.daemon = True
        try:
            connection.connect()
            self._link = connection.sock
            if self._stopped:
                raise OSError("the shuffler is being stopped")
            end.start()
            connection.request("PUT", parts.path, request.body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(MOST).decode("utf-8", "replace")
        finally:
            end.cancel()
            self._link = None
            connection.close()

    def stop(self) -> None:
        """End the request of another thread, and send no more."""
        self._stopped = True
        self._cut()

    def _cut(self) -> None:
        # The thread that waits gets an error, or what has arrived.
        link = self._link
        if link is not None:
            with suppress(OSError):
                # Not the method of a TLS socket, which ends the encryption first: the other thread may still write.
                socket.socket.shutdown(link, socket.SHUT_RDWR)
