from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError, ProtocolError
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_DOMAIN
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet
from ldptrace.protocol.randomizers.base import Randomizer

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


def test_bytes_that_nobody_can_have_written_are_refused() -> None:
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
