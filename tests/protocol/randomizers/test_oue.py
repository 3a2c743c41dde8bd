from __future__ import annotations

import math
from fractions import Fraction

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.randomizers import OUE
from ldptrace.protocol.randomness import Source

THREE = OUE(4, 1, Fraction(3))


class Scripted(Source):
    """Draws from a list instead; remembers what was asked of it."""

    def __init__(self, drawn: list[int]) -> None:
        super().__init__(lambda size: bytes(size))
        self.drawn, self.bounds = drawn, []  # type: ignore[var-annotated]

    def below(self, bound: int) -> int:
        self.bounds.append(bound)
        return self.drawn.pop(0)

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))


def test_every_bit_is_drawn_on_its_own() -> None:
    # Others are 1 with probability 1 in 4, the true one by a coin.
    source = Scripted([0, 1, 1, 0])
    assert THREE.perturb([2], source) == (0, 2, 3)
    assert source.bounds == [4, 4, 2, 4]
    assert THREE.perturb([], Scripted([1, 1, 1, 1])) == ()


def test_a_report_is_the_product_of_its_bits() -> None:
    half, quarter = THREE.probabilities
    assert (half, quarter) == (Fraction(1, 2), Fraction(1, 4))
    assert THREE.probability((2,), [2]) == half * (1 - quarter) ** 3
    assert THREE.probability((), [2]) == (1 - half) * (1 - quarter) ** 3
    assert THREE.probability((0, 1), []) == quarter**2 * (1 - quarter) ** 2
    assert len(list(THREE.all_reports())) == 16


def test_the_variance_is_that_of_the_paper() -> None:
    channel = OUE(36, 1, ratio_at_most(Fraction(1)))
    assert channel.variance(1000) == pytest.approx(1000 * 4 * math.e / (math.e - 1) ** 2)


def test_one_bit_for_every_item() -> None:
    assert [OUE(domain, 1, Fraction(3)).payload_bytes for domain in (1, 8, 9)] == [1, 1, 2]
    assert THREE.decode(THREE.encode((0, 3))) == (0, 3)


def test_sets_are_for_others() -> None:
    with pytest.raises(PlanError, match="a single item, not a set of 2"):
        OUE(3, 2, Fraction(2))
