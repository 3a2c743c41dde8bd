"""Start the application under uvicorn: time-outs, limits, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import uvicorn

from ldptrace.server import logs
from ldptrace.server.app import create_app
from ldptrace.server.limits import Settings
from ldptrace.server.storage import Database

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Protocol
except ImportError:  # httptools is not built for every platform
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Protocol  # type: ignore[assignment]

# Seconds until the first line and the headers of a request must be there.
HEADERS_WITHIN = 15.0
# Seconds that running requests have when the server is told to stop.
GRACE = 25
log = logging.getLogger("ldptrace.server")


class GuardedProtocol(_Protocol):
    """uvicorn's own, which also ends connections that open and then say nothing."""

    _guard: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._guard = self.loop.call_later(HEADERS_WITHIN, self._too_quiet)

    def data_received(self, data: bytes) -> None:
        if self._guard is None and self._between_requests():
            self._guard = self.loop.call_later(HEADERS_WITHIN, self._too_quiet)
        super().data_received(data)
        if self._guard is not None and not self._between_requests():
            self._guard.cancel()
            self._guard = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._guard is not None:
            self._guard.cancel()
        super().connection_lost(exc)

    def _between_requests(self) -> bool:
        """Whether no request has arrived whose answer is due."""
        return self.cycle is None or self.cycle.response_complete

    def _too_quiet(self) -> None:
        self._guard = None
        if self._between_requests() and not self.transport.is_closing():
            self.transport.close()


def serve(database: Database, host: str, port: int, settings: Settings, proxies: str) -> None:
    """Run until told to stop. `proxies` are the addresses whose X-Forwarded-For is believed."""
    # Before anything else: a port that is taken is told at once.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=2048)
    logs.configure()
    config = uvicorn.Config(
        create_app(database, settings),
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
    address, number = listening.getsockname()[:2]
    log.info("listening at http://%s:%d", f"[{address}]" if ":" in address else address, number)
    uvicorn.Server(config).run(sockets=[listening])
