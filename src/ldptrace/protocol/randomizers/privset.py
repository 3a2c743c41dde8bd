"""PrivSet: a set in, a subset of fixed size out. With capacity 1 it is Subset Selection."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.limits import MAX_SUBSET
from ldptrace.protocol.randomizers.base import Randomizer
from ldptrace.protocol.randomness import Source


class PrivSet(Randomizer):
    """Names a subset of exactly `size` items; a subset that meets the user's set is `ratio` times as likely.

    The domain is filled up with `capacity` nulls (items domain..domain+capacity-1), and a set with fewer
    items is filled up with distinct nulls, so that every set has exactly `capacity` members and the
    normaliser is the same for all. Proof: docs/explanation/proofs/privset.md.

    >>> from ldptrace.protocol.exact import ratio_at_most
    >>> moves = PrivSet.best(220, 8, ratio_at_most(Fraction(1)))
    >>> moves.size, round(moves.variance(1), 1)
    (7, 30.6)
    """

    size: int

    kind = "privset"
    about = "a random subset that favours the truth"

    def __post_init__(self) -> None:
        super().__post_init__()
        most = min(self.domain, MAX_SUBSET)
        if not 1 <= self.size <= most:
            raise PlanError(f"PrivSet's subset size must be 1 to {most}, got {self.size}")

    @staticmethod
    def best(domain: int, capacity: int, ratio: Fraction) -> PrivSet:
        """Choose the subset size with the smallest variance."""

        def cost(size: int) -> float:
            return unit_variance(domain, capacity, float(ratio), size)

        low, high = 1, min(max(1, domain // 2), MAX_SUBSET)
        # The variance falls and then rises with the size, so halving finds its lowest point.
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if cost(middle) <= cost(middle + 1) else (middle + 1, high)
        size = low
        return PrivSet(domain, capacity, ratio, size)

    @property
    def outputs(self) -> int:
        return self.domain + self.capacity

    @cached_property
    def hit_weights(self) -> tuple[int, ...]:
        """Integer weight of naming j of the user's own items, for j = 0, 1, ... (all subsets together)."""
        strangers = self.outputs - self.capacity
        weights, others = [], math.comb(strangers, self.size)
        for j in range(min(self.capacity, self.size) + 1):
            likelihood = self.ratio.numerator if j else self.ratio.denominator
            weights.append(math.comb(self.capacity, j) * others * likelihood)
            # From the ways to choose size - j strangers to those to choose one fewer.
            others = others * (self.size - j) // (strangers - self.size + j + 1)
        return tuple(weights)

    @cached_property
    def _weight(self) -> int:
        """Weight of all subsets together: the normaliser."""
        return sum(self.hit_weights)

    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        total = self._weight
        numerator, denominator = self.ratio.numerator, self.ratio.denominator
        containing = math.comb(self.outputs - 1, self.size - 1)
        # Subsets that contain one given stranger and none of the user's own items.
        missing = math.comb(self.outputs - 1 - self.capacity, self.size - 1)
        return (
            Fraction(containing * numerator, total),
            Fraction(missing * denominator + (containing - missing) * numerator, total),
        )

    def filled(self, items: Sequence[int]) -> list[int]:
        return [*sorted(items), *range(self.domain, self.domain + self.capacity - len(items))]

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        self.check(items)
        own = self.filled(items)
        drawn = source.below(self._weight)
        hits = 0
        while drawn >= self.hit_weights[hits]:
            drawn -= self.hit_weights[hits]
            hits += 1
        mine = source.subset(own, hits)
        # Stranger number s is the output s plus as many as own outputs lie before it; `own` is ascending.
        before = [item - place for place, item in enumerate(own)]
        others = source.places(self.outputs - self.capacity, self.size - hits)
        return tuple(sorted(mine + [place + bisect_right(before, place) for place in others]))

    def probability(self, named: Sequence[int], items: Sequence[int]) -> Fraction:
        self.check(items)
        meets = not set(named).isdisjoint(self.filled(items))
        return Fraction(self.ratio.numerator if meets else self.ratio.denominator, self._weight)

    def all_reports(self) -> Iterator[tuple[int, ...]]:
        return combinations(range(self.outputs), self.size)

    @property
    def _item_bytes(self) -> int:
        return ((self.outputs - 1).bit_length() + 7) // 8 or 1

    @property
    def lists_items(self) -> bool:
        """Whether a report lists its items (few of them) or sends one bit per item (many)."""
        return self.size * self._item_bytes < (self.outputs + 7) // 8

    @property
    def payload_bytes(self) -> int:
        return self.size * self._item_bytes if self.lists_items else super().payload_bytes

    def encode(self, named: Sequence[int]) -> bytes:
        if self.lists_items:
            return b"".join(item.to_bytes(self._item_bytes, "big") for item in named)
        return super().encode(named)

    def _named(self, payload: bytes) -> tuple[int, ...]:
        if not self.lists_items:
            named = super()._named(payload)
            if len(named) != self.size:
                raise ProtocolError(f"the payload must name {self.size} items, got {len(named)}")
            return named
        width = self._item_bytes
        named = tuple(int.from_bytes(payload[at : at + width], "big") for at in range(0, len(payload), width))
        if any(a >= b for a, b in pairwise(named)) or named[-1] >= self.outputs:
            raise ProtocolError(f"the payload must list ascending items below {self.outputs}, got {named}")
        return named


def unit_variance(domain: int, capacity: int, ratio: float, size: int) -> float:
    """Approximate the variance of one report's estimate of a rare item, to choose the subset size by.

    >>> ratio = Fraction(5, 2)
    >>> abs(unit_variance(30, 3, 2.5, 4) / PrivSet(30, 3, ratio, 4).variance(1) - 1) < 1e-9
    True
    """
    outputs = domain + capacity
    missed = math.exp(_log_choose(domain, size) - _log_choose(outputs, size))
    missed_with_one = math.exp(_log_choose(domain - 1, size - 1) - _log_choose(outputs - 1, size - 1))
    share = size / outputs / (missed + (1 - missed) * ratio)
    p, q = share * ratio, share * (missed_with_one + (1 - missed_with_one) * ratio)
    return q * (1 - q) / (p - q) ** 2


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
