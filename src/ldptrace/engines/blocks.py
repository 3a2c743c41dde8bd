"""Blocks: the trajectories, or points, that one thread works on at a time.

Where a block ends depends on the trajectories alone, never on the batches in which they came. Whatever is random in a
block draws from the child of its number, so results depend on neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.parallel import CHUNK

# Points of a block at most, unless a single trajectory has more: 48 MB with their times.
POINTS = 1 << 21


def cuts(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The blocks of trajectories with these offsets, as ranges [start, stop).

    >>> cuts(np.array([0, 3, 3, 10]))
    [(0, 3)]
    >>> cuts(np.array([0, POINTS, POINTS + 1, POINTS + 2]))
    [(0, 1), (1, 3)]
    """
    found, start = [], 0
    while start < len(offsets) - 1:
        stop = max(_fitting(offsets, start, CHUNK, POINTS), start + 1)
        found.append((start, stop))
        start = stop
    return found


class Ragged(Protocol):
    """Many of something that has points: trajectories, or what is known of them."""

    @property
    def offsets(self) -> NDArray[np.int64]: ...

    @property
    def points(self) -> int: ...

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int, /) -> Self: ...

    @staticmethod
    def concat(parts: Any, /) -> Any: ...


R = TypeVar("R", bound=Ragged)


def in_blocks(batches: Iterable[R]) -> Iterator[R]:
    """Batches that come one by one, as blocks."""
    waiting: list[R] = []
    have = points = 0
    for batch in batches:
        at = 0
        while at < len(batch):
            stop = _fitting(batch.offsets, at, CHUNK - have, POINTS - points)
            if stop == at and not waiting:
                stop = at + 1
            if stop > at:
                waiting.append(batch.part(at, stop))
                have, points, at = have + stop - at, points + waiting[-1].points, stop
            if at < len(batch):
                yield joined(waiting)
                waiting, have, points = [], 0, 0
    if waiting:
        yield joined(waiting)


def joined(parts: list[R]) -> R:
    """One after the other; a single one as it is."""
    first = parts[0]
    return first if len(parts) == 1 else first.concat(parts)


def _fitting(offsets: NDArray[np.int64], start: int, trajectories: int, points: int) -> int:
    """Number after the last of the trajectories from `start` on that are no more than this together."""
    last = int(np.searchsorted(offsets, offsets[start] + points, side="right")) - 1
    return min(start + trajectories, last, len(offsets) - 1)
