"""The memory of a standing collection: tallies of steps are added up with weights, and older steps count less.

A report of age a has the weight 2^(-a / h). Several half-lives h are tried at once, also an infinite one. The half-life
in use is the one with which past steps best predicted the answers of the next step. This choice uses only randomised
answers, so it costs no epsilon. Answers are compared up to a factor, because the number of devices with a trip changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Literal

import numpy as np

from ldptrace.curator.changes import QUARTERS, Answers, Change, Watch
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.tally import Sums, Tally
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import duration_text

Remember = float | Literal["auto", "forever"]
# Candidates for the half-life, in steps.
STEPS = (1, 2, 4, 8, 16, 32)
# Misfits of predictions are forgotten too, with this half-life in steps: what predicted well long ago may not now.
PATIENCE = 4
# A shorter memory must predict better by this much, twice the logarithm of the odds.
NEARLY = 4.0


class Memory:
    """Takes the tallies of steps in order, and computes the present estimates. Its size does not depend on the number
    of steps. `warm_up` is the number of first steps that are incomplete; windows of a campaign are always complete.
    """

    def __init__(self, plan: Plan, step: float, remember: Remember = "auto", *, warm_up: int = 0) -> None:
        if not (math.isfinite(step) and step > 0):
            raise InputError(f"a step must be a positive number of seconds, got {step!r}")
        self.plan = plan
        self.candidates: tuple[float, ...] = (math.inf, *(step * count for count in reversed(STEPS)))
        if remember == "forever":
            self.candidates = (math.inf,)
        elif not isinstance(remember, str):
            if not remember > 0:
                raise InputError(f"a half-life must be positive, got {remember!r}")
            self.candidates = (float(remember),)
        self._sums = [Sums.of(Tally.zero(plan))] * len(self.candidates)
        self._misfits = np.zeros(len(self.candidates))
        self._time: float | None = None
        self._step = step
        self._watch = Watch(plan, warm_up)

    @staticmethod
    def of(
        plan: Plan, steps: Sequence[tuple[float, Tally]], remember: Remember = "auto"
    ) -> tuple[Memory, tuple[Change, ...]]:
        """Make a memory of tallies with their times, in any order, and return it with all changes. The length of a step
        is the median time between two tallies.
        """
        ordered = sorted(steps, key=lambda step: step[0])
        gaps = sorted(b[0] - a[0] for a, b in pairwise(ordered) if b[0] > a[0])
        memory = Memory(plan, gaps[len(gaps) // 2] if gaps else 1.0, remember)
        found = [change for time, tally in ordered for change in memory.add(tally, time)]
        return memory, tuple(found)

    def add(self, tally: Tally, time: float, weight: float = 1.0) -> tuple[Change, ...]:
        """Add a step that ended at `time`, and return the changes that are larger than noise. The best `weight` of a
        step is the share of its devices that had a trip, because the others only add noise.
        """
        if tally.plan_id not in (self.plan.id, *self.plan.ancestors):
            raise InputError(
                f"the tally belongs to plan {tally.plan_id[:12]}, this is plan {self.plan.id[:12]}"
            )
        if self._time is not None and time < self._time:
            raise InputError(f"steps come in the order of their times: {time:g} after {self._time:g}")
        passed = 0.0 if self._time is None else time - self._time
        self._misfits *= 2 ** (-passed / (PATIENCE * self._step))
        if len(self.candidates) > 1 and self.effective > 0:
            new = Estimates.from_tally(self.plan, tally)
            self._misfits += [
                _prediction_misfit(new, Estimates.from_sums(self.plan, 0, sums)) for sums in self._sums
            ]
        self._sums = [
            sums.aged(2 ** (-passed / half_life)) + Sums.of(tally).aged(weight)
            for sums, half_life in zip(self._sums, self.candidates, strict=True)
        ]
        self._time = time
        changes = self._watch.add(tally, time, weight)
        if changes and len(self.candidates) > 1:
            # What was before is known to be over.
            self._sums = [self._watch.since_change] * len(self.candidates)
            self._misfits[:] = 0
        return changes

    def copy(self) -> Memory:
        """Return an independent copy of the memory."""
        other = copy(self)
        other._sums, other._misfits, other._watch = list(self._sums), self._misfits.copy(), self._watch.copy()
        return other

    @property
    def half_life(self) -> float:
        """The half-life in use, in seconds, or infinity if old steps keep their weight."""
        return self.candidates[self._chosen]

    @property
    def words(self) -> str:
        """The half-life in use, in words."""
        return "forever" if math.isinf(self.half_life) else duration_text(round(self.half_life))

    @property
    def sums(self) -> Sums:
        """The present weighted sums. If the half-life is automatic, steps before a likely change count less."""
        chosen = self._sums[self._chosen]
        return chosen if len(self.candidates) == 1 else self._watch.believed(chosen, self.half_life)

    @property
    def _chosen(self) -> int:
        """The longest half-life that predicts nearly as well as the best."""
        return int(np.argmax(self._misfits <= self._misfits.min() + NEARLY))

    @property
    def effective(self) -> float:
        """The effective number of reports."""
        return self.sums.effective

    @property
    def estimates(self) -> Estimates:
        """The present estimates."""
        return Estimates.from_sums(self.plan, 0, self.sums)


def _prediction_misfit(new: Estimates, past: Estimates) -> float:
    """Return the squared error with which past steps predict the answers of a step, in standard errors and up to a
    factor. Answers are summed over blocks, because a model also smooths over single items.
    """
    found = 0.0
    for name, seen in new.items():
        # Where people are says most of what a model has to follow, in the fewest numbers.
        if not (seen.users and past[name].users and seen.question.domain == seen.question.n**2):
            continue
        answers, expected = (Answers.of(each, QUARTERS) for each in (seen, past[name]))
        if answers is not None and expected is not None:
            values = answers.frequencies / answers.std_errors
            against = expected.frequencies / answers.std_errors
            size = float(against @ against)
            factor = float(values @ against) / size if size > 0 else 0.0
            found += float(((values - factor * against) ** 2).sum())
    return found
