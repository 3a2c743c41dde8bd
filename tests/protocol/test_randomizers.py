from __future__ import annotations

import math
import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_DOMAIN
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer, unit_variance
from ldptrace.protocol.randomness import Source

HALF_OF_ALL = OUE(6, 1, Fraction(3))


@given(st.integers(1, 200), st.data())
def test_bits_come_back(outputs: int, data: st.DataObject) -> None:
    named = tuple(sorted(data.draw(st.sets(st.integers(0, outputs - 1)))))
    channel = OUE(outputs, 1, Fraction(3))
    payload = channel.encode(named)
    assert len(payload) == channel.payload_bytes == -(-outputs // 8)
    assert channel.decode(payload) == named


def test_the_first_item_is_the_lowest_bit_of_the_first_byte() -> None:
    assert OUE(12, 1, Fraction(3)).encode([0, 9]) == bytes([0b1, 0b10])


def test_bits_that_nobody_can_have_written_are_refused() -> None:
    with pytest.raises(ProtocolError, match="must be 2 bytes, got 1"):
        OUE(12, 1, Fraction(3)).decode(b"\0")
    with pytest.raises(ProtocolError, match="names item 12, the last is 11"):
        OUE(12, 1, Fraction(3)).decode(bytes([0, 0b10000]))


@pytest.mark.parametrize(
    ("domain", "capacity", "ratio", "words"),
    [
        (0, 1, 3, "must hold 1 to"),
        (MAX_DOMAIN + 1, 1, 3, "must hold 1 to"),
        (3, 0, 3, "capacity must be 1 to 3"),
        (3, 4, 3, "capacity must be 1 to 3"),
        (MAX_DOMAIN, MAX_CAPACITY + 1, 3, f"capacity must be 1 to {MAX_CAPACITY}"),
        (3, 1, 1, "ratio must be above 1"),
    ],
)
def test_impossible_channels_are_refused(domain: int, capacity: int, ratio: int, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        PrivSet(domain, capacity, Fraction(ratio), 1)


@pytest.mark.parametrize(
    "channel", [HALF_OF_ALL, GRR(5, 1, Fraction(2)), PrivSet(5, 2, Fraction(2), 2)], ids=repr
)
def test_expected_counts_are_debiased_to_the_truth(channel: Randomizer) -> None:
    p, q = channel.probabilities
    reports, held = 1000, 300
    expected = held * p + (reports - held) * q
    assert channel.debias(float(expected), reports) == pytest.approx(held)
    # A sum of so many Bernoulli variables with p and with q, divided by p - q.
    variance = (held * p * (1 - p) + (reports - held) * q * (1 - q)) / (p - q) ** 2
    assert channel.variance(reports, held) == pytest.approx(float(variance))


def test_epsilon_is_the_logarithm_of_the_ratio() -> None:
    assert GRR(5, 1, Fraction(5, 2)).epsilon == pytest.approx(0.9162907318741551)


def test_what_is_no_set_of_the_domain_is_a_mistake() -> None:
    pair = PrivSet(4, 2, Fraction(2), 1)
    for items in ([0, 1, 2], [1, 1], [4], [-1]):
        with pytest.raises(ValueError, match=r"different items|items must be 0 to 3"):
            pair.check(items)
    for fine in ([], [3], [0, 3]):
        pair.check(fine)


def test_the_document_has_exact_numbers() -> None:
    assert PrivSet(4, 2, Fraction(5, 2), 1).document() == {
        "kind": "privset",
        "size": 1,
        "domain": 4,
        "capacity": 2,
        "ratio": ["5", "2"],
    }


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


@pytest.mark.parametrize("kind", [GRR, OUE])
def test_sets_are_for_others(kind: type[Randomizer]) -> None:
    with pytest.raises(PlanError, match="a single item, not a set of 2"):
        kind(3, 2, Fraction(2))


E = ratio_at_most(Fraction(1))
SMALL = PrivSet(3, 2, Fraction(2), 2)


def test_weights_by_hand() -> None:
    # Five outputs, two of them one's own: 3 pairs meet none of them, 6 one, 1 both; meeting them counts twice.
    assert SMALL.hit_weights == (3, 12, 2)
    assert SMALL.probability((0, 1), [2]) == Fraction(1, 17)
    assert SMALL.probability((2, 4), [2]) == Fraction(2, 17)
    # An own item is in 4 of the 10 pairs, each of double weight; a stranger in 2 of them with an own one.
    assert SMALL.probabilities == (Fraction(8, 17), Fraction(2 * 1 + 2 * 2, 17))


def test_missing_items_are_nulls() -> None:
    assert SMALL.filled([]) == [3, 4]
    assert SMALL.filled([2]) == [2, 3]
    assert SMALL.filled([2, 0]) == [0, 2]


@given(st.integers(1, 40), st.integers(1, 6), st.data())
def test_every_report_is_an_ascending_subset_of_its_size(
    domain: int, capacity: int, data: st.DataObject
) -> None:
    channel = PrivSet(domain, min(capacity, domain), E, data.draw(st.integers(1, domain)))
    items = sorted(data.draw(st.sets(st.integers(0, domain - 1), max_size=channel.capacity)))
    named = channel.perturb(items, Source(random.Random(data.draw(st.integers(0, 99))).randbytes))
    assert len(named) == channel.size
    assert list(named) == sorted(set(named))
    assert 0 <= named[0] <= named[-1] < channel.outputs
    assert channel.decode(channel.encode(named)) == named
    assert len(channel.encode(named)) == channel.payload_bytes


@given(st.integers(1, 60), st.integers(1, 5))
def test_weights_count_every_subset(domain: int, capacity: int) -> None:
    channel = PrivSet(domain, min(capacity, domain), Fraction(7, 3), max(1, domain // 3))
    plain = [
        comb(channel.capacity, j) * comb(channel.domain, channel.size - j) * (7 if j else 3)
        for j in range(len(channel.hit_weights))
    ]
    assert list(channel.hit_weights) == plain


@pytest.mark.parametrize(("domain", "capacity"), [(1, 1), (7, 2), (36, 1), (110, 5)])
def test_the_best_size_is_the_best_of_all(domain: int, capacity: int) -> None:
    best = PrivSet.best(domain, capacity, E)
    sizes = range(1, max(1, domain // 2) + 1)
    assert best.size == min(sizes, key=lambda size: unit_variance(domain, capacity, float(E), size))


def test_few_items_are_listed_and_many_are_bits() -> None:
    listed, bits = PrivSet(300, 2, E, 3), PrivSet(30, 2, E, 9)
    assert (listed.lists_items, listed.payload_bytes) == (True, 6)
    assert (bits.lists_items, bits.payload_bytes) == (False, 4)
    assert listed.encode((1, 2, 300)) == bytes([0, 1, 0, 2, 1, 44])


@pytest.mark.parametrize(
    ("channel", "payload", "words"),
    [
        (PrivSet(300, 2, E, 3), bytes(5), "must be 6 bytes, got 5"),
        (PrivSet(300, 2, E, 3), bytes([0, 2, 0, 1, 0, 3]), "ascending items below 302"),
        (PrivSet(300, 2, E, 3), bytes([0, 1, 0, 1, 0, 3]), "ascending items below 302"),
        (PrivSet(300, 2, E, 3), bytes([0, 1, 0, 2, 1, 46]), "ascending items below 302"),
        (PrivSet(30, 2, E, 9), bytes([1, 0, 0, 0]), "must name 9 items, got 1"),
    ],
)
def test_bytes_that_nobody_can_have_written_are_refused(channel: PrivSet, payload: bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        channel.decode(payload)


def test_a_subset_fits_the_domain() -> None:
    with pytest.raises(PlanError, match="subset size must be 1 to 3, got 4"):
        PrivSet(3, 1, E, 4)
