"""Local randomizers with exact probabilities: OUE (the paper's), GRR, and the set-valued PrivSet."""

from __future__ import annotations

from fractions import Fraction

from ldptrace.errors import PlanError
from ldptrace.protocol.canonical import integer_in, list_in, object_in, text_in
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_DOMAIN, MAX_RATIO_NUMERATOR, RATIO_BITS
from ldptrace.protocol.randomizers.base import Randomizer
from ldptrace.protocol.randomizers.grr import GRR
from ldptrace.protocol.randomizers.oue import OUE
from ldptrace.protocol.randomizers.privset import PrivSet

RANDOMIZERS: dict[str, type[Randomizer]] = {kind.kind: kind for kind in (GRR, OUE, PrivSet)}


def randomizer_from(data: object) -> Randomizer:
    """Make the randomizer that a plan document describes, and check it."""
    kind = data.get("kind") if isinstance(data, dict) else None
    known = RANDOMIZERS.get(kind) if isinstance(kind, str) else None
    own = () if known is None else tuple(name for name in known.fields if name not in Randomizer.fields)
    fields = object_in(data, ("kind", "domain", "capacity", "ratio", *own), "a randomizer")
    domain = integer_in(fields["domain"], 1, MAX_DOMAIN, "domain")
    capacity = integer_in(fields["capacity"], 1, MAX_CAPACITY, "capacity")
    ratio = _ratio(fields["ratio"])
    if known is None:
        raise PlanError(f"unknown randomizer {str(kind)[:40]!r}; known are {', '.join(sorted(RANDOMIZERS))}")
    return known(domain, capacity, ratio, *(integer_in(fields[name], 1, MAX_DOMAIN, name) for name in own))


def _ratio(data: object) -> Fraction:
    """Read the ratio of two probabilities of a document: two integers as text, so that nothing is rounded."""
    pair = list_in(data, 2, 2, "a ratio")
    numerator, denominator = (int(text_in(value, r"[1-9][0-9]{0,21}", "a ratio's integer")) for value in pair)
    if numerator > MAX_RATIO_NUMERATOR or (1 << RATIO_BITS) % denominator:
        raise PlanError(
            f"a ratio is an integer below 2^70 over a power of two up to 2^{RATIO_BITS}, got {pair}"
        )
    return Fraction(numerator, denominator)


__all__ = ["GRR", "OUE", "RANDOMIZERS", "PrivSet", "Randomizer", "randomizer_from"]
