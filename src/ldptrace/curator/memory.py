"""The memory of a standing collection: tallies of steps are added up with weights, older steps count less, and changes
that are larger than noise are found.

A report of age a has the weight 2^(-a / h). Several half-lives h are tried at once, also an infinite one. The half-life
in use is the one with which past steps best predicted the answers of the next step. This choice uses only randomised
answers, so it costs no epsilon. Answers are compared up to a factor, because the number of devices with a trip changes.

To find changes, for every question and for each of the last few steps as a possible beginning, the answers since then
are compared with those before, item by item and in broad terms. Without a change, the sum of the squared differences in
standard errors has a chi-squared distribution, which gives the probability of the observed sum.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Literal

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.tally import Sums, Tally
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import date_words, duration_text
from ldptrace.protocol.words import item_words

# Largest number of steps that are compared since a change, and before it.
AFTER, BEFORE = 8, 8
# Chance of naming a change in one comparison where there is none; some hundred comparisons are made after a step.
ALARM = 1e-6
# Chances below one in this many are not told apart: they are those of a tail that no noise follows so far.
CERTAIN = 1_000_000
# Before its answers are known, one step in 20 is believed to begin a change that moves quarters of the map by a third.
RARE, LARGE = 1 / 20, 1 / 3
# What is compared: item by item, and blocks of the map, this many along one side.
QUARTERS = 2
VIEWS = (None, 3, QUARTERS)
# Domains up to this size are broad as they are.
FEW = 40


@dataclass(frozen=True)
class Change:
    """A change in the answers to a question: when it began, which item changed most, and how likely it is by chance.

    `before` and `after` are answers per device; `before` is scaled to the present number of trips. `chance` is an upper
    bound on the probability that noise alone gives such a difference in any of the comparisons of one step.
    """

    question: str
    since: float
    item: int
    where: str
    before: float
    after: float
    chance: float

    def __str__(self) -> str:
        return self.words("steps")

    def words(self, steps: str) -> str:
        """Return the change in words; `steps` says what is compared, such as windows.

        >>> Change("start", 3900.0, 0, "cell A1", 0.1, 0.2, 0.0123).words("weeks")
        'start has changed since 3,900 s: more cell A1 (0.100 to 0.200 per device; by chance in 1 of 81 weeks)'
        """
        way = "more" if self.after > self.before else "fewer"
        # Seconds count from 1970, or from the beginning of what is played.
        since = date_words(self.since) if abs(self.since) >= 2 * 86_400 else f"{self.since:,.0f} s"
        sure = self.chance * CERTAIN < 1
        odds = f"fewer than 1 of {CERTAIN:,}" if sure else f"1 of {float(f'{1 / self.chance:.2g}'):,.0f}"
        return (
            f"{self.question} has changed since {since}: {way} {self.where} ({self.before:.3f} to {self.after:.3f} per "
            f"device; by chance in {odds} {steps})"
        )


class Watch:
    """Finds changes in the tallies of steps, and stores only the last few steps. No change is reported in the first
    `warm_up` steps, which are incomplete because long trips have not ended yet.
    """

    def __init__(self, plan: Plan, warm_up: int = 0) -> None:
        self.plan, self._warm_up = plan, warm_up
        # The ends of steps, their tallies, and the sums of these with the weight of the step when it was new.
        self._recent: deque[tuple[float, Tally, Sums]] = deque(maxlen=AFTER + BEFORE)
        self._steps = 0
        # Chances that there was no change, and that the last step, the last two ... are all since one.
        self._chances: Floats = np.ones(1)

    def add(self, tally: Tally, time: float, weight: float = 1.0) -> tuple[Change, ...]:
        """Add a step that ended at `time`, and return the changes, the clearest first."""
        self._recent.append((time, tally, Sums.of(tally).aged(weight)))
        self._steps += 1
        self._chances = np.ones(1)
        if self._steps <= self._warm_up:
            return ()
        changes: dict[str, tuple[int, Change]] = {}
        odds, tests, steps = [], 0, list(self._recent)
        for count in range(1, min(AFTER, len(steps) - 1) + 1):
            before, after = (
                Estimates.from_tally(self.plan, Tally.merge([tally for _, tally, _ in part]))
                for part in (steps[-count - BEFORE : -count], steps[-count:])
            )
            # The likelihood of a change, from the answers for quarters of the map.
            evidence = sum(pair.evidence for pair in _compared(before, after, QUARTERS) if pair.on_map)
            odds.append(math.log(RARE) + evidence)
            for compared in (_compared(before, after, blocks) for blocks in VIEWS):
                # Each question, and all of them together.
                tests += len(compared) + 1
                for change in _named(compared, since=steps[-count - 1][0]):
                    if change.question not in changes or change.chance < changes[change.question][1].chance:
                        changes[change.question] = count, change
        if not changes:
            logs = np.array([0.0, *odds])
            self._chances = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
            return ()
        ordered = sorted(changes.values(), key=lambda pair: pair[1].chance)
        # What was before is over: the same change is not named again.
        self._recent.clear()
        self._recent.extend(steps[-ordered[0][0] :])
        return tuple(replace(change, chance=min(tests * change.chance, 1.0)) for _, change in ordered)

    def copy(self) -> Watch:
        """Return a copy to which other steps can be added."""
        other = copy(self)
        other._recent = self._recent.copy()
        return other

    @property
    def since_change(self) -> Sums:
        """Return the sum of all stored steps; after a change, these are the steps since the change."""
        return reduce(Sums.__add__, (sums for *_, sums in self._recent))

    def believed(self, sums: Sums, half_life: float) -> Sums:
        """Return the sums of a memory with this half-life, where old steps count less if a change is likely. The result
        is the mean over all possible beginnings of a change, weighted by their probabilities.
        """
        steps = list(reversed(self._recent))[: len(self._chances) - 1]
        own = [part.aged(2 ** ((time - steps[0][0]) / half_life)) for time, _, part in steps]
        users = np.array([sums.users, *np.cumsum([part.users for part in own])])
        parts = np.divide(self._chances, users, out=np.zeros(len(users)), where=users > 0)
        old, *begun = parts / max(parts.sum(), 1e-300)
        total, weight = sums.aged(old), 1.0
        for part, begins in zip(own, begun, strict=True):
            total += part.aged(weight) - part.aged(old)
            weight -= begins
        return total


def level_changes(points: Sequence[tuple[float, float] | None]) -> list[int]:
    """Return the positions in a series at which a number differs from the number before by more than noise.

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


@dataclass(frozen=True, eq=False)
class Answers:
    """Frequencies with standard errors; `group` has the group of each item of the question. The errors include the
    noise of the randomised answers and the random choice of the people who were asked.
    """

    estimate: Estimate
    frequencies: Floats
    std_errors: Floats
    group: Ints

    @staticmethod
    def of(estimate: Estimate, blocks: int | None = None) -> Answers | None:
        """Return the answers for each single item, or for blocks of cells, that many on each side of the map. Few items
        need no blocks. The result is None for blocks of moves, which have too many items."""
        question = estimate.question
        group = np.arange(question.domain)
        if blocks is not None and question.domain == question.n**2 and question.n > blocks:
            i, j = np.divmod(group, question.n)
            group = (i * blocks // question.n) * blocks + j * blocks // question.n
        elif blocks is not None and question.domain > FEW:
            return None
        # The variances of shares among people who were drawn at random.
        inside = np.clip(estimate.frequencies, 0.0, 1.0)
        variances = estimate.std_errors**2 + inside * (1 - inside) / max(estimate.users, 1)
        return Answers(
            estimate,
            np.bincount(group, estimate.frequencies).astype(np.float64),
            np.sqrt(np.bincount(group, variances)),
            group,
        )

    def words(self, number: int) -> str:
        """Return in words what an answer is about."""
        items = np.flatnonzero(self.group == number)
        first = item_words(self.estimate.question, int(items[0]))
        if len(items) == 1:
            return first
        return f"{first} to {item_words(self.estimate.question, int(items[-1]))}"


@dataclass(frozen=True, eq=False)
class _Compared:
    """The answers to one question before and after."""

    before: Answers
    after: Answers

    @cached_property
    def misfit(self) -> float:
        """Return the squared difference that remains if one set of answers is scaled to fit the other."""
        old = self.before.frequencies / self.before.std_errors
        new = self.after.frequencies / self.after.std_errors
        axes = np.linalg.eigvalsh(np.array([[old @ old, old @ new], [old @ new, new @ new]]))
        return max(float(axes[0]), 0.0)

    @property
    def freedom(self) -> int:
        return max(len(self.before.frequencies) - 1, 1)

    @property
    def on_map(self) -> bool:
        """Whether the items are cells."""
        question = self.before.estimate.question
        return question.domain == question.n**2

    @property
    def evidence(self) -> float:
        """Return the logarithm of the likelihood ratio of a change of normal size (`LARGE`, as a share of the answers)
        to no change."""
        noise = self.before.std_errors**2 + self.after.std_errors**2
        size = LARGE**2 * float(np.mean(self.after.frequencies**2 / noise))
        return (self.misfit * size / (1 + size) - self.freedom * math.log1p(size)) / 2

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


def _compared(before: Estimates, after: Estimates, blocks: int | None) -> list[_Compared]:
    """Return the answers to all questions that were asked both before and after."""
    asked = [name for name in before if before[name].users and after[name].users]
    pairs = [(Answers.of(before[name], blocks), Answers.of(after[name], blocks)) for name in asked]
    return [_Compared(old, new) for old, new in pairs if old is not None and new is not None]


def _named(compared: Sequence[_Compared], since: float) -> list[Change]:
    """Return the questions whose answers changed, each with its probability by chance. If only all questions together
    show a change, return the question that contributes most."""
    from scipy.special import chdtrc

    if not compared:
        return []
    chances = [float(chdtrc(each.freedom, each.misfit)) for each in compared]
    changes = [
        each.change(since, chance) for each, chance in zip(compared, chances, strict=True) if chance < ALARM
    ]
    together = float(chdtrc(sum(each.freedom for each in compared), sum(each.misfit for each in compared)))
    if not changes and together < ALARM:
        changes = [compared[int(np.argmin(chances))].change(since, together)]
    return changes


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
        changes = [change for time, tally in ordered for change in memory.add(tally, time)]
        return memory, tuple(changes)

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
    misfit = 0.0
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
            misfit += float(((values - factor * against) ** 2).sum())
    return misfit
