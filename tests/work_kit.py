"""The work of a request to an application: how many functions run for it, those of Python and those of C."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

# Functions that a request with small parts calls, several times over.
FEW = 6_000


class Inline(Executor):
    """Runs everything at once, in the thread that asks for it, where its functions are counted."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments, **options))
        except BaseException as error:
            future.set_exception(error)
        return future


class Application:
    """The application, without a network, in one thread."""

    def __init__(self, app: Any, *threads: str) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._life = app.inner.router.lifespan_context(app.inner)
        self._loop.run_until_complete(self._life.__aenter__())
        state = app.inner.state.shared
        for owner, name in (
            (state, "_threads"),
            *((state, other) for other in threads),
            (state.intake, "_thread"),
        ):
            getattr(owner, name).shutdown()
            setattr(owner, name, Inline())

    def stop(self) -> None:
        self._loop.run_until_complete(self._life.__aexit__(None, None, None))
        self._loop.close()

    def work(self, *request: Any) -> int:
        """The work of a request after one like it, which has filled all caches."""
        self.ask(*request)
        counted = 0

        def count(_: Any, event: str, __: Any) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            self.ask(*request)
        finally:
            sys.setprofile(None)
        return counted

    def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, bytes]:
        return self._loop.run_until_complete(self._ask(method, path, headers or {}, body))

    async def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        where, _, query = path.partition("?")
        pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": method,
            "path": where,
            "raw_path": where.encode(),
            "query_string": query.encode(),
            "headers": [*pairs, (b"content-length", str(len(body)).encode())],
            "client": ("127.0.0.1", 5000),
            "server": ("test", 80),
            "scheme": "http",
            "http_version": "1.1",
            "app": self._app.inner,
        }
        status, parts = 0, []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            parts.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return status, b"".join(parts)
