"""Random bytes for vectors: the lowest and the highest draws, and ordinary ones that are the same every time."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.round import SHARES


class Recorder(Source, ABC):
    """A source that remembers the bytes it read."""

    def __init__(self) -> None:
        super().__init__(self._take)
        self.read = b""

    def _take(self, count: int) -> bytes:
        piece = self.some(count)
        self.read += piece
        return piece

    @abstractmethod
    def some(self, count: int) -> bytes:
        """The next bytes."""


class Ordinary(Recorder):
    """Bytes that look random and are the same every time: SHA-256 of a name and a counter."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.block, self.data = name, 0, b""

    def some(self, count: int) -> bytes:
        while len(self.data) < count:
            self.data += hashlib.sha256(f"{self.name} {self.block}".encode()).digest()
            self.block += 1
        piece, self.data = self.data[:count], self.data[count:]
        return piece


class InGroup(Ordinary):
    """Ordinary draws of a device whose first draw below 65,536 puts it into a given group."""

    def __init__(self, name: str, drawn: int) -> None:
        super().__init__(name)
        self.drawn: int | None = drawn

    def below(self, bound: int) -> int:
        if bound != SHARES or self.drawn is None:
            return super().below(bound)
        value, self.drawn = self.drawn, None
        self.read += value.to_bytes(2, "big")
        return value


class FirstDraw(Ordinary):
    """Ordinary draws but for the first one: the last value of one outcome, or the first of the next."""

    def __init__(self, name: str, drawn: int) -> None:
        super().__init__(name)
        self.drawn: int | None = drawn

    def below(self, bound: int) -> int:
        if self.drawn is None:
            return super().below(bound)
        value, self.drawn = self.drawn, None
        self.read += value.to_bytes(((bound - 1).bit_length() + 7) // 8, "big")
        return value

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))


class Extreme(Recorder):
    """Bytes that make every draw its lowest or its highest value."""

    def __init__(self, *, highest: bool) -> None:
        super().__init__()
        self.highest = highest

    def some(self, count: int) -> bytes:
        return bytes([255 * self.highest]) * count

    def below(self, bound: int) -> int:
        value = bound - 1 if self.highest else 0
        self.read += value.to_bytes(((bound - 1).bit_length() + 7) // 8, "big")
        return value

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))


def sources(name: str, ordinary: int = 2) -> Iterator[tuple[str, Recorder]]:
    yield "lowest draws", Extreme(highest=False)
    yield "highest draws", Extreme(highest=True)
    for number in range(ordinary):
        yield f"ordinary draws {number}", Ordinary(f"{name} {number}")


def replayed(run: Callable[[Source], Any], recorder: Recorder, result: Any) -> str:
    """The recorded bytes, after a check that they give the same result and are used up."""
    reader = BytesReader(recorder.read)
    assert run(Source(reader)) == result
    assert reader.position == len(recorder.read)
    return recorder.read.hex()


def number_text(value: float) -> str:
    """A number as vectors write it, in a string: JSON has no `NaN` and no `Infinity`."""
    names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
    return names.get(repr(value), repr(value))
