from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.randomizers.privset import unit_variance
from ldptrace.protocol.randomness import Source

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
