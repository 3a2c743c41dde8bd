"""Run an application with uvicorn, with limits on request headers, time-outs, and a shutdown that loses no report.
Logs are JSON lines on stderr, without addresses, tokens or anything about a single report.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ldptrace.errors import InputError
from ldptrace.web.answers import PROBLEM_TYPE
from ldptrace.web.limits import MAX_HEAD, Settings
from ldptrace.web.problems import ServerProblem, document


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
            # Where the error was raised, without values, which could be private.
            for last in traceback.extract_tb(record.exc_info[2])[-1:]:
                entry["where"] = f"{last.filename.rpartition('/')[2]}:{last.lineno} {last.name}"
        return json.dumps(entry, ensure_ascii=True)


def configure_logs() -> None:
    """Configure the logs of the server and of uvicorn as JSON. There is no access log, because it would contain
    addresses and times."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("ldptrace.server", "ldptrace.shuffler", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.setLevel(logging.INFO)
        logger.propagate = name == "uvicorn.error"
    logging.getLogger("uvicorn.access").disabled = True


# Seconds until the first line and the headers of a request must be there.
HEADERS_WITHIN = 15.0
# Seconds that a client may take for what was written to it, before more is written.
READ_WITHIN = 120.0
# Requests of one connection that may wait for the answer to an earlier one.
MAX_PIPELINED = 16
# Headers of a request; browsers and proxies send a few dozen.
MAX_HEADERS = 128
# Bytes of a body that pay for one byte around them: chunks of 512 bytes and more may be as many as they like.
BODY_PER_FRAME = 64
# Seconds that running requests have when the server is told to stop.
GRACE = 25
log = logging.getLogger("ldptrace.server")


class GuardedProtocol(HttpToolsProtocol):
    """The protocol of uvicorn, which also closes idle connections and connections that waste resources: endless
    headers, chunks of one byte, or many requests without reading the responses.
    """

    _guard: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    # Bytes of a request besides its body: the first line, headers, the frames of chunks, trailers.
    _head = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._guard = self.loop.call_later(HEADERS_WITHIN, self._too_quiet)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on to the parser, and refuse a request whose head is too large."""
        if self._guard is None and self._between_requests():
            self._guard = self.loop.call_later(HEADERS_WITHIN, self._too_quiet)
        while data:
            # Never more than one byte beyond what a head may have.
            size = MAX_HEAD + 1 - self._head
            piece, data = data[:size], data[size:]
            self._head += len(piece)
            super().data_received(piece)
            if self.transport.is_closing():
                return
            if self._head > MAX_HEAD:
                self._refuse_head()
                return
        if self._guard is not None and not self._between_requests():
            self._guard.cancel()
            self._guard = None

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MAX_PIPELINED:
            # The parser ends here, and the connection with it.
            raise ValueError(f"at most {MAX_PIPELINED} requests may wait for an answer")
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MAX_HEADERS:
            raise ValueError(f"a request has at most {MAX_HEADERS} headers")
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._head = max(0, self._head - len(body) - len(body) // BODY_PER_FRAME)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_reading_guard()
        super().resume_writing()

    def _refuse_head(self) -> None:
        problem = ServerProblem.HEAD_TOO_LARGE
        body = json.dumps(document(problem)).encode()
        lines = (
            f"HTTP/1.1 {problem.status} Request Header Fields Too Large",
            f"content-type: {PROBLEM_TYPE}",
            f"content-length: {len(body)}",
            "connection: close",
        )
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._guard is not None:
            self._guard.cancel()
        self._stop_reading_guard()
        super().connection_lost(exc)

    def _stop_reading_guard(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _between_requests(self) -> bool:
        """Whether no request waits for its response."""
        return self.cycle is None or self.cycle.response_complete

    def _too_quiet(self) -> None:
        self._guard = None
        if self._between_requests() and not self.transport.is_closing():
            self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """Open the socket of the server, or raise an error if the address cannot be used."""
    if not host.isprintable():
        raise InputError(f"--host is an address or the name of a machine, got {host[:80]!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} of {host} is in use: choose another port with --port") from None
        raise InputError(f"cannot listen on port {port} of {host}: {error.strerror or error}") from None


def address(listening: socket.socket) -> str:
    """Return the address of a server, such as http://127.0.0.1:8000."""
    host, number = listening.getsockname()[:2]
    return f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"


def serve(app: ASGIApp, listening: socket.socket, settings: Settings, proxies: str) -> None:
    """Run the server until a signal stops it. `proxies` are the addresses whose header X-Forwarded-For is trusted."""
    configure_logs()
    config = uvicorn.Config(
        app,
        http=GuardedProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=True,
        forwarded_allow_ips=proxies,
        server_header=False,
        date_header=False,
        limit_concurrency=4_000,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        lifespan="on",
    )
    log.info("listening at %s", address(listening))
    _Server(config, settings.stopping).run(sockets=[listening])


class _Server(uvicorn.Server):
    """The server of uvicorn, which also ends the streams of events."""

    def __init__(self, config: uvicorn.Config, stopping: threading.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._stopping.set()
        super().handle_exit(sig, frame)
