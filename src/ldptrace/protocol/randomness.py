"""Uniform integers from random bytes: the only way randomness enters a device.

A source of bytes is any function `take(count) -> bytes`. The device takes them from the operating system;
test vectors take them from a file. Both draw integers by the same rule, so equal bytes give equal reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from ldptrace.errors import ProtocolError


class Source:
    """Uniform integers below any bound, exactly, from a stream of random bytes.

    >>> Source(BytesReader(bytes([255, 9]))).below(10)  # 255 & 15 = 15 is rejected, 9 is taken
    9
    """

    def __init__(self, take: Callable[[int], bytes] = os.urandom) -> None:
        self.take = take

    def below(self, bound: int) -> int:
        """Draw a uniform number in 0..bound-1: the low bits of as few big-endian bytes as hold it, until they fit."""
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

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        """Return for each of `count` draws below `bound` a byte: 1 if it is below `limit`, else 0.

        The same bytes are read as by `below`; the highest byte of a draw nearly always decides.
        """
        if bound == 1:
            return bytes([limit > 0]) * count
        bits = (bound - 1).bit_length()
        size, mask, table = (bits + 7) // 8, (1 << bits) - 1, _verdicts(limit, bound)
        drawn = b""
        while len(drawn) < count:
            data = self.take(size * (count - len(drawn)))
            verdicts = bytearray(data[::size].translate(table))
            at = verdicts.find(_OPEN)
            while at >= 0:
                value = int.from_bytes(data[at * size : (at + 1) * size], "big") & mask
                verdicts[at] = _AGAIN if value >= bound else value < limit
                at = verdicts.find(_OPEN, at)
            drawn += verdicts.translate(None, bytes([_AGAIN]))
        return drawn

    def subset(self, items: Sequence[int], size: int) -> list[int]:
        """Draw a uniformly random subset of `items`, ascending (the first `size` steps of Fisher-Yates)."""
        return sorted(items[place] for place in self.places(len(items), size))

    def places(self, length: int, size: int) -> list[int]:
        """Draw different random places of a list: those of Fisher-Yates, without writing the list out.

        >>> sorted(Source().places(3, 3)), len(Source().places(1 << 60, 2))
        ([0, 1, 2], 2)
        """
        moved: dict[int, int] = {}
        places = []
        for position in range(size):
            other = position + self.below(length - position)
            places.append(moved.get(other, other))
            moved[other] = moved.get(position, position)
        return places


_AGAIN, _OPEN = 2, 3


@lru_cache(maxsize=64)
def _verdicts(limit: int, bound: int) -> bytes:
    """Return what the highest byte of a draw says: above the limit (0), below it (1), drawn again (2), not yet (3)."""
    bits = (bound - 1).bit_length()
    rest = 8 * ((bits + 7) // 8 - 1)
    table = bytearray()
    for byte in range(256):
        lowest = (byte & ((1 << (bits - rest)) - 1)) << rest
        highest = lowest + (1 << rest) - 1
        if highest < limit:
            table.append(1)
        elif lowest >= bound:
            table.append(_AGAIN)
        else:
            table.append(0 if lowest >= limit and highest < bound else _OPEN)
    return bytes(table)


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
