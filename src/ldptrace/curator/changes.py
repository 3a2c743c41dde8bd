"""Changes beyond noise: the answers of the last steps beside those of the steps before.

For every question and for each of the last few steps as a possible beginning, the answers since then are compared with
those before, item by item and in broad terms, up to a factor: how many devices have a trip is no change of where they
go. Without a change the squared differences in standard errors add up to a chi-squared number, so that how unlikely
they are is known.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial, reduce
from itertools import pairwise

import numpy as np

from ldptrace.curator.broad import Answers
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.tally import Sums, Tally
from ldptrace.protocol.plan import Plan

# Largest number of steps that are compared since a change, and before it.
AFTER, BEFORE = 8, 8
# Steps at the beginning in which nothing is named: long trips have not ended yet.
WARM_UP = 6
# Chance of naming a change in one comparison where there is none.
ALARM = 1e-6


@dataclass(frozen=True)
class Change:
    """Answers to a question that are not what they were: since when, where most, and how unlikely by chance.

    `before` and `after` are answers per device; those before are scaled to as many trips as there are now.
    """

    question: str
    since: float
    item: int
    where: str
    before: float
    after: float
    chance: float

    def __str__(self) -> str:
        way = "more" if self.after > self.before else "fewer"
        return (
            f"{self.question} has changed since {moment_words(self.since)}: {way} {self.where} "
            f"({self.before:.3f} to {self.after:.3f} per device; by chance once in {1 / max(self.chance, 1e-99):.0e})"
        )


def moment_words(time: float) -> str:
    """A moment in words: seconds of a clock of its own, or a date, where seconds count from 1970.

    >>> moment_words(3900.0), moment_words(1772436600.0)
    ('3,900 s', '2026-03-02 07:30 UTC')
    """
    if abs(time) < 2 * 86_400:
        return f"{time:,.0f} s"
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"


class Watch:
    """Takes the tallies of steps and names changes, none in the first `warm_up`; keeps the last few steps only."""

    def __init__(self, plan: Plan, warm_up: int = WARM_UP) -> None:
        self.plan, self._warm_up = plan, warm_up
        self._recent: deque[tuple[float, Tally]] = deque(maxlen=AFTER + BEFORE)
        self._steps = 0

    def add(self, tally: Tally, time: float) -> tuple[Change, ...]:
        """One more step, until `time`: what has changed, the clearest question first."""
        self._recent.append((time, tally))
        self._steps += 1
        if self._steps <= self._warm_up:
            return ()
        found: dict[str, tuple[int, Change]] = {}
        for count in range(1, min(AFTER, len(self._recent) - 1) + 1):
            for change in self._compared(count):
                if change.question not in found or change.chance < found[change.question][1].chance:
                    found[change.question] = count, change
        if not found:
            return ()
        ordered = sorted(found.values(), key=lambda pair: pair[1].chance)
        # What was before is over: the same change is not named again.
        kept = list(self._recent)[-ordered[0][0] :]
        self._recent.clear()
        self._recent.extend(kept)
        return tuple(change for _, change in ordered)

    def copy(self) -> Watch:
        """The same steps, to which others are added."""
        other = copy(self)
        other._recent = self._recent.copy()
        return other

    @property
    def since_change(self) -> Sums:
        """All steps that are kept: after a change was named, those since it."""
        return reduce(Sums.__add__, (Sums.of(tally) for _, tally in self._recent))

    def _compared(self, count: int) -> list[Change]:
        """Questions whose answers of the last `count` steps are not those of the steps before."""
        steps = list(self._recent)
        earlier, later = steps[-count - BEFORE : -count], steps[-count:]
        before, after = (
            Estimates.from_tally(self.plan, Tally.merge([tally for _, tally in part]))
            for part in (earlier, later)
        )
        asked = [name for name in before if before[name].users and after[name].users]
        changes = []
        for view in VIEWS:
            pairs = [(view(before[name]), view(after[name])) for name in asked]
            compared = [_Compared(old, new) for old, new in pairs if old is not None and new is not None]
            changes += _named(compared, earlier[-1][0])
        return changes


def level_changes(points: Sequence[tuple[float, float] | None]) -> list[int]:
    """Places at which a number, given with its standard error, differs from the one before beyond noise.

    >>> level_changes([(0.5, 0.01), (0.51, 0.01), (0.6, 0.01), None])
    [2]
    """
    from scipy.special import ndtri

    many = -float(ndtri(ALARM / 2))
    return [
        place
        for place, (before, here) in enumerate(pairwise(points), 1)
        if before is not None
        and here is not None
        and abs(here[0] - before[0]) > many * math.hypot(before[1], here[1])
    ]


# Item by item, and in blocks of the map.
VIEWS: tuple[Callable[[Estimate], Answers | None], ...] = (
    Answers.single,
    partial(Answers.broad, blocks=3),
    partial(Answers.broad, blocks=2),
)


@dataclass(frozen=True, eq=False)
class _Compared:
    """The answers to one question before and after."""

    before: Answers
    after: Answers

    @cached_property
    def misfit(self) -> float:
        """What is left when both are the same answers, each times a factor: the smaller axis of the cloud of pairs."""
        old = self.before.frequencies / self.before.std_errors
        new = self.after.frequencies / self.after.std_errors
        axes = np.linalg.eigvalsh(np.array([[old @ old, old @ new], [old @ new, new @ new]]))
        return max(float(axes[0]), 0.0)

    @property
    def freedom(self) -> int:
        return max(len(self.before.frequencies) - 1, 1)

    def change(self, since: float, chance: float) -> Change:
        before, after = self.before, self.after
        shown = after.frequencies.sum() * before.frequencies / before.frequencies.sum()
        item = int(np.argmax(np.abs(after.frequencies - shown) / after.std_errors))
        return Change(
            after.estimate.question.name,
            since,
            item,
            after.words(item),
            float(shown[item]),
            float(after.frequencies[item]),
            chance,
        )


def _named(compared: Sequence[_Compared], since: float) -> list[Change]:
    """Questions whose answers changed; or, where only all of them together say so, the one that says most."""
    from scipy.special import chdtrc

    if not compared:
        return []
    chances = [float(chdtrc(each.freedom, each.misfit)) for each in compared]
    found = [
        each.change(since, chance) for each, chance in zip(compared, chances, strict=True) if chance < ALARM
    ]
    together = float(chdtrc(sum(each.freedom for each in compared), sum(each.misfit for each in compared)))
    if not found and together < ALARM:
        found = [compared[int(np.argmin(chances))].change(since, together)]
    return found
