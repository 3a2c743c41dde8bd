from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from ldptrace.errors import InputError
from ldptrace.options import decoded, from_options, option, option_of, options_in, settle


def _even(value: int) -> int:
    if value % 2:
        raise InputError(f"even numbers only, got {value}")
    return value


@dataclass(frozen=True)
class Where:
    x: str | None = option(None, help="Column of x.")


@dataclass(frozen=True)
class Walk:
    steps: int = option(help="Number of steps.", check=_even)
    pace: Literal["slow", "fast"] = option("slow", help="How fast.")
    stride: float | None = option(None, help="Length of a step.")
    way: tuple[int, ...] = option((), help="Places.", parse=lambda given: tuple(map(int, given)))
    back: bool = option(False, help="And back.")
    where: Where = field(default_factory=Where)
    secret: int = 0

    def __post_init__(self) -> None:
        settle(self)


def test_values_are_checked_and_settled() -> None:
    assert Walk(2, stride=1).stride == 1
    assert Walk(2, way="123").way == (1, 2, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": True}, "steps must be a whole number, got 'True'"),
        ({"steps": 2.0}, "steps must be a whole number"),
        ({"steps": None}, "steps must be a whole number"),
        ({"steps": 3}, "even numbers only, got 3"),
        ({"pace": "quick"}, "pace must be slow or fast, got 'quick'"),
        ({"pace": ["slow"]}, "pace must be slow or fast"),
        ({"stride": "1"}, "stride must be a number, got '1'"),
        ({"stride": float("inf")}, "stride must be a number, got 'inf'"),
        ({"stride": 10**400}, "stride must be a number"),
        ({"back": 1}, "back must be true or false, got '1'"),
    ],
)
def test_wrong_values_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Walk(**{"steps": 2} | given)


def test_a_record_is_decoded_from_a_request() -> None:
    assert decoded(Walk, {"steps": 4, "pace": "fast"}) == Walk(4, "fast")
    with pytest.raises(InputError, match="there is no key 'speed'; known are back"):
        decoded(Walk, {"steps": 4, "speed": 1})
    with pytest.raises(InputError, match="steps is missing"):
        decoded(Walk, {})


def test_records_in_a_record_have_their_options_beside_it() -> None:
    found = [entry.name for entry, _ in options_in(Walk)]
    assert found == ["steps", "pace", "stride", "way", "back", "x"]
    assert option_of(next(options_in(Walk))[0]).help == "Number of steps."
    assert from_options(Walk, {"steps": 2, "x": "lon"}) == Walk(2, where=Where("lon"))
