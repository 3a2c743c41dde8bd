"""The server as a process: ends whoever is too slow, and says at once if its port is taken."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.server.storage import open_database
from server_kit import TELLING, TYPE, counts, opened, running, telling_report

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
    assert isinstance(second.exception, OSError)
