"""Exact numbers for privacy: epsilon as a decimal, e^epsilon as a rational that is never too large."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction

from ldptrace.errors import InputError, PlanError
from ldptrace.protocol.limits import EPSILON_DIGITS, MAX_EPSILON, RATIO_BITS

_DIGITS = 80


def epsilon_fraction(epsilon: float | str | Decimal | Fraction) -> Fraction:
    """Return the privacy budget as the decimal number a person wrote.

    >>> epsilon_fraction(0.1)
    Fraction(1, 10)
    """
    return budget_fraction(epsilon, MAX_EPSILON, "epsilon")


def budget_fraction(value: float | str | Decimal | Fraction, most: int, what: str) -> Fraction:
    """Return an epsilon, a lifetime or a limit as the exact decimal that was written, above 0 and at most `most`."""
    try:
        budget = value if isinstance(value, Fraction) else _plain(Decimal(str(value)))
    except (InvalidOperation, ValueError, OverflowError):
        raise InputError(f"{what} must be a number, got {str(value)[:80]!r}") from None
    if not 0 < budget <= most:
        raise InputError(f"{what} must be above 0 and at most {most}, got {str(value)[:80]}")
    return budget


def plan_fraction(value: float | str | Decimal | Fraction, most: int, what: str) -> Fraction:
    """Return a budget that a plan can state: with few digits after the point."""
    budget = budget_fraction(value, most, what)
    if (budget * 10**EPSILON_DIGITS).denominator != 1:
        raise PlanError(f"{what} must have at most {EPSILON_DIGITS} digits after the point, got {budget}")
    return budget


def _plain(number: Decimal) -> Fraction:
    """Return a decimal as a fraction, unless its exponent alone would make numbers of many digits."""
    if number and abs(number.adjusted()) > _DIGITS:
        raise OverflowError
    return Fraction(number)


def ratio_at_most(epsilon: Fraction) -> Fraction:
    """Return the largest multiple of 2^-40 that is not above e^epsilon: what a randomizer may use of its budget.

    >>> ratio = ratio_at_most(Fraction(1))
    >>> 2**40 % ratio.denominator == 0, round(float(ratio), 9)
    (True, 2.718281828)
    """
    with localcontext() as context:
        context.prec = _DIGITS
        scaled = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp() * (1 << RATIO_BITS)
        # The quotient and exp are correct to far more digits than this margin.
        return Fraction(int(scaled * (1 - Decimal(10) ** (20 - _DIGITS))), 1 << RATIO_BITS)


def log(ratio: Fraction, times: int = 1) -> Decimal:
    """Compute the natural logarithm of ratio^times, to many digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return (Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()) * times


def total(values: Iterable[Decimal]) -> Decimal:
    """Sum, to many digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return sum(values, start=Decimal(0))


def decimal_text(value: Fraction) -> str:
    """Write out a finite decimal, or the fraction `a/b`.

    >>> decimal_text(Fraction(1, 10)), decimal_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    with localcontext() as context:
        context.prec = _DIGITS
        text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
