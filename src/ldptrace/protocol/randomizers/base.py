"""What every randomizer is: a channel from a small set of items to a report, with exact probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.exact import log
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_DOMAIN
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.records import Record


class Randomizer(Record, ABC):
    """An eps-LDP channel for a set of at most `capacity` of the items 0..domain-1.

    `ratio` is the exact bound on Pr[report | one set] / Pr[report | another set], so the channel is
    ln(ratio)-LDP. A set with fewer items than `capacity` is a legal input, the empty one included: a device
    without an answer still sends a report of the same kind.
    """

    domain: int
    capacity: int
    ratio: Fraction

    kind: ClassVar[str]
    # What it does, in a few words for people.
    about: ClassVar[str]
    # Whether it takes sets, or single items only.
    of_sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 1 <= self.domain <= MAX_DOMAIN:
            raise PlanError(f"a randomizer's domain must hold 1 to {MAX_DOMAIN} items, got {self.domain}")
        if not 1 <= self.capacity <= min(self.domain, MAX_CAPACITY):
            most = min(self.domain, MAX_CAPACITY)
            raise PlanError(f"a randomizer's capacity must be 1 to {most}, got {self.capacity}")
        if self.ratio <= 1:
            raise PlanError(f"a randomizer's ratio must be above 1, got {self.ratio}")
        if self.capacity != 1 and not self.of_sets:
            raise PlanError(f"{type(self).__name__} randomises a single item, not a set of {self.capacity}")

    @property
    def epsilon(self) -> float:
        return float(log(self.ratio))

    @property
    def outputs(self) -> int:
        """How many different items a report can name: the length of a tally."""
        return self.domain

    @property
    @abstractmethod
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """(p, q): chance that a report names an item that is in the set, and one that is not."""

    def filled(self, items: Sequence[int]) -> list[int]:
        """Return the outputs that stand for a set: its items, and nulls for empty places where there are nulls."""
        return sorted(items)

    @abstractmethod
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        """Draw the items that the report names, ascending, for a user whose set is `items`."""

    @abstractmethod
    def probability(self, named: Sequence[int], items: Sequence[int]) -> Fraction:
        """Return the exact chance of the report `named` from the set `items`, for enumeration tests and audits."""

    @abstractmethod
    def all_reports(self) -> Iterator[tuple[int, ...]]:
        """Return every possible report; only for small domains."""

    @property
    def payload_bytes(self) -> int:
        """Size of an encoded report."""
        return (self.outputs + 7) // 8

    def encode(self, named: Sequence[int]) -> bytes:
        """Encode a report in exactly `payload_bytes` bytes: a bit per item, item 0 as the lowest of the first byte."""
        bits = bytearray(self.payload_bytes)
        for item in named:
            bits[item >> 3] |= 1 << (item & 7)
        return bytes(bits)

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """Decode the named items. Raises `ProtocolError` for bytes that `encode` cannot have written."""
        if len(payload) != self.payload_bytes:
            raise ProtocolError(f"the payload must be {self.payload_bytes} bytes, got {len(payload)}")
        return self._named(payload)

    def _named(self, payload: bytes) -> tuple[int, ...]:
        """Return the items that a payload of the right size names."""
        named = tuple(item for item in range(8 * len(payload)) if payload[item >> 3] >> (item & 7) & 1)
        if named and named[-1] >= self.outputs:
            raise ProtocolError(f"the payload names item {named[-1]}, the last is {self.outputs - 1}")
        return named

    def document(self) -> dict[str, Any]:
        """Return what the plan document says of this randomizer, in exact integers."""
        ratio = [str(self.ratio.numerator), str(self.ratio.denominator)]
        return self.values() | {"kind": self.kind, "ratio": ratio}

    def debias(self, counts: Any, reports: float) -> Any:
        """Estimate without bias how many users hold each item, from how often it was named (eq. 3)."""
        p, q = (float(value) for value in self.probabilities)
        return (counts - reports * q) / (p - q)

    def variance(self, reports: float, held: Any = 0.0) -> Any:
        """Return the variance of what `debias` returns if `held` users hold the item (eq. 4 is the case of few)."""
        p, q = (float(value) for value in self.probabilities)
        return reports * q * (1 - q) / (p - q) ** 2 + held * (1 - p - q) / (p - q)

    def check(self, items: Sequence[int]) -> None:
        """Refuse what is not a set of at most `capacity` items of the domain."""
        if len(items) > self.capacity or len(set(items)) != len(items):
            raise ValueError(f"expected at most {self.capacity} different items, got {list(items)}")
        if any(not 0 <= item < self.domain for item in items):
            raise ValueError(f"items must be 0 to {self.domain - 1}, got {list(items)}")
