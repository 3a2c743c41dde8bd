"""Somebody who takes reports over HTTP, or does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextmanager
def server(
    status: int, body: bytes = b"", place: str = ""
) -> Iterator[tuple[str, list[tuple[str, dict[str, str], bytes]]]]:
    """The address of a campaign where every report gets this answer, and the requests that came."""
    seen: list[tuple[str, dict[str, str], bytes]] = []

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, dict(self.headers), data))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", place)
            self.end_headers()
            # Nobody need read all of it.
            with suppress(ConnectionError):
                self.wfile.write(body)

        def do_GET(self) -> None:
            seen.append((self.path, dict(self.headers), b""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Taker) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{found.server_port}/v1/campaigns/spring", seen
        finally:
            found.shutdown()
            thread.join()
