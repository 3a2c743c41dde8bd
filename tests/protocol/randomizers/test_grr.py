from __future__ import annotations

from fractions import Fraction

import pytest

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.randomness import Source

TWO = GRR(3, 1, Fraction(2))


def answer(channel: GRR, items: list[int], drawn: int) -> tuple[int, ...]:
    """The report when the source draws this number."""

    class Fixed(Source):
        def below(self, bound: int) -> int:
            assert drawn < bound
            return drawn

    return channel.perturb(items, Fixed(lambda size: bytes(size)))


def test_every_draw_by_hand() -> None:
    # Weight 2 for the truth, 1 for each of the three others: the domain has a fourth item for no answer.
    assert [answer(TWO, [1], drawn) for drawn in range(5)] == [(1,), (1,), (0,), (2,), (3,)]
    assert [answer(TWO, [], drawn) for drawn in range(5)] == [(3,), (3,), (0,), (1,), (2,)]


def test_probabilities_are_fractions() -> None:
    assert TWO.probabilities == (Fraction(2, 5), Fraction(1, 5))
    assert TWO.probability((1,), [1]) == Fraction(2, 5)
    assert TWO.probability((3,), []) == Fraction(2, 5)
    assert sum(TWO.probability(named, [0]) for named in TWO.all_reports()) == 1


@pytest.mark.parametrize(("domain", "size"), [(1, 1), (255, 1), (256, 2), (65_535, 2)])
def test_reports_are_as_short_as_the_domain_allows(domain: int, size: int) -> None:
    channel = GRR(domain, 1, Fraction(2))
    assert channel.payload_bytes == size
    assert channel.decode(channel.encode((domain,))) == (domain,)


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ProtocolError, match="must be 1 bytes, got 2"):
        TWO.decode(b"\0\0")
    with pytest.raises(ProtocolError, match="names item 4, the last is 3"):
        TWO.decode(b"\4")


def test_sets_are_for_others() -> None:
    with pytest.raises(PlanError, match="a single item, not a set of 2"):
        GRR(3, 2, Fraction(2))
