from __future__ import annotations

from fractions import Fraction

from ldptrace.audit.enumeration import distribution
from ldptrace.protocol.randomness import Source


def test_enumeration_finds_every_range_of_a_draw() -> None:
    bound = (1 << 42) + 12345
    edges = [1, 1000, 1 << 41, (1 << 41) + 1, bound - 1]
    law = distribution(lambda source: sum(edge <= source.below(bound) for edge in edges[:1]))
    assert law == {0: Fraction(1, bound), 1: Fraction(bound - 1, bound)}

    def place(source: Source) -> int:
        drawn = source.below(bound)
        return sum(edge <= drawn for edge in edges)

    borders = [0, *edges, bound]
    assert distribution(place) == {
        k: Fraction(borders[k + 1] - borders[k], bound) for k in range(len(edges) + 1)
    }


def test_a_coin_thrown_until_it_shows_heads_is_cut_off_by_its_own_rule() -> None:
    def throws(source: Source) -> int:
        for number in range(3):
            if source.below(2):
                return number
        return 3

    law = distribution(throws)
    assert law == {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 8), 3: Fraction(1, 8)}


def test_draws_one_after_another_are_independent() -> None:
    law = distribution(lambda source: (source.below(2), source.below(3)))
    assert law == {(a, b): Fraction(1, 6) for a in range(2) for b in range(3)}
