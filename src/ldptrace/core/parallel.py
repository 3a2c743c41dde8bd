"""Run chunks of work in threads. Compiled loops release Python's lock, so that all cores work.

Chunks have a fixed size, and each chunk has its own source of random numbers. So the result depends on the seed
alone, not on the number of cores or on the memory.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

S = TypeVar("S")
T = TypeVar("T")
CHUNK = 1 << 15


def chunks(n: int, size: int = CHUNK) -> list[tuple[int, int]]:
    """Return consecutive ranges [start, stop) that cover 0 to n.

    >>> chunks(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def threads() -> int:
    """Return the number of threads."""
    return os.cpu_count() or 1


def map_chunks(work: Callable[[int, int, int], T], n: int, size: int = CHUNK) -> list[T]:
    """Return the results of `work(number, start, stop)` for every chunk of 0 to n, in order."""
    ranges = list(enumerate(chunks(n, size)))
    if len(ranges) <= 1:
        return [work(number, *part) for number, part in ranges]
    return list(map_ordered(lambda numbered: work(numbered[0], *numbered[1]), ranges, len(ranges)))


def map_ordered(work: Callable[[S], T], items: Iterable[S], waiting: int | None = None) -> Iterator[T]:
    """Yield the results of `work` for items that come one by one, in order. Few items are in memory at a time.

    At most `waiting` items are in work or finished but not yet taken, by default twice the number of threads. The
    items are made in the calling thread.

    >>> list(map_ordered(lambda item: item * item, range(5)))
    [0, 1, 4, 9, 16]
    """
    most = waiting or 2 * threads()
    begun: deque[Future[T]] = deque()
    with ThreadPoolExecutor(max_workers=min(threads(), most)) as pool:
        try:
            for item in items:
                begun.append(pool.submit(work, item))
                del item
                if len(begun) >= most:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            # After an error, or Ctrl-C, nobody waits for the rest.
            for future in begun:
                future.cancel()


def child(rng: np.random.Generator, number: int) -> np.random.Generator:
    """Return the child with this number of a random source, without changing the source.

    Children of one source are independent of each other and of the source. A caller that needs several sets of
    children takes each set from its own spawned source.

    >>> source = np.random.default_rng(1)
    >>> child(source, 5).random() == child(source, 5).random() != child(source, 6).random()
    True
    """
    seed = rng.bit_generator.seed_seq
    assert isinstance(seed, np.random.SeedSequence)
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number), pool_size=seed.pool_size)
    return np.random.Generator(type(rng.bit_generator)(own))


def added(one: S, other: S, **otherwise: Any) -> S:
    """Add two objects field by field, except fields that are combined `otherwise`.

    >>> from ldptrace.core.outside import Crossings
    >>> added(Crossings("cut", trips=2, points=9), Crossings("cut", trips=1, points=3), policy="cut").points
    12
    """
    record: Any = one
    names = [column.name for column in fields(record) if column.name not in otherwise]
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    return replace(record, **sums, **otherwise)


class Each(tuple[T, ...]):
    """Several things that are added entry by entry.

    >>> Each((1, [2])) + Each((3, [4]))
    (4, [2, 4])
    """

    def __add__(self, other: Any) -> Each[T]:
        return Each(a + b for a, b in zip(self, other, strict=True))


class _Nothing:
    """What a sum of anything can start from.

    >>> NOTHING + 3
    3
    """

    def __add__(self, other: Any) -> Any:
        return other


NOTHING: Any = _Nothing()
