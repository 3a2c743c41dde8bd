from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.protocol.exact import decimal_text, epsilon_fraction, log, ratio_at_most, total


@given(st.decimals("0.001", "20", places=3))
def test_the_ratio_is_never_above_and_hardly_below(epsilon: Decimal) -> None:
    """ln(ratio) <= epsilon, checked with 80 digits; and one more step of 2^-40 would be above."""
    ratio = ratio_at_most(Fraction(epsilon))
    assert log(ratio) <= epsilon
    assert log(ratio + Fraction(1, 1 << 40)) > epsilon


@pytest.mark.parametrize("value", [0, -1, 20.1, "x", None, math.nan, math.inf, "", "1e-99999", "1e99999"])
def test_what_is_no_epsilon_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="epsilon"):
        epsilon_fraction(value)  # type: ignore[arg-type]


def test_epsilon_is_what_a_person_wrote() -> None:
    assert epsilon_fraction("0.3") == epsilon_fraction(0.3) == Fraction(3, 10)
    assert epsilon_fraction(Fraction(1, 3)) == Fraction(1, 3)


def test_logs_add_up() -> None:
    ratio = ratio_at_most(Fraction(1, 7))
    assert abs(log(ratio, 7) - total([log(ratio)] * 7)) < Decimal("1e-70")


@given(st.fractions(min_value=0, max_value=20, max_denominator=10**6))
def test_texts_read_back(value: Fraction) -> None:
    assert Fraction(decimal_text(value)) == value
