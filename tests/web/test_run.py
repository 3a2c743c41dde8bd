"""The server as a process: ends whoever is too slow, and says at once if its port is taken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from typer.testing import CliRunner
from uvicorn.server import ServerState

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.server.app import create_app
from ldptrace.server.storage import open_database
from ldptrace.web import run
from ldptrace.web.run import MAX_PIPELINED, JsonLines
from server_kit import TELLING, TYPE, Server, counts, opened, running, telling_report


def line(error: bool = False) -> dict[str, str]:
    """What is written of a record, with an error that holds somebody's value."""
    info = None
    if error:
        try:
            raise ValueError("13.4, 52.5")
        except ValueError:
            info = sys.exc_info()
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "read %s\nlines", (3,), info)
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, str] = json.loads(text)
    return found


def test_a_record_is_one_line() -> None:
    entry = line()
    assert (entry["level"], entry["message"]) == ("warning", "read 3\nlines")
    assert entry["at"].endswith("+00:00")


def test_an_error_is_told_without_its_values() -> None:
    entry = line(error=True)
    assert entry["error"] == "ValueError"
    assert entry["where"].startswith("test_run.py:")
    assert entry["where"].endswith(" line")
    assert "13.4" not in json.dumps(entry)


pytestmark = pytest.mark.slow


def test_slow_clients_are_ended_and_nobody_waits_for_them(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    report = telling_report(1)
    lines = (
        "POST /v1/campaigns/trips/reports HTTP/1.1",
        "Host: x",
        *map(": ".join, TYPE.items()),
        f"Content-Length: {len(report)}",
        "",
        "",
    )
    head = "\r\n".join(lines).encode()
    with running("--data", str(tmp_path), "--timeout", "2") as server:
        slow = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(50)]
        for link in slow:
            link.sendall(head + report[:10])
        assert server.post("trips", telling_report(2))[0] == 200
        answers = [link.makefile("rb").read() for link in slow]
        assert all(b"408" in answer.split(b"\r\n")[0] and b"too-slow" in answer for answer in answers)
        for link in slow:
            link.close()
        # Bytes that are no HTTP at all, and a request that ends in the middle.
        for text in (b"\x16\x03\x01\x02garbage\r\n\r\n", head + report[:5]):
            with socket.create_connection(("127.0.0.1", server.port), 20) as link:
                link.sendall(text)
        assert server.post("trips", report)[0] == 200
        assert "Traceback" not in server.log.read_text()
    assert counts(database, "trips")[:4] == [0, 1, 1, 0]


def test_a_server_on_a_port_that_is_taken(tmp_path: Path) -> None:
    with running("--data", str(tmp_path)) as server:
        second = CliRunner().invoke(
            application("serve"), ["serve", "--data", str(tmp_path), "--port", str(server.port)]
        )
    assert isinstance(second.exception, InputError)
    assert (
        str(second.exception) == f"port {server.port} of 127.0.0.1 is in use: choose another port with --port"
    )
    # Nobody is sent to an address where another server answers.
    assert second.output == ""


def test_bytes_are_no_name_of_a_machine() -> None:
    with pytest.raises(InputError, match="--host is an address or the name of a machine"):
        run.listen("\udcff", 0)


def answer_to(port: int, *pieces: bytes) -> bytes:
    """What the server says to these bytes until it ends the connection."""
    with socket.create_connection(("127.0.0.1", port), 20) as link:
        with contextlib.suppress(OSError):
            for piece in pieces:
                link.sendall(piece)
        said = b""
        with contextlib.suppress(ConnectionResetError):
            while part := link.recv(1 << 16):
                said += part
        return said


def test_heads_are_bounded_and_bodies_are_not_taken_for_heads(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    first = b"POST /v1/campaigns/trips/reports HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    kind = b"Content-Type: application/vnd.ldptrace.reports\r\n"
    chunked = first + kind + b"Transfer-Encoding: chunked\r\n\r\n"
    report, many = telling_report(1), b"".join(telling_report(value) for value in range(2, 4_002))
    endless = [b"x" * 8192] * 16_000
    with running("--data", str(tmp_path)) as server:
        before = memory(server)
        for opening in (
            b"GET /" + b"x" * 40_000,
            first + b"X-Endless: ",
            first + b"Ldptrace-Admission: ",
            chunked + b"%x\r\n" % len(report) + report + b"\r\n0\r\nX-Trailer: ",
        ):
            said = answer_to(server.port, opening, *endless)
            # An end without an answer is what a client sees that goes on sending.
            assert not said or b" 431 " in said.split(b"\r\n")[0] or b" 200 " in said.split(b"\r\n")[0], said
            assert server.ask("GET", "/healthz")[0] == 200
        for size in (33_000, 70_000):
            short = answer_to(server.port, first + b"X-Long: " + b"x" * size + b"\r\n\r\n")
            assert b"head-too-large" in short
        assert b"not-found" in answer_to(
            server.port, b"GET /x HTTP/1.0\r\nX-Long: " + b"x" * 32_000 + b"\r\n\r\n"
        )
        # A batch in one piece, and a body in chunks of one byte: more bytes around it than in it.
        whole = first + kind + b"Content-Length: %d\r\n\r\n" % len(many) + many
        assert b'{"counted":4000' in answer_to(server.port, whole)
        last = telling_report(4_002)
        ones = b"".join(b"1\r\n%c\r\n" % byte for byte in last) + b"0\r\n\r\n"
        assert b'{"counted":1' in answer_to(server.port, chunked + ones)
        # Each chunk costs a copy of those before it, so that there are not many of so few bytes.
        assert b"head-too-large" in answer_to(server.port, chunked + b"1\r\nx\r\n" * 7_000)
        large = b"".join(b"200\r\n%s\r\n" % bytes(512) for _ in range(7_000)) + b"0\r\n\r\n"
        assert b'{"counted":0' in answer_to(server.port, chunked + large)
        # The server itself grows by up to 30 MB with its first requests; one endless head has 131 MB.
        assert memory(server) < before + 60
        assert "Traceback" not in server.log.read_text()
    assert max(counts(database, "trips")) == 1


def test_requests_that_do_not_wait_for_answers_are_few(tmp_path: Path) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with running("--data", str(tmp_path)) as server:
        assert answer_to(server.port, one * MAX_PIPELINED + last).count(b'"ok"') == MAX_PIPELINED + 1
        assert answer_to(server.port, one * 500).count(b'"ok"') <= MAX_PIPELINED + 1


class Link(asyncio.Transport):
    """A connection whose other end reads nothing."""

    aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        pass


@pytest.mark.parametrize("reads", [True, False])
def test_a_client_that_does_not_read_its_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: bool
) -> None:
    monkeypatch.setattr(run, "READ_WITHIN", 0.01)

    async def wait() -> bool:
        config = uvicorn.Config(create_app(open_database(tmp_path)), log_config=None)
        protocol, link = run.GuardedProtocol(config, ServerState(), {}), Link()
        protocol.connection_made(link)
        protocol.pause_writing()
        if reads:
            protocol.resume_writing()
        await asyncio.sleep(0.1)
        protocol.connection_lost(None)
        return link.aborted

    assert asyncio.run(wait()) is not reads


def test_bodies_that_were_sent_in_part_do_not_fill_the_memory(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    head = (
        b"POST /v1/campaigns/trips/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n"
        b"Content-Type: application/vnd.ldptrace.reports\r\n\r\n"
    )
    with running("--data", str(tmp_path)) as server:
        before = memory(server)
        slow = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(60)]
        for link in slow:
            with contextlib.suppress(OSError):
                link.sendall(head + bytes(3_900_000))
        # 234 MB were sent; a report is counted all the same.
        assert server.post("trips", telling_report(1))[0] == 200
        assert memory(server) < before + 130
        for link in slow:
            link.close()
    assert counts(database, "trips")[1] == 1


def memory(server: Server) -> float:
    """Resident memory of a server in MB."""
    assert server.process is not None
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024
