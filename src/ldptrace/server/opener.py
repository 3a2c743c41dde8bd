"""Open the sealed reports of a batch, in processes beside the server, so that it goes on serving."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from ldptrace.curator.opening import CuratorKey

# Sealed reports that are opened at once without another process.
FEW = 2_000


def open_batch(secret: str, plan_id: str, window: int | None, body: bytes, size: int) -> bytes:
    """Return the reports of all seals of this size that can be opened, in their order."""
    opened, count = partial(_opened, secret, plan_id, window, size), len(body) // size
    if count <= FEW:
        return opened(body)
    workers = min(os.cpu_count() or 1, count // FEW + 1)
    share = -(-count // workers) * size
    parts = (body[start : start + share] for start in range(0, len(body), share))
    # The server, which answers others meanwhile, comes first.
    with ProcessPoolExecutor(workers, get_context("spawn"), os.nice, (5,)) as pool:
        return b"".join(pool.map(opened, parts))


def _opened(secret: str, plan_id: str, window: int | None, size: int, body: bytes) -> bytes:
    seals = (body[at : at + size] for at in range(0, len(body), size))
    reports, _ = CuratorKey.from_text(secret).opener(plan_id).open_all(seals, window)
    return b"".join(reports)
