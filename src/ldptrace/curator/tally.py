"""Counts of items per question, which are all that the curator stores of the reports. Tallies can be added in any
order.

The function `findings` looks for counts that honest devices do not produce. An honest report names an item with a
probability between q and p, and groups are drawn by the public shares. Counts outside these ranges, beyond what chance
allows, come from clients that do not follow the plan. False reports inside the ranges cannot be recognised; SECURITY.md
states how much they can change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE
from ldptrace.protocol.round import SHARES, Ask, Round

FORMAT = "ldptrace-tally"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of reports in one round of a plan.

    - `counts`: for each question, how many reports contain each item (possible value, such as a cell).
    - `users`: for each question, the number of users who answered.
    - `reports`: for each question, the number of reports. If an answer has several parts, each with its own noise, each
      part is counted as one report.
    - `window`: the number of the time window, if the plan is answered once in every time window; None means all
      windows.
    """

    plan_id: str
    round: int
    counts: tuple[Ints, ...]
    reports: tuple[int, ...]
    users: tuple[int, ...]
    window: int | None = None

    @staticmethod
    def zero(plan: Plan, round_number: int = 0, window: int | None = None) -> Tally:
        """Make a tally in which all counts are 0."""
        asks = _round(plan, round_number).asks
        zeros = tuple(np.zeros(ask.randomizer.outputs, dtype=np.int64) for ask in asks)
        if plan.standing is None and window is not None:
            raise InputError(f"the plan has no windows, so there is no window {window}")
        return Tally(plan.id, round_number, zeros, (0,) * len(asks), (0,) * len(asks), window)

    def __add__(self, other: Tally) -> Tally:
        if (self.plan_id, self.round) != (other.plan_id, other.round):
            raise InputError("tallies of different plans or rounds cannot be added")
        return Tally(
            self.plan_id,
            self.round,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.reports, other.reports, strict=True)),
            tuple(a + b for a, b in zip(self.users, other.users, strict=True)),
            self.window if self.window == other.window else None,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self.document() == other.document()

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def merge(parts: list[Tally]) -> Tally:
        """Return the sum of one or more tallies."""
        return reduce(Tally.__add__, parts)

    def document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": self.plan_id,
            "round": self.round,
            "window": self.window,
            "asks": [
                {"counts": counts.tolist(), "reports": reports, "users": users}
                for counts, reports, users in zip(self.counts, self.reports, self.users, strict=True)
            ],
        }

    def to_json(self) -> str:
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str | bytes) -> Tally:
        try:
            data = json.loads(text)
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise FormatError(
                    f"expected {FORMAT!r} version {VERSION}, got {data['format']!r} {data['version']!r}"
                )
            asks = data["asks"]
            return Tally(
                data["plan"],
                data["round"],
                tuple(np.array(ask["counts"], dtype=np.int64) for ask in asks),
                tuple(int(ask["reports"]) for ask in asks),
                tuple(int(ask["users"]) for ask in asks),
                None if data["window"] is None else int(data["window"]),
            )
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            if isinstance(error, FormatError):
                raise
            why = "it is no text" if isinstance(error, UnicodeDecodeError) else error
            raise FormatError(f"this is not a tally: {why}") from None


def _round(plan: Plan, number: int) -> Round:
    if not 0 <= number < len(plan.rounds):
        raise InputError(f"the plan has rounds 1 to {len(plan.rounds)}, there is no round {number + 1}")
    return plan.rounds[number]


@dataclass(frozen=True, eq=False)
class Sums:
    """For each question the sum of squared weights times users, then those of weight times users, reports and counts.

    >>> step = Sums((np.array([10.0, 10.0, 10.0, 4.0, 6.0]),))
    >>> (step.aged(0.5) + step).of_ask(0)[2:]  # ten users that count half and ten that count: as good as 18
    (15.0, 18.0)
    """

    rows: tuple[Floats, ...]

    @staticmethod
    def of(tally: Tally) -> Sums:
        """Make the sums of one tally with weight 1."""
        asks = zip(tally.users, tally.reports, tally.counts, strict=True)
        return Sums(
            tuple(
                np.concatenate([[users, users, reports], counts], dtype=np.float64)
                for users, reports, counts in asks
            )
        )

    def aged(self, weight: float) -> Sums:
        """Return the sums multiplied by a weight."""
        return Sums(tuple(np.append(weight**2 * row[0], weight * row[1:]) for row in self.rows))

    def __add__(self, other: Sums) -> Sums:
        return Sums(tuple(map(np.add, self.rows, other.rows)))

    def __sub__(self, other: Sums) -> Sums:
        return Sums(tuple(map(np.subtract, self.rows, other.rows)))

    def of_ask(self, number: int) -> tuple[Floats, float, float, float]:
        """Return the counts, reports, users and effective number of users of one question."""
        squares, users, reports = self.rows[number][:3].tolist()
        return self.rows[number][3:], reports, users, users**2 / squares if squares > 0 else 0.0

    @property
    def users(self) -> float:
        """The sum of the weights of the users of all questions."""
        return sum(float(row[1]) for row in self.rows)

    @property
    def effective(self) -> float:
        """The effective number of users of all questions."""
        return sum(self.of_ask(number)[3] for number in range(len(self.rows)))


# Chance that an honest collection has any finding at all.
ALPHA = 1e-6


def findings(plan: Plan, tally: Tally, alarm: float = ALPHA) -> list[str]:
    """Return a sentence for each count that honest devices do not produce. If all devices are honest, the list is empty
    with probability 1 - alarm.

    >>> from ldptrace.protocol.grid import Grid
    >>> plan = Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0)
    >>> findings(plan, Tally.zero(plan))
    []
    """
    round_ = plan.rounds[tally.round]
    tests = sum(len(counts) + 2 for counts in tally.counts)
    sentences = []
    for ask, counts, reports, users in zip(
        round_.asks, tally.counts, tally.reports, tally.users, strict=True
    ):
        ranges = list(_items(ask, counts.tolist(), reports))
        if round_.assignment == "partition":
            mean = sum(tally.users) * ask.share / SHARES
            ranges.append(("asked", users, mean, mean, mean))
        for what, observed, fewest, most, variance in ranges:
            # Bernstein's inequality for a sum of independent draws between 0 and 1.
            log = math.log(2 * tests / alarm)
            slack = math.sqrt(2 * variance * log) + log / 3
            if not fewest - slack <= observed <= most + slack:
                low, high = max(0, math.ceil(fewest - slack)), math.floor(most + slack)
                sentences.append(
                    f"{ask.question.name}: {what} {observed:,} times, honest devices stay between {low:,} and {high:,}"
                )
    return sentences


def _items(ask: Ask, counts: list[int], reports: int) -> Iterator[tuple[str, int, float, float, float]]:
    """Yield for each count what it counts, its value, the lowest and highest mean with honest devices, and a bound on
    its variance."""
    p, q = (float(value) for value in ask.randomizer.probabilities)
    spread = reports * max(p * (1 - p), q * (1 - q), 0.25 if q < 0.5 < p else 0.0)
    for item, count in enumerate(counts):
        yield f"item {item} was named", count, reports * q, reports * p, spread
    if isinstance(ask.randomizer, OUE):
        # The other randomizers name a fixed number of items; a report of OUE can be stuffed with ones.
        fewest = reports * len(counts) * q
        yield "items were named", sum(counts), fewest, fewest + reports * (p - q), fewest + spread
