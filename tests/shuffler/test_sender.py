"""Sending: the same set until the curator has it, the number of what was deleted, and nothing twice."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ldptrace.shuffler import sender as module
from ldptrace.shuffler.sender import Network, Request, Sender
from ldptrace.shuffler.store import Store
from shuffler_kit import BATCH, HOUR, NOW, sealed, serving, standing, telling


class Curator:
    """A curator that gives these answers, one after the other, and then the last one again."""

    def __init__(self, *answers: tuple[int, str] | OSError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Request, bytes]] = []

    def __call__(self, request: Request) -> tuple[int, str]:
        self.asked.append((request, b"".join(request.body)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer


@pytest.fixture
def clock() -> list[float]:
    return [float(NOW)]


def closed(folder: Path, clock: list[float], reports: int) -> Store:
    plan = telling()
    store = serving(folder, plan, lambda: clock[0])
    store.take(plan.id, [sealed(plan, value) for value in range(reports)])
    clock[0] += HOUR
    return store


def pieces(data: bytes, count: int) -> list[bytes]:
    size = len(data) // count
    return sorted(data[at : at + size] for at in range(0, len(data), size))


def test_the_same_set_is_sent_until_it_is_acknowledged(tmp_path: Path, clock: list[float]) -> None:
    store = closed(tmp_path, clock, 20)
    curator = Curator(
        *(OSError(), (503, "{}"), (200, "no JSON"), (200, "[" * 60_000)),
        *((409, '{"code":"wrong-window"}'), (200, '{"counted":20}')),
    )
    sender = Sender(store, curator, lambda: clock[0])
    for _ in range(9):
        sender.step()
        clock[0] += 40
    assert len(curator.asked) == 6
    assert len({tuple(pieces(body, 20)) for _, body in curator.asked}) == 1
    assert len({body for _, body in curator.asked}) == 6
    request, body = curator.asked[0]
    assert request.url.endswith(f"/v1/campaigns/trips/plans/{telling().id}/batch")
    assert (request.size, request.token, request.media_type) == (
        *(len(body), "token", "application/vnd.ldptrace.batch"),
    )
    assert [json.loads(one.answer) for one in store.batches()] == [{"counted": 20}]


def test_devices_do_not_wait_for_a_curator_who_reads_slowly(tmp_path: Path, clock: list[float]) -> None:
    plan = standing()
    store = serving(tmp_path, plan, lambda: clock[0])
    store.take(plan.id, [sealed(plan, value, 0) for value in range(BATCH)])
    clock[0] += 2.5 * HOUR
    store.close_due()
    [(batch, _)] = store.unsent()
    going = store.reports(batch)
    assert next(going)
    assert store.take(plan.id, [sealed(plan, 9, 1)]) == [0]


def test_the_pause_doubles(tmp_path: Path, clock: list[float]) -> None:
    curator = Curator((503, "{}"))
    sender = Sender(closed(tmp_path, clock, 20), curator, lambda: clock[0])
    times = []
    for _ in range(600):
        before = len(curator.asked)
        sender.step()
        if len(curator.asked) > before:
            times.append(clock[0])
        clock[0] += 1
    assert [b - a for a, b in itertools.pairwise(times)] == [2, 4, 8, 16, 32, 64, 128, 256]


def test_the_number_of_a_small_batch_is_told(tmp_path: Path, clock: list[float]) -> None:
    curator = Curator((200, "{}"))
    sender = Sender(closed(tmp_path, clock, BATCH - 1), curator, lambda: clock[0])
    sender.step()
    sender.step()
    [(request, body)] = curator.asked
    assert (json.loads(body), request.media_type) == ({"deleted": BATCH - 1}, "application/json")


def test_another_batch_is_not_sent_a_second_time(tmp_path: Path, clock: list[float]) -> None:
    curator = Curator((409, '{"code":"another-batch"}'))
    store = closed(tmp_path, clock, 20)
    sender = Sender(store, curator, lambda: clock[0])
    sender.step()
    clock[0] += 1_000
    sender.step()
    assert len(curator.asked) == 1
    assert store.unsent() == []


def test_a_batch_of_a_window_names_it(tmp_path: Path, clock: list[float]) -> None:
    plan, curator = standing(), Curator((200, "{}"))
    store = serving(tmp_path, plan, lambda: clock[0])
    store.take(plan.id, [sealed(plan, value, 3) for value in range(BATCH)])
    clock[0] = NOW + 9 * HOUR
    Sender(store, curator, lambda: clock[0]).step()
    assert [request.url.partition(plan.id)[2] for request, _ in curator.asked] == ["/windows/3/batch"]


@pytest.mark.parametrize("trickled", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_curator_cannot_hold_up_the_others_for_ever(
    trickled: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """He reads nothing, or answers byte by byte."""
    monkeypatch.setattr(module, "WHOLE", 0.5)
    over = threading.Event()

    def slow(listening: socket.socket) -> None:
        link, _ = listening.accept()
        with link, contextlib.suppress(OSError):
            if trickled:
                link.recv(1 << 16)
                link.sendall(trickled)
            while not over.wait(0.02):
                if trickled:
                    link.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        one = threading.Thread(target=slow, args=[listening])
        one.start()
        size = 3 if trickled else 1 << 25
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1/x"
        begun = time.monotonic()
        with contextlib.suppress(OSError):
            status, text = Network().put(Request(url, "secret", "a/b", size, [bytes(size)]))
            assert (status, set(text)) in [(200, {"a"}), (200, set())], "what has arrived is no answer"
        assert time.monotonic() - begun < 30
        over.set()
        one.join()


def test_a_request_goes_over_the_network() -> None:
    got: list[tuple[str, dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"counted":3}')

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        answering = threading.Thread(target=server.handle_request)
        answering.start()
        url = f"http://127.0.0.1:{server.server_port}/v1/x"
        request = Request(url, "secret", "a/b", 6, iter([b"abc", b"def"]))
        assert Network().put(request) == (200, '{"counted":3}')
        answering.join()
    [(path, headers, body)] = got
    assert (path, headers["Authorization"], headers["Content-Type"], body) == (
        *("/v1/x", "Bearer secret", "a/b", b"abcdef"),
    )
    with pytest.raises(OSError):
        Network().put(Request(url, "secret", "a/b", 0, ()))


def test_a_request_that_is_cut_stays_encrypted(tmp_path: Path) -> None:
    files = ("-keyout", tmp_path / "key", "-out", tmp_path / "cert")
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", *files)
    subprocess.run(["openssl", *made], check=True, capture_output=True)
    here, there = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl._create_unverified_context()
    here.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    one, two = socket.socketpair()
    with ThreadPoolExecutor(1) as pool, there.wrap_socket(two, do_handshake_on_connect=False) as link:
        answering = pool.submit(here.wrap_socket, one, server_side=True)
        link.do_handshake()
        curator = answering.result()
        network = Network()
        network._link = link
        network.stop()
        # Without its encryption, the socket would send what another thread still writes as it is.
        assert link.version() is not None
        with pytest.raises(OSError):
            link.sendall(b"secret")
        curator.close()


def test_a_shuffler_that_stops_while_it_connects_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    network, connect = Network(), http.client.HTTPConnection.connect

    def stopping(self: http.client.HTTPConnection) -> None:
        connect(self)
        network.stop()

    monkeypatch.setattr(http.client.HTTPConnection, "connect", stopping)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1/x"
        with pytest.raises(OSError, match="is being stopped"):
            network.put(Request(url, "secret", "a/b", 0, ()))
