"""Chunks over threads. The kernels release the GIL, so two cores do twice the work.

Chunks have a fixed size and each draws from its own child of the random source, so a result depends on
the seed alone, never on the number of cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
CHUNK = 1 << 15


def chunks(n: int, size: int = CHUNK) -> list[tuple[int, int]]:
    """Consecutive ranges [start, stop) that cover 0..n.

    >>> chunks(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def map_chunks(work: Callable[[int, int, int], T], n: int, size: int = CHUNK) -> list[T]:
    """Results of `work(number, start, stop)` for every chunk of 0..n, in order."""
    ranges = chunks(n, size)
    if len(ranges) <= 1:
        return [work(number, start, stop) for number, (start, stop) in enumerate(ranges)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        futures = [pool.submit(work, number, start, stop) for number, (start, stop) in enumerate(ranges)]
        return [future.result() for future in futures]
