"""Changes beyond noise: the answers of the last steps beside those of the steps before.

For every question and for each of the last few steps as a possible beginning, the answers since then are compared with
those before, up to a factor: how many devices have a trip is no change of where they go. Without a change the squared
differences in standard errors add up to a chi-squared number, so that how unlikely they are is known.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.sums import Sums
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import item_words

# Steps that are compared: so many at most since a change, and before it.
AFTER, BEFORE = 4, 4
# Steps at the beginning in which nothing is named: long trips have not ended yet.
WARM_UP = 6
# Chance of naming a change of one question in one comparison where there is none.
ALARM = 1e-7


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
            f"{self.question} has changed since {self.since:g}: {way} {self.where} "
            f"({self.before:.3f} to {self.after:.3f} per device; by chance once in {1 / max(self.chance, 1e-99):.0e})"
        )


class Watch:
    """Takes the tallies of steps and names changes; keeps the last few steps only."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._recent: deque[tuple[float, Tally]] = deque(maxlen=AFTER + BEFORE)
        self._steps = 0

    def add(self, tally: Tally, time: float) -> tuple[Change, ...]:
        """One more step, until `time`: what has changed, the clearest question first."""
        self._recent.append((time, tally))
        self._steps += 1
        if self._steps <= WARM_UP:
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
        since = earlier[-1][0]
        changes = [_change(before[name], after[name], since) for name in before]
        return [change for change in changes if change is not None]


def _change(before: Estimate, after: Estimate, since: float) -> Change | None:
    """The change of one question, where noise does not explain it."""
    if not (before.users and after.users):
        return None
    old, new = before.frequencies / before.std_errors, after.frequencies / after.std_errors
    # What is left when both are the same answers times a factor each: the smaller axis of the cloud of their pairs.
    axes = np.linalg.eigvalsh(np.array([[old @ old, old @ new], [old @ new, new @ new]]))
    from scipy.special import chdtrc

    chance = float(chdtrc(max(len(old) - 1, 1), max(float(axes[0]), 0.0)))
    if not chance < ALARM:
        return None
    shown = after.frequencies.sum() * before.frequencies / before.frequencies.sum()
    item = int(np.argmax(np.abs(after.frequencies - shown) / after.std_errors))
    return Change(
        after.question.name,
        since,
        item,
        item_words(after.question, item),
        float(shown[item]),
        float(after.frequencies[item]),
        chance,
    )
