"""Plans to audit, and randomizers that are broken in known ways."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR, OUE, Randomizer
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.round import Ask, Round

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)


def with_channel(channel: type[Randomizer], plan: Plan) -> Plan:
    """The plan with one of its randomizers replaced by a broken one of the same parameters."""

    def swapped(ask: Ask) -> Ask:
        old = ask.randomizer
        if not isinstance(old, channel.__bases__[0]):
            return ask
        return ask.changed(randomizer=channel(*(getattr(old, name) for name in old.fields)))

    rounds = tuple(Round(tuple(map(swapped, r.asks)), r.assignment, r.padded) for r in plan.rounds)
    return plan.changed(rounds=rounds, extends=None)


class LastBitKept(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        last = self.domain - 1
        return tuple(item for item in named if item != last) + tuple(item for item in items if item == last)


class TrueBitNeverCleared(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = set(super().perturb((), source))
        return tuple(sorted(named | set(items if source.below(2) else ())))


ONE_OUE = Plan.paper(GRID, 5.0)


SINGLE = Plan.single_report(GRID, 1.0)


ONE_GRR = Plan("audit", GRID, Fraction(1), (Round((Ask(Start(3), GRR(9, 1, Fraction(5, 2))),), "everyone"),))


def seeded() -> Callable[[int], bytes]:
    return random.Random(7).randbytes
