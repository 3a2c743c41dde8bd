"""Trips that do not follow streets: a path model, fitted to the same answers, describes them and their share.

There are two kinds of such trips. Trips `elsewhere` pass cells without streets, so no route can describe them. Of the
other trips, a share leaves the streets although there are streets, if the answers show it clearly
(`share_off_streets`).

For these other trips, both models predict the same answers. The share of the path model is the one with the smallest
expected squared error of the answers (Mallows' criterion): a richer model fits better by chance alone, so twice its
number of parameters is subtracted. Trips stay on streets unless the answers clearly contradict this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ldptrace.core.area import Area
from ldptrace.core.arrays import Flags, Floats
from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.models.fit import judged
from ldptrace.models.observation import Match, Observation, clearly_missed
from ldptrace.models.pairs import districts_in
from ldptrace.models.path.model import PathFit, PathModel, fit_paths
from ldptrace.models.prior import Prior
from ldptrace.models.routes.answers import PathTables
from ldptrace.models.routes.fitted import Fitted
from ldptrace.protocol.plan import Plan

# Standard errors by which the answers must name cells without streets before trips are believed to pass them.
CLEAR = 4.0
# By how much more of the answers streets must miss than paths do before trips leave them.
MATERIAL = 0.1
# Paths that say what trips elsewhere answer.
PATHS = 100_000
# The largest share of trips elsewhere: the others still have answers.
MOST = 0.99
# Paths that are drawn at a time, at least, where only some of them are wanted.
_FEW = 1000


@dataclass(frozen=True, eq=False)
class Split:
    """Answers in two parts: from trips `elsewhere` (a share of all trips), and from all other trips.

    `gone` are the answers from trips elsewhere, per asked device.
    """

    observations: list[Observation]
    elsewhere: float = 0.0
    gone: Mapping[str, Floats] = field(default_factory=dict)

    def inside(self, name: str, answers: Floats) -> Floats:
        """Return the answers of all trips except trips elsewhere, per device with another trip."""
        return answers if self.elsewhere == 0 else (answers - self.gone[name]) / (1 - self.elsewhere)

    @property
    def others(self) -> list[Observation]:
        """The observations of all trips except trips elsewhere."""
        if self.elsewhere == 0:
            return self.observations
        rest, parts = 1 - self.elsewhere, []
        for seen in self.observations:
            total = seen.total
            if total is not None:
                total = ((total[0] - float(self.gone[seen.name].sum())) / rest, total[1] / rest**2)
            frequencies = self.inside(seen.name, seen.frequencies)
            parts.append(
                replace(seen, frequencies=frequencies, variances=seen.variances / rest**2, total=total)
            )
        return parts

    def whole(self, others: Sequence[Observation]) -> list[Observation]:
        """Return the observations of all trips to the questions of `others`, with the errors of those."""
        rest, parts, asked = 1 - self.elsewhere, [], {seen.name: seen for seen in self.observations}
        for other in others:
            seen = asked[other.name]
            total = seen.total
            if total is not None and other.total is not None:
                total = (total[0], rest**2 * other.total[1])
            parts.append(replace(seen, variances=rest**2 * other.variances, total=total))
        return parts


@dataclass(frozen=True, eq=False)
class FreePaths:
    """A path model of all answers. `fitted` is called when the fit is first needed: mostly streets explain the answers,
    and it is not."""

    plan: Plan
    observations: Sequence[Observation]
    area: Area | None
    fitted: Callable[[], tuple[PathFit, Prior]]

    @staticmethod
    def of(estimates: Estimates, observations: Sequence[Observation], area: Area | None = None) -> FreePaths:
        used = [seen for seen in observations if seen.name in PathModel.questions]
        return FreePaths(estimates.plan, used, area, lambda: fit_paths(estimates, used, area))

    @cached_property
    def _found(self) -> tuple[PathFit, Prior]:
        return self.fitted()

    @property
    def fit(self) -> PathFit:
        return self._found[0]

    @cached_property
    def model(self) -> PathModel:
        return replace(PathModel.of_fit(self.fit, self.observations, self.plan), area=self.area)

    def split(self, bare: Flags, observations: list[Observation], rng: np.random.Generator) -> Split:
        """Separate the answers of trips that pass `bare` cells, which have no streets.

        Unless the answers clearly show such trips, there are none.
        """
        if not any(_named(seen, bare) for seen in observations):
            return Split(observations)
        paths = self.model.sample_paths(PATHS, rng)
        there = passes(paths, bare)
        share = min(float(there.mean()), MOST)
        if share < SMALLEST:
            return Split(observations)
        tables = PathTables(paths.take(there), len(self.model.length), districts_in(observations))
        part = self.fit.with_trip * share
        gone = {
            seen.name: part * np.asarray(tables.answers(seen.name, seen.most).mean(axis=0)).ravel()
            for seen in observations
        }
        return Split(observations, share, gone)

    def share(self, fitted: Fitted, alone: Sequence[Match], split: Split) -> float:
        """Return the share of trips off the streets, among trips where there are streets; mostly 0.

        Few reports cannot show that a map is wrong: if noise explains the misfit of the streets, all trips stay on
        streets. With many reports, every model has a misfit: trips leave the streets only if the path model has a much
        smaller one.
        """
        # That a library is a sample is no evidence against streets. Both models are compared by the same answers.
        allowed = fitted.fit.model.allowed_for(split.others, fitted.fit.with_trip)
        allowed = [seen for seen in allowed if seen.name in PathModel.questions]
        if not (clearly_missed(alone) and clearly_missed(fitted.matches(allowed))):
            return 0.0
        paths = {name: split.inside(name, answers) for name, answers in self.fit.expected.items()}
        if missed(allowed, fitted.fit.expected) - missed(allowed, paths) < MATERIAL:
            return 0.0
        streets = judged(fitted.fit, fitted.prior, allowed)
        return share_off_streets(*streets, *judged(*self._found, split.whole(allowed)))


def missed(observations: Sequence[Observation], expected: Mapping[str, Floats]) -> float:
    """Return the share of the answers that a model does not explain, beyond noise: the mean over all questions whose
    answers are larger than noise.

    0 means that the model explains everything; 1 is the value of a model that predicts no answers at all.
    """
    parts = []
    for seen in observations:
        noise = float(seen.variances.sum())
        signal = float(seen.frequencies @ seen.frequencies) - noise
        if signal > noise:
            beyond = float(((seen.frequencies - expected[seen.name]) ** 2).sum()) - noise
            parts.append(math.sqrt(max(beyond, 0.0) / signal))
    return float(np.mean(parts)) if parts else 0.0


def passes(paths: CellPaths, bare: Flags) -> Flags:
    """Return which paths pass one of these cells."""
    return np.logical_or.reduceat(bare[paths.cells], paths.offsets[:-1])


def drawn(model: PathModel, count: int, rng: np.random.Generator, bare: Flags, there: bool) -> CellPaths:
    """Draw paths until there are enough that pass one of these cells, or enough that pass none."""
    parts, missing, kept, tried = [model.sample_paths(0, rng)], count, 0, 0
    while missing > 0:
        share = (kept + 1) / (tried + 2)
        some = model.sample_paths(max(math.ceil(1.1 * missing / share), _FEW), rng)
        good = np.flatnonzero(passes(some, bare) == there)
        tried, kept = tried + len(some), kept + len(good)
        parts.append(some.take(good[:missing]))
        missing -= len(parts[-1])
    return CellPaths.concat(parts)


def _named(seen: Observation, bare: Flags) -> bool:
    """Return whether answers about cells name these cells more often than noise explains."""
    if seen.name not in ("visits", "terminals") or not bare.any():
        return False
    return float(seen.frequencies[bare].sum()) > CLEAR * math.sqrt(float(seen.variances[bare].sum()))


# By how much the criterion must fall: twice the logarithm of the odds against streets alone.
LEAST_GAIN = 10.0
# A smaller part is not worth a second kind of trip.
SMALLEST = 0.01


def share_off_streets(streets: Floats, street_freedom: float, paths: Floats, path_freedom: float) -> float:
    """Return the best share of the path model, given the misfits in standard errors and the numbers of parameters of
    both models.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal(500)
    >>> share_off_streets(noise, 20, noise + 0.1, 100), share_off_streets(noise + 3, 20, noise, 100)
    (0.0, 0.97)
    """
    apart = streets - paths
    square = float(apart @ apart)
    if square == 0:
        return 0.0
    share = min(max((float(streets @ apart) - (path_freedom - street_freedom)) / square, 0.0), 1.0)
    gain = 2 * share * (float(streets @ apart) - (path_freedom - street_freedom)) - share**2 * square
    return round(share, 2) if gain > LEAST_GAIN and share >= SMALLEST else 0.0
