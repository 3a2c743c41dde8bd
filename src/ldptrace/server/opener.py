"""Open the sealed reports of a batch, in processes beside the server, so that it goes on serving.

A process gets one JSON line and the sealed reports on standard input, and writes for each a byte, 1 if it could be
opened, and the report or zeros.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ldptrace.curator.opening import CuratorKey
from ldptrace.protocol.seals import SEAL_BYTES, label_bytes

# Sealed reports that are opened at once without another process.
FEW = 2_000


def open_batch(secret: str, plan_id: str, window: int | None, body: bytes, size: int) -> bytes:
    """Return the reports of all seals of this size that can be opened, in their order."""
    count = len(body) // size
    if count <= FEW:
        return _found(_opened(secret, plan_id, window, body, size), size)
    workers = min(os.cpu_count() or 1, count // FEW + 1)
    head = json.dumps([secret, plan_id, window, size]).encode() + b"\n"
    share = -(-count // workers) * size

    def run(start: int) -> bytes:
        command = [sys.executable, "-m", "ldptrace.server.opener"]
        done = subprocess.run(
            command, input=head + body[start : start + share], stdout=subprocess.PIPE, check=True
        )
        return _found(done.stdout, size)

    with ThreadPoolExecutor(workers) as pool:
        return b"".join(pool.map(run, range(0, len(body), share)))


def _opened(secret: str, plan_id: str, window: int | None, body: bytes, size: int) -> bytes:
    opener, label = CuratorKey.from_text(secret).opener(plan_id), label_bytes(window)
    none = bytes(1 + size - SEAL_BYTES)
    reports = (opener.open(body[at : at + size], label) for at in range(0, len(body), size))
    return b"".join(none if report is None else b"\x01" + report for report in reports)


def _found(marked: bytes, size: int) -> bytes:
    rows = np.frombuffer(marked, dtype=np.uint8).reshape(-1, 1 + size - SEAL_BYTES)
    return rows[rows[:, 0] == 1, 1:].tobytes()


def main() -> None:
    """Open what is on standard input."""
    # The server, which answers others meanwhile, comes first.
    os.nice(5)
    head = json.loads(sys.stdin.buffer.readline())
    secret, plan_id, window, size = head
    sys.stdout.buffer.write(_opened(secret, plan_id, window, sys.stdin.buffer.read(), size))


if __name__ == "__main__":
    main()
