"""Unbiased frequencies with their standard errors, from a tally; and how many trips people make, from the question
`trips`, whose classes "4 to 5" and "6 or more" need an assumption, which is stated with the result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.tally import Sums, Tally
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question
from ldptrace.protocol.questions.times import CLASSES, Trips
from ldptrace.protocol.randomizers import PrivSet, Randomizer
from ldptrace.protocol.round import Ask

FORMAT = "ldptrace-estimates"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Estimate:
    """For each item of one question, the estimated share of the users asked whose true answer has the item.

    Estimates are unbiased, so some are negative. If the randomizer has nulls (outputs for "no item"), `nulls` is the
    estimated number of empty places per user asked, with the standard error `nulls_error`.
    """

    question: Question
    frequencies: Floats
    std_errors: Floats
    users: int
    nulls: float | None = None
    nulls_error: float | None = None


@dataclass(frozen=True, eq=False)
class Estimates(Mapping[str, Estimate]):
    """The estimates of a collection: for each question, the estimated share of users for each item (possible
    value, such as a cell).

    `estimates["visits"]` gives the estimates of one question, and `estimates.plan` the plan.
    """

    plan: Plan
    by_question: dict[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        return self.by_question[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_question)

    def __len__(self) -> int:
        return len(self.by_question)

    @staticmethod
    def from_tally(plan: Plan, tally: Tally) -> Estimates:
        """Compute unbiased estimates and their standard errors from a tally.

        A question that nobody was asked gets shares of 0 and infinite standard errors.
        """
        if tally.plan_id not in (plan.id, *plan.ancestors[tally.round :]):
            raise InputError(f"the tally belongs to plan {tally.plan_id[:12]}, this is plan {plan.id[:12]}")
        return Estimates.from_sums(plan, tally.round, Sums.of(tally))

    @staticmethod
    def from_sums(plan: Plan, round_number: int, sums: Sums) -> Estimates:
        """Compute estimates from weighted sums of tallies, with standard errors by the effective number of users."""
        asks = plan.rounds[round_number].asks
        return Estimates(
            plan, {ask.question.name: _debiased(ask, *sums.of_ask(k)) for k, ask in enumerate(asks)}
        )

    @staticmethod
    def from_tallies(plan: Plan, tallies: Iterable[Tally]) -> Estimates:
        """Compute estimates from the tallies of all rounds. Several tallies of one round are summed first."""
        by_round: dict[int, Tally] = {}
        for tally in tallies:
            by_round[tally.round] = by_round[tally.round] + tally if tally.round in by_round else tally
        estimates = Estimates(plan, {})
        for number in sorted(by_round):
            estimates = estimates.joined(Estimates.from_tally(plan, by_round[number]))
        return estimates

    def joined(self, other: Estimates) -> Estimates:
        """Join these estimates with the estimates of a later round."""
        return Estimates(other.plan, {**self.by_question, **other.by_question})

    def without(self, *names: str) -> Estimates:
        """Return the estimates without some questions, which are given by name."""
        return Estimates(self.plan, {name: estimate for name, estimate in self.items() if name not in names})

    def to_json(self) -> str:
        """Return all estimates and their plan as JSON."""
        questions = {
            name: {
                "frequencies": estimate.frequencies.tolist(),
                "std_errors": estimate.std_errors.tolist() if estimate.users > 0 else None,
                "users": estimate.users,
                "nulls": estimate.nulls,
                "nulls_error": estimate.nulls_error,
            }
            for name, estimate in self.items()
        }
        head = {"format": FORMAT, "version": VERSION, "plan": self.plan.document()}
        return json.dumps({**head, "plan_id": self.plan.id, "questions": questions})

    @staticmethod
    def from_json(text: str | bytes) -> Estimates:
        """Read and check the JSON that `to_json` returns."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
                raise FormatError(f"expected {FORMAT!r} version {VERSION}")
            plan = Plan.from_json(dumps(data["plan"]))
            questions = {ask.question.name: ask.question for round_ in plan.rounds for ask in round_.asks}
            return Estimates(
                plan, {name: _estimate(questions[name], entry) for name, entry in data["questions"].items()}
            )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FormatError(f"this is not a document of estimates: {error}") from None


def _debiased(ask: Ask, counts: Floats, reports: float, users: float, effective: float) -> Estimate:
    channel, domain = ask.randomizer, ask.randomizer.domain
    if users == 0:
        return Estimate(ask.question, np.zeros(domain), np.full(domain, np.inf), 0)
    frequencies = channel.debias(counts, reports) / users
    each = reports / users
    held = np.clip(frequencies[:domain], 0, 1) * effective
    errors = np.sqrt(channel.variance(each * effective, held)) / effective
    nulls = error = None
    if channel.outputs > domain:
        nulls = float(frequencies[domain:].sum())
        error = nulls_error(channel, each * effective, effective, nulls)
    return Estimate(ask.question, frequencies[:domain], errors, round(effective), nulls, error)


def _estimate(question: Question, entry: dict[str, Any]) -> Estimate:
    users, domain = int(entry["users"]), question.domain
    frequencies = np.array(entry["frequencies"], dtype=np.float64)
    errors = np.full(domain, np.inf) if users == 0 else np.array(entry["std_errors"], dtype=np.float64)
    if frequencies.shape != (domain,) or errors.shape != (domain,) or users < 0:
        raise FormatError(
            f"question {question.name!r} has {domain} items, each with a frequency and an error"
        )
    if not np.isfinite(frequencies).all() or np.isnan(errors).any() or not (errors > 0).all():
        raise FormatError(f"question {question.name!r} holds numbers that are no frequencies or no errors")
    nulls, error = (None if entry[name] is None else float(entry[name]) for name in ("nulls", "nulls_error"))
    if (nulls is None) != (error is None) or not (error is None or error > 0):
        raise FormatError(f"question {question.name!r} has empty places without an error, or none with one")
    return Estimate(question, frequencies, errors, users, nulls, error)


def nulls_error(channel: Randomizer, reports: float, users: float, nulls: float) -> float:
    """Return the standard error of the estimated number of empty places per user, `nulls`.

    A report names several outputs at once, so their noise is not independent. The error also includes the random choice
    of users; the worst case is assumed, in which a user has either all places empty or none.
    """
    most = channel.capacity * reports / users
    empty = min(max(nulls / most, 0.0), 1.0)
    noise = empty * _variance(channel, channel.capacity) + (1 - empty) * _variance(channel, 0)
    sampled = float(choice_variance(empty, users)) * most**2
    return math.sqrt(noise * reports / users**2 + sampled)


# Users with an item, and as many without it, that are added to those asked.
ADDED = 3


def choice_variance(share: Floats | float, users: float) -> Floats | float:
    """Return the variance of the share of the users asked, who are chosen at random, around the share of all users.

    As if some more were asked and half of them had the item: that nobody has it among those asked does not prove that
    nobody has. With few of them, a model takes items that nobody happened to have for certain, and fits them too well.

    >>> round(float(choice_variance(0.5, 100)), 6), choice_variance(0.0, 98) > 0
    (0.0025, True)
    """
    likely = (share * users + ADDED) / (users + 2 * ADDED)
    return likely * (1 - likely) / users


def _variance(channel: Randomizer, empty: int) -> float:
    """Return the variance of the estimate from one report, given the number of empty places."""
    p, q = (float(value) for value in channel.probabilities)
    filled = channel.capacity - empty
    mean = empty * p + filled * q
    return (mean + 2 * _pairs(channel, empty, p) - mean**2) / (p - q) ** 2


def _pairs(channel: Randomizer, empty: int, p: float) -> float:
    """Return the expected number of pairs of nulls that a report names, for a user with this number of empty places."""
    if not isinstance(channel, PrivSet) or channel.size < 2:
        return 0.0
    outputs, size, most = channel.outputs, channel.size, channel.capacity
    # The chance of both nulls of a pair: `own` if the user holds one of them at least, `other` if none.
    own = p * (size - 1) / (outputs - 1)
    ratio = float(channel.ratio)
    missed = math.comb(outputs - 2 - most, size - 2) / math.comb(outputs - 2, size - 2)
    other = own * (missed / ratio + 1 - missed)
    strangers = math.comb(most - empty, 2)
    return own * (math.comb(most, 2) - strangers) + other * strangers


# Trips of those in the open class, on average.
OPEN = 7.0
# Trips that stand for those of the last class but one.
MIDDLE = (CLASSES[-2] + CLASSES[-1] - 1) / 2
# Standard errors of an interval: nineteen in twenty hold the truth.
WIDE = 1.96
PEOPLE = "One trip of each person was drawn, so that shares are of people who had a trip, not of trips."


@dataclass(frozen=True)
class TripsPerPerson:
    """Mean number of trips of the people who were asked, in the time that they were asked about.

    >>> mean = TripsPerPerson(1.5, 0.1, 0.25)
    >>> mean.interval, mean.words(100)[1].partition(",")[0]
    ((1.304, 1.696), 'That is 150 trips (130 to 170) of 100 people')
    """

    value: float
    std_error: float
    # Share of people without a trip, and the fewest trips per person that are possible: everybody else had at least
    # one.
    none: float
    least: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that contains the truth in nineteen of twenty collections."""
        half = WIDE * self.std_error
        return round(max(self.value - half, self.least), 12), round(self.value + half, 12)

    def words(self, people: float | None = None) -> list[str]:
        """Return the result in words, with its assumption about the last two classes, and how many trips that is in a
        population, if the people who were asked represent it."""
        low, high = self.interval
        said = [
            f"{self.value:.2f} trips per person ({low:.2f} to {high:.2f}; assumed: {CLASSES[-1]} or more trips are "
            f"{OPEN:g} on average, {CLASSES[-2]} to {CLASSES[-1] - 1} are {MIDDLE:g})."
        ]
        if people is not None:
            if not (math.isfinite(people) and people > 0):
                raise InputError(f"a population is a positive number of people, got {people!r}")
            said.append(
                f"That is {self.value * people:,.0f} trips ({low * people:,.0f} to {high * people:,.0f}) of "
                f"{people:,.0f} people, if those who were asked are typical of them."
            )
        return [*said, PEOPLE]


def trips_per_person(
    estimates: Estimates, without: tuple[float, float] | None = None
) -> TripsPerPerson | None:
    """Estimate the mean number of trips, or return None if nobody was asked. `without` is the share of people without a
    trip with its standard error, as the answers to the other questions tell it: then the result agrees with it.
    """
    estimate = estimates.get("trips")
    if estimate is None or estimate.users == 0:
        return None
    numbers = np.array([*map(float, CLASSES[:-2]), MIDDLE, OPEN])
    value, total = float(numbers @ estimate.frequencies), float(estimate.frequencies.sum())
    error = _error(estimate, numbers)
    if without is None:
        return TripsPerPerson(value, error, 1 - total)
    # The classes add up to the share of people with a trip. Both are known with an error, and the difference is
    # divided between them by their variances, as in a Kalman filter. The error of the result stays as it was, which is
    # rather too large.
    share, share_error = without
    variance = float((estimate.std_errors**2).mean())
    part = variance / (len(numbers) * variance + share_error**2)
    apart = (1 - share) - total
    none = min(max(1 - total - part * len(numbers) * apart, 0.0), 1.0)
    value = max(value + part * apart * float(numbers.sum()), 1 - none)
    return TripsPerPerson(value, error, none, max(1 - none - WIDE * share_error, 0.0))


def _error(estimate: Estimate, numbers: Floats) -> float:
    """Return the standard error, from the noise of the reports and the random choice of people."""
    assert isinstance(estimate.question, Trips)
    outputs = len(numbers) + 1
    spread = float((numbers**2).sum() - numbers.sum() ** 2 / outputs) * outputs / (outputs - 1)
    noise = float((estimate.std_errors**2).mean()) * spread
    shares = np.clip(estimate.frequencies, 0, 1)
    sampled = max(float(numbers**2 @ shares) - float(numbers @ shares) ** 2, 0.0) / estimate.users
    return math.sqrt(noise + sampled)
