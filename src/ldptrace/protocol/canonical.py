"""Canonical JSON: one byte string per document, so that its SHA-256 names it in every language.

Objects with sorted keys, no spaces, ASCII without escapes; values are objects, lists, strings, true, false,
null and integers below 2^53. There are no other numbers: what is not an integer is a decimal in a string.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NoReturn

from ldptrace.errors import PlanError
from ldptrace.protocol.limits import MAX_DECIMAL, MAX_DEPTH

MAX_INTEGER = 2**53 - 1
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")


def dumps(data: Any) -> bytes:
    """Return the canonical bytes.

    >>> dumps({"b": [1, None], "a": "x"})
    b'{"a":"x","b":[1,null]}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode(
        "ascii"
    )


def loads(text: bytes) -> Any:
    """Return the document in these bytes; an error if they are not canonical."""
    if _depth(text) > MAX_DEPTH:
        raise PlanError(f"the document is nested more than {MAX_DEPTH} deep")
    if b"\\" in text:
        raise PlanError("the document has an escape: strings are plain ASCII")
    try:
        data = json.loads(
            text.decode("ascii"), parse_float=_no_float, parse_constant=_no_float, parse_int=_integer
        )
    except ValueError as error:
        raise PlanError(f"this is not a JSON document of the protocol: {error}") from None
    if dumps(data) != text:
        raise PlanError(
            "the document is not canonical: keys sorted, no spaces, no repeated keys, plain integers"
        )
    return data


def decimal_of(value: float) -> str:
    """Return the shortest decimal that reads back as this double, without an exponent.

    >>> decimal_of(1e-5), decimal_of(-8.0), decimal_of(-0.0)
    ('0.00001', '-8', '0')
    """
    text = format(Decimal(repr(value)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if not math.isfinite(value) or len(text) > MAX_DECIMAL:
        raise PlanError(
            f"the number {value!r} is too large or too small for a plan: numbers have at most {MAX_DECIMAL} "
            "characters, and no exponent"
        )
    return "0" if text == "-0" else text


def decimal_in(value: object, where: str) -> float:
    """Return the double that a canonical decimal stands for."""
    if not isinstance(value, str) or len(value) > MAX_DECIMAL or not DECIMAL.fullmatch(value):
        raise PlanError(f"{where} must be a decimal in a string, got {_short(value)}")
    number = float(value)
    if decimal_of(number) != value:
        raise PlanError(
            f"{where} must be the shortest decimal of its value, {decimal_of(number)!r}, got {value!r}"
        )
    return number


def integer_in(value: object, low: int, high: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlanError(f"{where} must be an integer from {low} to {high}, got {_short(value)}")
    return value


def text_in(value: object, pattern: str, where: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
        raise PlanError(f"{where} must be a text like {pattern}, got {_short(value)}")
    return value


def list_in(value: object, low: int, high: int, where: str) -> list[Any]:
    if not isinstance(value, list) or not low <= len(value) <= high:
        raise PlanError(f"{where} must be a list of {low} to {high} entries, got {_short(value)}")
    return value


def object_in(value: object, keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return an object with exactly these keys."""
    wanted = set(keys)
    if not isinstance(value, dict) or set(value) != wanted:
        raise PlanError(f"{where} must be an object with the keys {sorted(wanted)}, got {_short(value)}")
    return value


def _depth(text: bytes) -> int:
    """Count how deep brackets are nested. Those inside strings count too: no document of the protocol has any."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", text):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"the number {text[:20]} is not an integer")


def _integer(text: str) -> int:
    # Of at most 16 digits: reading many thousands of them would take long.
    number = int(text[:18])
    if abs(number) > MAX_INTEGER:
        raise ValueError(f"the number {text[:20]} is beyond 2^53 - 1")
    return number


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
