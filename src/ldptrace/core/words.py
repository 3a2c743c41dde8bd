"""Numbers with their nouns, and counts by reason, for messages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

# Units of lengths and times.
MEASURED = ("m", "s", "h")


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "trajectory"), count(2000, "trajectory"), count(0, "point")
    ('1 trajectory', '2,000 trajectories', '0 points')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def measure(value: float | None, unit: str = "") -> str:
    """Return the value of a metric with four decimals, or one if it is large, or a dash if there is none; a length or a
    time with three digits.

    >>> measure(0.25), measure(1234.56), measure(float("nan")), measure(None)
    ('0.2500', '1,234.6', '–', '–')
    >>> measure(74.3168, "s"), measure(3397.6, "m, or units of the map"), measure(0.6113, "h")
    ('74.3', '3,400', '0.611')
    """
    if value is None or math.isnan(value):
        return "–"
    if unit.partition(",")[0] in MEASURED:
        return f"{float(f'{value:.3g}'):,.10g}"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def by_reason(reasons: Mapping[str, int]) -> str:
    """Return reasons with their counts. A single reason has no count.

    >>> by_reason({"infinite": 3}), by_reason({"infinite": 3, "not a number": 1})
    ('infinite', '3 infinite, 1 not a number')
    """
    if len(reasons) == 1:
        return next(iter(reasons))
    return ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())


def omissions(*lost: tuple[Mapping[str, int], str]) -> list[str]:
    """Return in words what was omitted, each noun with its number and the reasons.

    >>> omissions(({"infinite": 3}, "point"), ({}, "trajectory"))
    ['3 points (infinite)']
    """
    return [
        f"{count(sum(reasons.values()), noun)} ({by_reason(reasons)})" for reasons, noun in lost if reasons
    ]


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up counts by reason, without reasons that never occurred.

    >>> total([{"infinite": 1, "broken": 0}, {"infinite": 2}])
    {'infinite': 3}
    """
    return dict(sum(map(Counter[str], parts), Counter[str]()))
