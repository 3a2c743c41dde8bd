"""A small HTTP client for the fleet: one connection per player, and faults that a library would hide."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from ldptrace.errors import InputError

# Seconds until a connection, or an answer, is given up.
PATIENCE = 30.0


class ConnectionEnded(Exception):
    """The server went away, did not answer in time, or was never there."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


@dataclass(frozen=True)
class Target:
    """Where the server is."""

    host: str
    port: int
    tls: bool
    prefix: str

    @staticmethod
    def of(url: str) -> Target:
        """The parts of an address.

        >>> Target.of("http://127.0.0.1:8000/")
        Target(host='127.0.0.1', port=8000, tls=False, prefix='')
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise InputError(f"this is not an address: {url!r}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"an address is http://host:port or https://host, got {url!r}")
        tls = parts.scheme == "https"
        return Target(parts.hostname, port or (443 if tls else 80), tls, parts.path.rstrip("/"))


class Connection:
    """One connection, opened when it is needed and kept."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def request(
        self, method: str, path: str, body: bytes = b"", headers: tuple[tuple[str, str], ...] = ()
    ) -> Answer:
        """Send a request and read its answer; any fault ends the connection."""
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await self._opened()
                writer.write(self._head(method, path, len(body), headers) + body)
                await writer.drain()
                return await _read(reader)
        except (OSError, EOFError, TimeoutError, ValueError, IndexError, asyncio.LimitOverrunError) as error:
            self.close()
            raise ConnectionEnded(str(error) or type(error).__name__) from None

    async def send_and_leave(
        self, method: str, path: str, body: bytes, headers: tuple[tuple[str, str], ...], part: float
    ) -> None:
        """Send this part of a request, then end the connection without reading the answer."""
        try:
            async with asyncio.timeout(PATIENCE):
                _, writer = await self._opened()
                data = self._head(method, path, len(body), headers) + body
                writer.write(data[: max(1, int(part * len(data)))])
                await writer.drain()
        except (OSError, TimeoutError):
            pass
        finally:
            self.close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is None or self._writer is None or self._writer.is_closing():
            context = ssl.create_default_context() if self._target.tls else None
            self._reader, self._writer = await asyncio.open_connection(
                self._target.host, self._target.port, ssl=context
            )
        return self._reader, self._writer

    def _head(self, method: str, path: str, size: int, headers: tuple[tuple[str, str], ...]) -> bytes:
        lines = [
            f"{method} {self._target.prefix}{path} HTTP/1.1",
            f"Host: {self._target.host}:{self._target.port}",
        ]
        lines += [f"{name}: {value}" for name, value in headers]
        return "\r\n".join([*lines, f"Content-Length: {size}", "", ""]).encode("ascii")


async def _read(reader: asyncio.StreamReader) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    status = int(first.split(" ")[1])
    fields = dict(line.lower().split(":", 1) for line in lines if ":" in line)
    if "content-length" in fields:
        return Answer(status, await reader.readexactly(int(fields["content-length"])))
    if fields.get("transfer-encoding", "").strip() == "chunked":
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return Answer(status, b"".join(parts))
    return Answer(status, b"")
