"""How far lying clients can push an estimate: the price of every randomizer."""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.protocol.randomizers import OUE, PrivSet, Randomizer


@dataclass(frozen=True)
class Reach:
    """What one forged but valid report does to the estimated numbers of users.

    `up` is added to each of at most `items` items of the liar's choice, `down` is taken from all others. Somebody
    who lies about the trajectory but runs the honest code moves one item by one.
    """

    up: float
    items: int
    down: float


def reach(channel: Randomizer) -> Reach:
    """A named item counts (1 - q) / (p - q) users, one that is not named -q / (p - q); see SECURITY.md.

    >>> from fractions import Fraction
    >>> from ldptrace.protocol.exact import ratio_at_most
    >>> lie = reach(OUE(36, 1, ratio_at_most(Fraction(1))))
    >>> round(lie.up, 2), lie.items, round(lie.down, 2)
    (3.16, 36, 1.16)
    """
    p, q = (float(value) for value in channel.probabilities)
    if isinstance(channel, OUE):
        items = channel.domain
    else:
        items = min(channel.size, channel.domain) if isinstance(channel, PrivSet) else 1
    return Reach((1 - q) / (p - q), items, q / (p - q))
