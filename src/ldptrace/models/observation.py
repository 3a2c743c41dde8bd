"""What the curator saw of each question, how a fitted model matches it, and the share of devices without a trip."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.estimates import Estimate, Estimates, choice_variance
from ldptrace.errors import FitWarning, InputError

# False-alarm probability of the warning that a fit is poor.
ALARM = 1e-6


# The part of its variance that an answer keeps at least where a fit follows it closely.
LEAST = 0.1
# How often the noise of the answers is drawn again to know how sure a model is: a standard error to a seventh.
REPLICATES = 24


@dataclass(frozen=True, eq=False)
class Observation:
    """One question's answers, per user: unbiased frequencies with their variances.

    The variances are those of the noise and of the choice of the users asked; the latter are `choice`. `most` is the
    most items a user names. `total` is the mean number of items named with its variance, where the empty places were
    counted too. A fit follows answers `closely` nearly as if everybody had been asked.
    """

    name: str
    most: int
    users: int
    frequencies: Floats
    variances: Floats
    total: tuple[float, float] | None = None
    choice: Floats | float = 0.0
    closely: bool = False

    @property
    def fitted(self) -> Floats:
        """The variances that a fit counts with."""
        return (
            np.maximum(self.variances - self.choice, LEAST * self.variances)
            if self.closely
            else self.variances
        )

    @property
    def filled(self) -> tuple[float, float]:
        """The mean number of items named with its variance, by all that is known of it."""
        value, variance = float(self.frequencies.sum()), float(self.variances.sum())
        return value, variance if self.total is None else 1 / (1 / variance + 1 / self.total[1])

    @staticmethod
    def of(estimate: Estimate) -> Observation:
        question, shares = estimate.question, np.clip(estimate.frequencies, 0, 1)
        choice = choice_variance(shares, estimate.users)
        variances = estimate.std_errors**2 + choice
        total = None
        if estimate.nulls is not None and estimate.nulls_error is not None:
            # Items and empty places add up to a constant, so items are not independent: their sum is known better than
            # one by one. As if they were, and the sum had been seen once more.
            apart, known = float(variances.sum()), estimate.nulls_error**2
            if known < apart:
                total = (question.capacity - estimate.nulls, known / (1 - known / apart))
        return Observation(
            question.name, question.capacity, estimate.users, estimate.frequencies, variances, total, choice
        )


@dataclass(frozen=True)
class Match:
    """How well a model matches one question: misfits in units of the answers' standard errors."""

    question: str
    users: int
    answers: int
    # Mean of the squared misfits: near 1 when all misfit is noise, below when the model follows some noise.
    chi2: float
    largest: float

    @staticmethod
    def of(seen: Observation, expected: Floats) -> Match:
        misfit = (seen.frequencies - expected) / np.sqrt(seen.variances)
        return Match(
            seen.name, seen.users, len(misfit), float((misfit**2).mean()), float(np.abs(misfit).max())
        )


def refuse_unused(estimates: Estimates, used: Collection[str], model: str) -> None:
    """Raise an error for a question that the model would ignore: each is used, or omitted by name."""
    for name in estimates:
        if name not in used:
            raise InputError(
                f"the {model} model does not use the question {name!r}, only {', '.join(used)}; "
                f"omit it with estimates.without({name!r})"
            )


def overall(matches: Sequence[Match]) -> float:
    """Return the mean squared misfit of all answers together.

    >>> overall([Match("start", 900, 30, 1.0, 2.0), Match("turns", 100, 10, 3.0, 2.5)])
    1.5
    """
    return sum(match.chi2 * match.answers for match in matches) / sum(match.answers for match in matches)


def noise_reaches(answers: int, alarm: float = ALARM) -> float:
    """Return the mean squared misfit of this many answers that noise alone exceeds once in 1 / `alarm` collections.

    >>> round(noise_reaches(36), 2), round(noise_reaches(3600), 2)
    (3.01, 1.13)
    """
    # Laurent and Massart's bound of the tail of chi2.
    return 1 + math.sqrt(-4 * math.log(alarm) / answers) - 2 * math.log(alarm) / answers


def beyond_noise(matches: Sequence[Match], alarm: float = ALARM) -> bool:
    """Return whether answers are missed by more than noise explains; one in 1 / `alarm` is a false alarm."""
    answers = sum(match.answers for match in matches)
    return answers > 0 and overall(matches) > noise_reaches(answers, alarm)


def clearly_missed(matches: Sequence[Match], alarm: float = ALARM) -> bool:
    """Return whether noise does not explain what is missed of all answers together, or of those to one question.

    Many answers that say little would hide one question that speaks clearly.
    """
    return beyond_noise(matches, alarm) or any(beyond_noise([match], alarm) for match in matches)


def warn_of_misfit(matches: Sequence[Match], model: str) -> bool:
    """Warn when a model differs from the answers by more than noise explains. Returns whether it warned."""
    if not beyond_noise(matches):
        return False
    worst = max(matches, key=lambda match: match.chi2)
    warnings.warn(
        f"the {model} model differs from the answers by more than noise explains "
        f"(chi2 {overall(matches):.2f} per answer, worst {worst.question!r} with {worst.chi2:.2f})",
        FitWarning,
        stacklevel=3,
    )
    return True


def beside_map(matches: Sequence[Match], alone: Sequence[Match]) -> str:
    """Compare in a sentence what the map alone gives with what the reports give.

    >>> beside_map([Match("start", 9000, 36, 0.97, 2.4)], [Match("start", 9000, 36, 8.4, 11.0)])
    'The map alone, without any report, misses the answers with chi2 8.40 per answer; with the reports it is 0.97.'
    """
    said = f"The map alone, without any report, misses the answers with chi2 {overall(alone):.2f} per answer"
    if not clearly_missed(alone):
        worst = max(alone, key=lambda match: match.chi2)
        return (
            f"The answers do not show that the reports add anything to the map. {said}, and those to the worst "
            f"question ({worst.question}) with {worst.chi2:.2f}. Noise alone reaches "
            f"{noise_reaches(worst.answers):.2f} with the {worst.answers:,} answers of that question."
        )
    return f"{said}; with the reports it is {overall(matches):.2f}."


def match_table(matches: Sequence[Match], alone: Sequence[Match] = ()) -> list[str]:
    """Write lines that say, question by question, how the model matches the answers, and how the map alone does."""
    lines = [
        "How the model matches the noisy answers (noise alone gives a chi2 of about 1, and stays below the last column)"
    ]
    lines += [f"  {'question':<10}{'users':>10}{'answers':>9}{'chi2':>7}{'largest':>9}"]
    lines += [
        f"  {match.question:<10}{match.users:>10,}{match.answers:>9}{match.chi2:>7.2f}{match.largest:>7.1f} se"
        for match in matches
    ]
    if alone:
        lines[1] += f"{'map alone':>12}{'largest':>9}"
        lines[2:] = [
            f"{line}{match.chi2:>12.2f}{match.largest:>6.1f} se"
            for line, match in zip(lines[2:], alone, strict=True)
        ]
    lines[1] += f"{'noise':>8}"
    lines[2:] = [
        f"{line}{noise_reaches(match.answers):>8.2f}" for line, match in zip(lines[2:], matches, strict=True)
    ]
    return lines


# Standard errors from which on noise does not explain a share.
CLEAR = 3.0
# A share with a standard error beyond this is not known.
VAGUE = 0.5
# Questions that every trip answers with exactly one item.
SINGLE = ("length", "start", "end", "cut-end")


@dataclass(frozen=True)
class Share:
    """The estimated share of devices without a trip, `value`, by chance below 0 or above 1, with its standard error.

    >>> print(Share(0.204, 0.012))
    20.4 % (standard error 1.2 %) of the devices had no trip
    >>> Share(0.204, 0.012).trips(100_000), Share(0.004, 0.012).trips(100_000)
    (79600, 100000)

    `by_model` is what the model would take it for, where that is another one: the model misses some answers.
    """

    value: float
    std_error: float
    by_model: float | None = None

    @property
    def known(self) -> bool:
        """Whether the answers say anything about it."""
        return self.std_error < VAGUE

    @property
    def clear(self) -> bool:
        """Whether there are devices without a trip beyond what noise explains."""
        return self.value > CLEAR * self.std_error

    def trips(self, devices: int) -> int:
        """Return the estimated number of devices with a trip: all of them, unless the share is clear."""
        return round(devices * (1 - min(self.value, 1.0))) if self.clear else devices

    def __str__(self) -> str:
        said = f"{min(max(self.value, 0), 1):.1%} (standard error {self.std_error:.1%}) of the devices had no trip"
        return (said if self.clear else f"{said}, which noise explains").replace("%", " %")

    @property
    def lines(self) -> list[str]:
        """The share in a sentence, and what the model has to do with it, where it misses some answers."""
        if self.by_model is None:
            return [f"{self}."]
        mistaken = f"{min(max(self.by_model, 0), 1):.1%}".replace("%", " %")
        return [
            f"{self}.",
            f"The model does not explain all answers, and would take what it misses for {mistaken} without a trip. The "
            "share above is that of the questions that every trip answers once, which need no model.",
        ]

    def document(self) -> dict[str, float]:
        """Return plain data for files and promises."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def restored(data: Mapping[str, Any] | None) -> Share | None:
        """Read a share from the plain data of a file, and check it; None stays None."""
        if data is None:
            return None
        by_model = data.get("by_model")
        share = Share(
            float(data["value"]), float(data["std_error"]), None if by_model is None else float(by_model)
        )
        if not (math.isfinite(share.value) and 0 < share.std_error < VAGUE):
            raise ValueError(
                f"a share of devices is a number and has an error below {VAGUE}, got {dict(data)}"
            )
        return share


def first_guess(observations: Sequence[Observation]) -> Share:
    """Estimate the share from the questions that every trip answers with exactly one item: one less the mean total."""
    totals = [seen.filled for seen in observations if seen.name in SINGLE and seen.most == 1]
    if not totals:
        return Share(0.0, math.inf)
    precision = sum(1 / variance for _, variance in totals)
    mean = sum(value / variance for value, variance in totals) / precision
    return Share(1 - mean, math.sqrt(1 / precision))
