from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError
from ldptrace.protocol.canonical import (
    decimal_in,
    decimal_of,
    dumps,
    integer_in,
    list_in,
    loads,
    object_in,
    text_in,
)

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text("abc xyz", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcd", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(DOCUMENTS)
def test_a_document_has_one_byte_string(document: object) -> None:
    assert loads(dumps(document)) == document
    assert dumps(loads(dumps(document))) == dumps(document)


@pytest.mark.parametrize(
    "text", [b'{"b":1,"a":2}', b'{"a": 1}', b'{"a":1,"a":2}', b"1.0", b"1e3", b"NaN", b"\xff", b"[1,]", b""]
)
def test_other_writings_are_refused(text: bytes) -> None:
    with pytest.raises(PlanError):
        loads(text)


def test_deep_nesting_is_refused_before_it_is_read() -> None:
    with pytest.raises(PlanError, match="nested more than"):
        loads(b"[" * 100_000)


@given(st.floats(-1e15, 1e15))
def test_decimals_read_back_as_the_same_double(value: float) -> None:
    try:
        text = decimal_of(value)
    except PlanError:
        assert abs(value) < 1e-15
        return
    assert decimal_in(text, "it") == value
    assert "e" not in text


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e-300])
def test_what_has_no_short_decimal_is_refused(value: float) -> None:
    with pytest.raises(PlanError):
        decimal_of(value)


@pytest.mark.parametrize("value", ["1.0", "01", "+1", "1e2", ".5", "-0", "", 1, None, "1" * 41])
def test_decimals_have_one_writing(value: object) -> None:
    with pytest.raises(PlanError):
        decimal_in(value, "it")


def test_types_and_ranges_are_named() -> None:
    for value in (True, 1.0, "1", 0, 4):
        with pytest.raises(PlanError, match="it must be an integer from 1 to 3"):
            integer_in(value, 1, 3, "it")
    with pytest.raises(PlanError, match="a list of 1 to 2 entries"):
        list_in([1, 2, 3], 1, 2, "it")
    with pytest.raises(PlanError, match="with the keys"):
        object_in({"a": 1}, ("a", "b"), "it")
    with pytest.raises(PlanError, match="a text like"):
        text_in("x\n", "[a-z]+", "it")
    assert (integer_in(3, 1, 3, "it"), text_in("x", "[a-z]+", "it")) == (3, "x")
