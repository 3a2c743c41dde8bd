"""Optimized Unary Encoding, the paper's randomizer (eq. 2-4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations

from ldptrace.protocol.randomizers.base import Randomizer
from ldptrace.protocol.randomness import Source


class OUE(Randomizer):
    """One bit per item: the true one is sent as 1 with probability 1/2, every other with 1 / (ratio + 1).

    The empty set is the vector of zeros before randomisation. Proof: docs/explanation/proofs/oue.md.

    >>> from ldptrace.protocol.exact import ratio_at_most
    >>> oue = OUE(36, 1, ratio_at_most(Fraction(1)))
    >>> round(oue.variance(1), 3)  # 4e / (e - 1)^2
    3.683
    """

    kind = "oue"
    about = "optimised unary encoding"
    of_sets = False

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return Fraction(1, 2), 1 / (self.ratio + 1)

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        self.check(items)
        ones, total = self.ratio.denominator, self.ratio.numerator + self.ratio.denominator
        true = items[0] if items else self.domain
        bits = source.flags(ones, total, true)
        if items:
            bits += bytes([source.below(2)]) + source.flags(ones, total, self.domain - true - 1)
        return tuple(item for item, bit in enumerate(bits) if bit)

    def probability(self, named: Sequence[int], items: Sequence[int]) -> Fraction:
        self.check(items)
        p, q = self.probabilities
        result = Fraction(1)
        for item in range(self.domain):
            one = p if item in items else q
            result *= one if item in named else 1 - one
        return result

    def all_reports(self) -> Iterator[tuple[int, ...]]:
        items = range(self.domain)
        return chain.from_iterable(combinations(items, size) for size in range(self.domain + 1))
