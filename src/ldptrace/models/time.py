"""When trips leave and how long they take: learned beside where they go, and given to every synthetic trip."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from datetime import date
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import running, steps_to
from ldptrace.core.times import DAY, to_utc, zone
from ldptrace.core.timing import Timing, slow_at_ends, times_along
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.errors import FormatError
from ldptrace.models.observation import Match, Observation, match_table
from ldptrace.models.ordinal import Answers, Bend, OrdinalFit, circle, fit_ordinal, line
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.questions import TIME_QUESTIONS, Departure, Pace, Question, Tides
from ldptrace.protocol.questions.times import PART_OF_HOUR, PARTS, edge


@dataclass(frozen=True, eq=False)
class TimeDraws:
    """A normal number for the speed of each trip, and two numbers below one for the hour and the minute it begins."""

    speed: Floats
    hour: Floats
    minute: Floats

    @staticmethod
    def drawn(count: int, rng: np.random.Generator) -> TimeDraws:
        return TimeDraws(rng.standard_normal(count), rng.random(count), rng.random(count))

    def part(self, start: int, stop: int) -> TimeDraws:
        """Return the times of some of the trips."""
        return TimeDraws(self.speed[start:stop], self.hour[start:stop], self.minute[start:stop])


HOURS = 24
# Departures per hour of a working day, in per cent, as national travel surveys find them: two rush hours, quiet nights.
_MORNING = (0.4, 0.2, 0.15, 0.2, 0.5, 1.5, 3.7, 7.5, 7.6, 5.2, 5.1, 5.5)
_EVENING = (5.9, 5.8, 6.4, 7.8, 8.7, 8.9, 6.9, 4.8, 3.5, 2.6, 1.8, 1.0)
DAY_PROFILE: Floats = np.array(_MORNING + _EVENING) / sum(_MORNING + _EVENING)
# Door to door, over all ways to travel: the middle speed in metres per hour, and its spread as a logarithm.
SPEED, SPEED_SPREAD = 20_000.0, 0.6
# Long trips are faster, and so are trips on fast streets: correlations of the ranks of length or free speed and speed.
LONGER_IS_FASTER = 0.5
FAST_STREETS = 0.8
# No trip is faster than this many times the speed that its streets allow when they are empty.
HASTE = 1.25
# Days of a week differ from each other by this part of what hours may differ from the profile.
DAYS_DIFFER = 0.2
# How far, as a logarithm, shares of directions and of parts of the day may be from what the models say.
MARGINS = 0.2
# Trips that say which way and how far a model's trips go.
PILOT = 20_000
QUANTILES = 201
# Standard errors beyond which a part of empty answers is not explained by noise.
NULLS = 3.0


@dataclass(frozen=True)
class Calendar:
    """The day of synthetic trips, and the zone whose clocks they go by (None: UTC)."""

    date: date
    timezone: str | None = None

    def __post_init__(self) -> None:
        if self.timezone is not None:
            zone(self.timezone)

    @property
    def words(self) -> str:
        """The time zone in words, stored with the data in every format."""
        where = (
            f"are local times of {self.timezone}"
            if self.timezone
            else "show the hours of trips as those of UTC"
        )
        return f"Dates {where}; as numbers, times are seconds since 1970 UTC."

    def midnights(self, weekdays: Floats | None, count: int) -> Floats:
        """Return the local midnight of each trip, in seconds since 1970: of the date, or of its weekday from that
        date on.

        >>> (Calendar(date(1970, 1, 5)).midnights(np.array([0.0, 6.0]), 2) / 86_400).tolist()  # a Monday
        [4.0, 10.0]
        """
        first = (self.date - date(1970, 1, 1)).days
        later = np.zeros(count) if weekdays is None else (weekdays - self.date.weekday()) % 7
        return DAY * (first + later)


@dataclass(frozen=True, eq=False)
class TimeModel:
    """Departures given the direction of a trip, and speeds given its length.

    `hours[k]` is the distribution over the hours (of a day, or of a week from Monday) of trips that end nearer to the
    `centre` than they began (k = 0), farther from it (1) or neither (2). `speeds` is that of the classes of `pace`,
    `lengths` are quantiles of the lengths of the model's trips, in metres; `free` those of their speeds on free
    streets, in metres per hour, where the trips follow streets whose speeds are known.
    """

    hours: Floats
    speeds: Floats
    lengths: Floats
    centre: int
    pace: Pace
    free: Floats | None = None
    words: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    # Ratios of the chances of the hours in each replicate of the noise, where they are known.
    draws: Floats | None = None

    @staticmethod
    def fit(estimates: Estimates, trips: Trajectories, grid: Grid) -> TimeModel:
        """Fit to the answers about time; `trips` are some that a model of space draws, on streets with free times."""
        answered = {name: estimates[name] for name in TIME_QUESTIONS if name in estimates}
        tides = answered["tides"].question if "tides" in answered else None
        centre = tides.centre if isinstance(tides, Tides) else grid.n // 2 * (grid.n + 1)
        directions: Floats = np.bincount(_directions(trips, grid, centre), minlength=3).astype(np.float64) + 1
        day, seen_day = _departures(answered.get("departure"))
        table, seen_tides = _tides(answered.get("tides"), day.probabilities, directions / directions.sum())
        pace, speeds, seen_pace = _speeds(answered.get("pace"))
        lengths = Timing.of(trips).ways(pace.x_scale / 1000, pace.y_scale / 1000)
        free = (
            None if trips.t is None else _free_speeds(lengths, _passed(trips, np.diff(trips.t, prepend=0.0)))
        )
        even = np.linspace(0, 1, QUANTILES)
        words = (
            f"departures: the public profile {day.bend.words} (weight {day.weight:.2f})",
            f"speeds: the public bell {speeds.bend.words} (weight {speeds.weight:.2f})",
            f"tides: {table.bend.words} (weight {table.weight:.2f})",
        )
        return TimeModel(
            hours=_by_direction(day.probabilities, table.probabilities.reshape(len(PARTS), 3), directions),
            speeds=speeds.probabilities,
            lengths=np.quantile(lengths, even),
            centre=centre,
            pace=pace,
            free=None if free is None else np.quantile(free, even),
            words=words,
            matches=tuple(match for match in (seen_day, seen_pace, seen_tides) if match is not None),
            draws=day.ratios,
        )

    def timed(
        self,
        trips: Trajectories,
        grid: Grid,
        when: TimeDraws,
        *,
        seconds: Floats | None = None,
        calendar: Calendar | None = None,
    ) -> Trajectories:
        """Add times to trips: seconds of the local day, or dates where a calendar says which.

        Time passes by distance, more of it near both ends, or in proportion to the `seconds` of the step to each point:
        they are scaled to the speed that was drawn for the trip. Times increase strictly.
        """
        if len(trips) == 0:
            return replace(trips, t=np.empty(0))
        scale = self.pace.x_scale / 1000, self.pace.y_scale / 1000
        lengths = Timing.of(trips).ways(*scale)
        free = None
        if seconds is not None and self.free is not None:
            free = _free_speeds(lengths, _passed(trips, seconds), float(np.median(self.free)))
        taken = 3600 * lengths / self._speed_of(lengths, free, when.speed)
        day, hour = np.divmod(self.hour_of(trips, grid, when.hour), HOURS)
        departure = 3600 * (hour + when.minute)
        steps = slow_at_ends(trips.offsets, steps_to(trips, scale)) if seconds is None else seconds
        if calendar is None:
            return replace(trips, t=times_along(trips.offsets, steps, departure, taken))
        midnight = calendar.midnights(day if self.hours.shape[1] > HOURS else None, len(trips))
        # Only departures go by the clock: a trip during a change of clocks does not take longer.
        departure = to_utc(midnight + departure, calendar.timezone)
        t = times_along(trips.offsets, steps, departure, taken)
        return replace(trips, t=t, timezone=calendar.timezone)

    def hour_of(self, trips: Trajectories, grid: Grid, chance: Floats) -> Ints:
        """Return the hour in which each trip leaves, of the week where days were asked for."""
        direction = _directions(trips, grid, self.centre)
        sums = np.cumsum(self.hours, axis=1)
        drawn = chance * sums[direction, -1]
        hour = np.empty(len(trips), dtype=np.int64)
        for k in range(3):
            here = direction == k
            hour[here] = np.searchsorted(sums[k], drawn[here], side="right")
        return np.minimum(hour, self.hours.shape[1] - 1)

    def _speed_of(self, lengths: Floats, free: Floats | None, chance: Floats) -> Floats:
        """Return a speed in metres per hour for trips of these lengths and, where known, of these speeds on free
        streets; over
        all trips, speeds are as estimated, except where streets do not allow them."""
        if free is None or self.free is None:
            return self._drawn_speeds(lengths, self.lengths, LONGER_IS_FASTER, chance)
        # Where people are faster than the map has it, the map is too slow: then it says only what is fast beside what.
        too_slow = max(1.0, self.middle / float(np.median(self.free)))
        drawn = self._drawn_speeds(free, self.free, FAST_STREETS, chance)
        return np.minimum(drawn, HASTE * too_slow * free)

    def _drawn_speeds(self, of: Floats, quantiles: Floats, tie: float, chance: Floats) -> Floats:
        """Return speeds whose ranks have the correlation `tie` with those of another measure, whose quantiles are
        given."""
        from scipy.special import ndtr, ndtri

        places, first = np.unique(quantiles, return_index=True)
        far = ndtri(np.clip(np.interp(of, places, np.linspace(0, 1, QUANTILES)[first]), 1e-3, 1 - 1e-3))
        drawn = ndtr(tie * far + math.sqrt(1 - tie**2) * chance)
        sums = np.concatenate([[0.0], np.cumsum(self.speeds)])
        return np.exp(np.interp(drawn * sums[-1], sums, np.log(_edges(self.pace))))

    @property
    def middle(self) -> float:
        """The speed that half of the trips exceed, in metres per hour."""
        return math.exp(float(np.interp(0.5, np.cumsum(self.speeds), np.log(_edges(self.pace)[1:]))))

    def explain(self) -> str:
        """Say what was learned about time, and how well it matches the answers."""
        day = self.hours.mean(axis=0).reshape(-1, HOURS).sum(axis=0)
        busiest = np.argsort(-day)[:3]
        lines = (
            match_table(self.matches) if self.matches else ["Nobody was asked about time: public profiles"]
        )
        lines += [f"  {text}" for text in self.words]
        lines.append(
            f"  busiest hours {', '.join(map(str, sorted(busiest)))}; middle speed {self.middle / 1000:.0f} km/h"
        )
        return "\n".join(lines)

    # -- the file --------------------------------------------------------------------------------------

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays of the saved model."""
        pace = self.pace
        header = {
            "centre": self.centre,
            "pace": [pace.n, pace.x_scale, pace.y_scale, pace.slowest, pace.classes, 0],
            "words": list(self.words),
            "matches": [astuple(match) for match in self.matches],
        }
        arrays = {"hours": self.hours, "speeds": self.speeds, "lengths": self.lengths}
        known = {"free": self.free, "draws": self.draws}
        return header, arrays | {name: part for name, part in known.items() if part is not None}

    @staticmethod
    def restored(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TimeModel:
        """Return the model with these contents, checked."""
        hours, speeds, lengths = (
            np.asarray(arrays[name], dtype=np.float64) for name in ("hours", "speeds", "lengths")
        )
        pace = Pace(*header["pace"])
        free, draws = (
            np.asarray(arrays[name], dtype=np.float64) if name in arrays else None
            for name in ("free", "draws")
        )
        sound = (
            hours.ndim == 2
            and len(hours) == 3
            and hours.shape[1] in (HOURS, 7 * HOURS)
            and speeds.shape == (pace.classes,)
            and lengths.shape == (QUANTILES,)
            and (free is None or (free.shape == (QUANTILES,) and bool((np.diff(free, prepend=0) >= 0).all())))
            and (draws is None or (draws.ndim == 2 and draws.shape[1] == hours.shape[1]))
            and all(np.isfinite(part).all() and (part >= 0).all() for part in (hours, speeds, lengths))
            and bool((hours.sum(axis=1) > 0).all() and speeds.sum() > 0 and (np.diff(lengths) >= 0).all())
        )
        if not sound:
            raise FormatError("the arrays of the time model are broken or do not fit each other")
        matches = tuple(Match(*match) for match in header["matches"])
        words = tuple(header["words"])
        return TimeModel(hours, speeds, lengths, int(header["centre"]), pace, free, words, matches, draws)


def _seen(estimate: Estimate, response: Floats | None = None) -> Answers:
    """Return the answers of those who have one. Where more are empty than noise explains, the rest stands for all."""
    given, most = 1.0, estimate.question.capacity
    if estimate.nulls is not None and not isinstance(estimate.question, Tides):
        error = most * float(estimate.std_errors.max())
        given = 1.0 - estimate.nulls / most if NULLS * error < estimate.nulls < 0.95 * most else 1.0
    return Answers(estimate.frequencies / given, (estimate.std_errors / given) ** 2, response)


def _departures(estimate: Estimate | None) -> tuple[OrdinalFit, Match | None]:
    days = estimate.question.days if estimate is not None and isinstance(estimate.question, Departure) else 1
    bends = circle(HOURS, np.log(DAY_PROFILE))
    if days > 1:
        alike: Floats = np.full((days, days), 1 - DAYS_DIFFER) + DAYS_DIFFER * np.eye(days)
        bends = [
            replace(bend, covariance=np.asarray(np.kron(alike, bend.covariance), dtype=np.float64))
            for bend in bends
        ]
    return _matched(estimate, np.tile(DAY_PROFILE, days) / days, bends)


def _speeds(estimate: Estimate | None) -> tuple[Pace, OrdinalFit, Match | None]:
    from scipy.special import ndtr

    question = None if estimate is None else estimate.question
    pace = question if isinstance(question, Pace) else Pace(2, 1000, 1000, 2000, 26, 0)
    edges = np.log(_edges(pace) / SPEED) / SPEED_SPREAD
    profile = np.maximum(np.diff(ndtr(edges)), 1e-6)
    places = (edges[1:] + edges[:-1]) / 2 * SPEED_SPREAD
    fitted, match = _matched(estimate, profile, line(places))
    return pace, fitted, match


def _tides(estimate: Estimate | None, hours: Floats, directions: Floats) -> tuple[OrdinalFit, Match | None]:
    """Return the parts of the day by direction, independent of each other unless the answers say otherwise."""
    day = hours.reshape(-1, HOURS).sum(axis=0)
    parts = np.bincount(PART_OF_HOUR, weights=day, minlength=len(PARTS))
    profile = np.outer(parts, directions).ravel()
    response = np.kron(np.eye(len(PARTS)), np.eye(2, 3)).astype(np.float64)
    # Of each part of the day: more towards the centre, as much less away from it.
    each = np.kron(np.eye(len(PARTS)), [[1, -1, 0]])
    # Towards the centre in the morning, away from it in the evening.
    tide = each[1] - each[3]
    # Directions and parts of the day on their own, which are known better from elsewhere.
    margins = np.concatenate(
        [np.kron(np.ones(len(PARTS)), np.eye(3)[:2]), np.kron(np.eye(len(PARTS)), np.ones(3))]
    )
    bends = []
    for common, own in product((0.02, 0.15, 0.4), (0.01, 0.15)):
        covariance = common**2 * np.outer(tide, tide) + own**2 * each.T @ each
        covariance += MARGINS**2 * margins.T @ margins
        words = f"a common tide of {common:g}, parts of the day of their own by {own:g}"
        bends.append(Bend(covariance, words, -(common + own)))
    return _matched(estimate, profile, bends, response)


def _nearby(question: Question) -> Floats | None:
    """Return which items each class of an ordered domain has in its answer."""
    reach = getattr(question, "reach", 0)
    items = np.arange(question.domain)
    apart = (np.subtract.outer(items, items) + reach) % question.domain
    return (apart <= 2 * reach).astype(np.float64) if reach else None


def _matched(
    estimate: Estimate | None, profile: Floats, bends: list[Bend], response: Floats | None = None
) -> tuple[OrdinalFit, Match | None]:
    if estimate is None or estimate.users == 0:
        return fit_ordinal(profile, [], bends), None
    seen = _seen(estimate, _nearby(estimate.question) if response is None else response)
    fitted = fit_ordinal(profile, [seen], bends)
    observed = replace(Observation.of(estimate), frequencies=seen.frequencies, variances=seen.variances)
    return fitted, Match.of(observed, seen.expected(fitted.probabilities))


def _by_direction(hours: Floats, table: Floats, directions: Floats) -> Floats:
    """Return the hours of each direction such that the totals of all hours, and of all directions, do not change."""
    parts = np.tile(np.array(PART_OF_HOUR), len(hours) // HOURS)
    joint: Floats = (table / table.sum(axis=1, keepdims=True))[parts].T * hours
    share = directions / directions.sum()
    for _ in range(100):
        joint *= (share / joint.sum(axis=1))[:, None]
        joint *= hours / joint.sum(axis=0)
    result: Floats = joint / joint.sum(axis=1, keepdims=True)
    return result


def _directions(trips: Trajectories, grid: Grid, centre: int) -> Ints:
    """Return 0 for trips that end nearer to the centre than they began, 1 for farther, 2 for neither."""
    here = np.flatnonzero(trips.sizes > 0)
    ends = np.stack([trips.offsets[:-1][here], trips.offsets[1:][here] - 1])
    cells = [
        CellPaths.from_trajectories(
            Trajectories(trips.x[at], trips.y[at], np.arange(len(at) + 1)), grid
        ).cells.astype(np.int64)
        for at in ends
    ]
    before, after = (
        (cell // grid.n - centre // grid.n) ** 2 + (cell % grid.n - centre % grid.n) ** 2 for cell in cells
    )
    directions = np.full(len(trips), 2)
    directions[here] = np.where(after < before, 0, np.where(after > before, 1, 2))
    return directions


def _edges(pace: Pace) -> Floats:
    """Return the limits of the speed classes in metres per hour; the lowest and highest class get finite limits."""
    inner = [edge(number, pace.slowest) for number in range(pace.classes - 1)]
    return np.array([inner[0] / 2, *inner, inner[-1] * 2**0.25])


def _passed(trips: Trajectories, steps: Floats) -> Floats:
    """Add up the steps of each trip; the first is none."""
    passed, here = np.zeros(len(trips)), trips.sizes > 0
    passed[here] = running(steps, trips.offsets)[trips.offsets[1:][here] - 1]
    return passed


def _free_speeds(lengths: Floats, seconds: Floats, usual: float | None = None) -> Floats:
    """Return metres per hour; trips that go nowhere have the usual one, or where that is unknown the middle one of
    all."""
    going = (lengths > 0) & (seconds > 0)
    speeds = 3600 * lengths / np.where(going, seconds, 1.0)
    if usual is None:
        usual = float(np.median(speeds[going])) if going.any() else SPEED
    return np.where(going, speeds, usual)
