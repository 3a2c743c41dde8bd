"""Uniform integers from random bytes: the only way randomness enters a device.

A source of bytes is any function `take(count) -> bytes`. The device takes them from the operating system;
test vectors take them from a file. Both draw integers by the same rule, so equal bytes give equal reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ldptrace.errors import ProtocolError


class Source:
    """Uniform integers below any bound, exactly, from a stream of random bytes.

    >>> Source(BytesReader(bytes([255, 9]))).below(10)  # 255 & 15 = 15 is rejected, 9 is taken
    9
    """

    def __init__(self, take: Callable[[int], bytes] = os.urandom) -> None:
        self.take = take

    def below(self, bound: int) -> int:
        """Uniform in 0..bound-1: the low bits of as few big-endian bytes as hold them, until they fit."""
        if bound < 1:
            raise ValueError(f"a bound must be at least 1, got {bound}")
        bits = (bound - 1).bit_length()
        if bits == 0:
            return 0
        size, mask = (bits + 7) // 8, (1 << bits) - 1
        while True:
            value = int.from_bytes(self.take(size), "big") & mask
            if value < bound:
                return value

    def many_below(self, bound: int, count: int) -> list[int]:
        """The same values from the same bytes as `count` calls of `below`, in fewer reads."""
        bits = (bound - 1).bit_length()
        if bits == 0:
            return [self.below(bound)] * count
        size, mask, values = (bits + 7) // 8, (1 << bits) - 1, list[int]()
        while len(values) < count:
            data = self.take(size * (count - len(values)))
            drawn = [int.from_bytes(data[at : at + size], "big") & mask for at in range(0, len(data), size)]
            values += [value for value in drawn if value < bound]
        return values

    def subset(self, items: Sequence[int], size: int) -> list[int]:
        """A uniformly random subset of `items`, ascending (the first `size` steps of Fisher-Yates)."""
        pool = list(items)
        for position in range(size):
            other = position + self.below(len(pool) - position)
            pool[position], pool[other] = pool[other], pool[position]
        return sorted(pool[:size])


class BytesReader:
    """Hands out a given byte string piece by piece, for test vectors."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def __call__(self, count: int) -> bytes:
        piece = self.data[self.position : self.position + count]
        if len(piece) < count:
            raise ProtocolError(f"the random bytes ran out after {len(self.data)} bytes")
        self.position += count
        return piece
