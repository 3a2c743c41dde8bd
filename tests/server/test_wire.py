from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ldptrace.errors import InputError
from ldptrace.server.wire import Answer, Connection, ConnectionEnded, Target

Talk = Callable[[Connection], Awaitable[Answer]]


def spoken(said: bytes, talk: Talk) -> tuple[Answer, bytes]:
    """What the client makes of a server that says this, and what the client sent."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.readuntil(b"\r\n\r\n"))
        writer.write(said)
        await writer.drain()
        writer.close()

    async def both() -> Answer:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connection = Connection(Target("127.0.0.1", port, False, "/base"))
        try:
            return await talk(connection)
        finally:
            connection.close()
            server.close()

    return asyncio.run(both()), bytes(heard)


def get(connection: Connection) -> Awaitable[Answer]:
    return connection.request("GET", "/x", headers=(("A", "b"),))


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", Answer(200, b"abc")),
        (
            b"HTTP/1.1 409 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            Answer(409, b"abc"),
        ),
        (b"HTTP/1.1 204 None\r\n\r\n", Answer(204, b"")),
    ],
)
def test_answers_of_every_kind(said: bytes, answer: Answer) -> None:
    found, heard = spoken(said, get)
    assert found == answer
    assert heard.startswith(b"GET /base/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nA: b\r\n" in heard


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"no\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_ends_the_connection(said: bytes) -> None:
    with pytest.raises(ConnectionEnded):
        spoken(said, get)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://host", Target("host", 443, True, "")),
        ("http://host/a/b/", Target("host", 80, False, "/a/b")),
        ("http://[::1]:8000", Target("::1", 8000, False, "")),
    ],
)
def test_addresses(url: str, target: Target) -> None:
    assert Target.of(url) == target


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "http://", "http://host:x", ""])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InputError, match="address"):
        Target.of(url)
