"""The exact distribution of a randomised computation, from running it: every draw is tried, none is trusted.

A draw below a small bound is tried value by value. A draw below a large one (the integers of a plan have
forty bits and more) has few outcomes, each for a range of values; the ends of the ranges are found by
bisection, and random values inside every range confirm it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from ldptrace.protocol.randomness import Source

T = TypeVar("T", bound=Hashable)

# Bounds up to this are tried value by value.
SMALL = 64
# Random values that are tried inside a range that looks constant.
PROBES = 8


def distribution(run: Callable[[Source], T]) -> dict[T, Fraction]:
    """Probability of each result of `run`, exactly.

    >>> distribution(lambda source: source.below(3) + source.below(2))[1]
    Fraction(1, 3)
    """
    return _explore(run, [])


class _Undecided(Exception):
    def __init__(self, bound: int) -> None:
        self.bound = bound


class _Scripted(Source):
    """Draws given values. After them it stops (`then` None) or draws the lowest or the highest values."""

    def __init__(self, values: list[int], then: str | None = None) -> None:
        super().__init__(self._no_bytes)
        self.values = iter(values)
        self.then = then
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        """The next value of the script; where it ends, the bound is raised as undecided, or noted."""
        value = next(self.values, None)
        if value is None:
            if self.then is None:
                raise _Undecided(bound)
            self.bounds.append(bound)
            return 0 if self.then == "lowest" else bound - 1
        return value

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))

    def _no_bytes(self, count: int) -> bytes:
        raise TypeError(f"a randomizer must draw integers, it asked for {count} bytes")


def _explore(run: Callable[[Source], T], drawn: list[int]) -> dict[T, Fraction]:
    try:
        return {run(_Scripted(drawn)): Fraction(1)}
    except _Undecided as undecided:
        bound = undecided.bound
    total: dict[T, Fraction] = {}
    for value, width in _ranges(run, drawn, bound):
        for result, probability in _explore(run, [*drawn, value]).items():
            total[result] = total.get(result, Fraction(0)) + probability * Fraction(width, bound)
    return total


def _ranges(run: Callable[[Source], T], drawn: list[int], bound: int) -> list[tuple[int, int]]:
    """First value and width of every range of values that the computation treats alike."""
    if bound <= SMALL:
        return [(value, 1) for value in range(bound)]
    lottery = random.Random(bound)

    def behaviour(value: int) -> tuple[object, ...]:
        seen: list[object] = []
        for then in ("lowest", "highest"):
            source = _Scripted([*drawn, value], then)
            seen += [run(source), tuple(source.bounds)]
        return tuple(seen)

    def split(low: int, at_low: tuple[object, ...], high: int, at_high: tuple[object, ...]) -> list[int]:
        """Values in low+1..high at which the behaviour changes."""
        if at_low == at_high:
            inside = [lottery.randrange(low, high + 1) for _ in range(PROBES)]
            odd = next((value for value in inside if behaviour(value) != at_low), None)
            if odd is None:
                return []
            middle = odd
        elif high == low + 1:
            return [high]
        else:
            middle = (low + high) // 2
        at_middle = behaviour(middle)
        return split(low, at_low, middle, at_middle) + split(middle, at_middle, high, at_high)

    starts = [0, *split(0, behaviour(0), bound - 1, behaviour(bound - 1)), bound]
    return [(first, after - first) for first, after in pairwise(starts)]
