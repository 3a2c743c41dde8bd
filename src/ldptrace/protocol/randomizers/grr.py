"""Generalised randomised response: the true item or any other one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ldptrace.errors import ProtocolError
from ldptrace.protocol.randomizers.base import Randomizer
from ldptrace.protocol.randomness import Source


class GRR(Randomizer):
    """Names the true item with weight `ratio`, each other one with weight 1; item `domain` stands for none.

    Best for small domains (fewer than about 3 e^eps + 2 items). Proof: docs/explanation/proofs/grr.md.
    """

    kind = "grr"
    about = "generalised randomised response"
    of_sets = False

    @property
    def outputs(self) -> int:
        return self.domain + 1

    @property
    def _weights(self) -> tuple[int, int, int]:
        true, other = self.ratio.numerator, self.ratio.denominator
        return true, other, true + self.domain * other

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        true, other, total = self._weights
        return Fraction(true, total), Fraction(other, total)

    def filled(self, items: Sequence[int]) -> list[int]:
        return [items[0] if items else self.domain]

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        self.check(items)
        (true,) = self.filled(items)
        weight, other, total = self._weights
        drawn = source.below(total)
        if drawn < weight:
            return (true,)
        lie = (drawn - weight) // other
        return (lie if lie < true else lie + 1,)

    def probability(self, named: Sequence[int], items: Sequence[int]) -> Fraction:
        self.check(items)
        p, q = self.probabilities
        return p if list(named) == self.filled(items) else q

    def all_reports(self) -> Iterator[tuple[int, ...]]:
        return ((item,) for item in range(self.outputs))

    @property
    def payload_bytes(self) -> int:
        return (self.domain.bit_length() + 7) // 8

    def encode(self, named: Sequence[int]) -> bytes:
        return named[0].to_bytes(self.payload_bytes, "big")

    def _named(self, payload: bytes) -> tuple[int, ...]:
        item = int.from_bytes(payload, "big")
        if item > self.domain:
            raise ProtocolError(f"the payload names item {item}, the last is {self.domain}")
        return (item,)
