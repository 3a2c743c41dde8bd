"""Local randomizers, from a set of items to a report, with exact probabilities: OUE (the paper's), GRR, PrivSet."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, pairwise
from typing import Any, ClassVar

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.canonical import integer_in, list_in, object_in, text_in
from ldptrace.protocol.exact import log
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_DOMAIN, MAX_RATIO_NUMERATOR, MAX_SUBSET, RATIO_BITS
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
        return PrivSet(domain, capacity, ratio, low)

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


RANDOMIZERS: dict[str, type[Randomizer]] = {kind.kind: kind for kind in (GRR, OUE, PrivSet)}


def randomizer_from(data: object) -> Randomizer:
    """Make the randomizer that a plan document describes, and check it."""
    kind = data.get("kind") if isinstance(data, dict) else None
    known = RANDOMIZERS.get(kind) if isinstance(kind, str) else None
    own = () if known is None else tuple(name for name in known.fields if name not in Randomizer.fields)
    fields = object_in(data, ("kind", "domain", "capacity", "ratio", *own), "a randomizer")
    domain = integer_in(fields["domain"], 1, MAX_DOMAIN, "domain")
    capacity = integer_in(fields["capacity"], 1, MAX_CAPACITY, "capacity")
    ratio = _ratio(fields["ratio"])
    if known is None:
        raise PlanError(f"unknown randomizer {str(kind)[:40]!r}; known are {', '.join(sorted(RANDOMIZERS))}")
    return known(domain, capacity, ratio, *(integer_in(fields[name], 1, MAX_DOMAIN, name) for name in own))


def _ratio(data: object) -> Fraction:
    """Read the ratio of two probabilities of a document: two integers as text, so that nothing is rounded."""
    pair = list_in(data, 2, 2, "a ratio")
    numerator, denominator = (int(text_in(value, r"[1-9][0-9]{0,21}", "a ratio's integer")) for value in pair)
    if numerator > MAX_RATIO_NUMERATOR or (1 << RATIO_BITS) % denominator:
        raise PlanError(
            f"a ratio is an integer below 2^70 over a power of two up to 2^{RATIO_BITS}, got {pair}"
        )
    return Fraction(numerator, denominator)
