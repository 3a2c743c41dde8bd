"""The newest model of a collection that goes on: it takes the counts of one time step after the other, and gives the
model, the changes of demand, and synthetic travellers with their positions at each tick."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.core.area import Area
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.memory import Change, Memory, Remember
from ldptrace.curator.tally import Tally
from ldptrace.models.base import MobilityModel
from ldptrace.models.fit import Fit
from ldptrace.models.observation import Match, Observation, Share, first_guess
from ldptrace.models.path.model import PathFit, PathModel, fit_paths, observed
from ldptrace.models.prior import Prior
from ldptrace.models.routes.fitted import Cut, Fitted, coverage_of, within
from ldptrace.models.routes.free import FreePaths, Split
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.routes.search import searched
from ldptrace.models.space_time import TimedModel
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import TIME_QUESTIONS, Trips
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

# Routes of a library, and the effective numbers of reports at which it is searched for anew.
ROUTES = 100_000
SEARCHES = (20_000.0, 200_000.0)


class PathRefit:
    """The path model of places and moves (without times), which is fitted again after every step."""

    # The last fit.
    latest: PathFit | None = None

    def __init__(self, area: Area | None = None) -> None:
        self.area = area

    def answers_of_trips(self) -> dict[str, Floats]:
        """Return the expected answers of devices with a trip to each question, by the last fit."""
        return _of_trips(self.latest)

    def fit(self, estimates: Estimates, observations: Sequence[Observation]) -> MobilityModel:
        """Fit the model to these answers. Without answers, the model uses public knowledge only."""
        fit, _ = self.fitted(estimates, observations)
        return replace(PathModel.of_fit(fit, observations, estimates.plan), area=self.area)

    def fitted(self, estimates: Estimates, observations: Sequence[Observation]) -> tuple[PathFit, Prior]:
        """Fit the model to these answers, beginning with the last fit, and return the fit and its prior."""
        before = self.latest if self.latest is not None and self.latest.near else None
        self.latest, prior = fit_paths(estimates, observations, self.area, before)
        return self.latest, prior


class RouteRefit:
    """The route model, which is fitted again after every step. Routes are drawn from the public map once, and again
    after the number of reports has grown a lot."""

    # The last fit.
    latest: Fit[Any] | None = None

    def __init__(
        self,
        public: RoadNetwork | Routes,
        plan: Plan,
        rng: np.random.Generator,
        area: Area | None = None,
        streets: StreetOptions | None = None,
    ) -> None:
        self.public = within(public, plan.grid, plan.crs) if isinstance(public, RoadNetwork) else public
        self._rng, self._off_streets, self._options = rng, PathRefit(area), streets or StreetOptions()
        self._coverage = coverage_of(self.public, plan.grid) if isinstance(self.public, RoadNetwork) else None
        self._split = Split([])
        self._fitted: Fitted | None = None
        self._alone: tuple[Match, ...] = ()
        self._cut: tuple[Routes, Cut] | None = None
        self._searched = 0

    def fit(self, estimates: Estimates, observations: Sequence[Observation]) -> MobilityModel:
        known = float(sum(seen.users for seen in observations))
        due = self._searched < len(SEARCHES) and known >= SEARCHES[self._searched]
        free = self._free(estimates, observations)
        self._split = Split(list(observations))
        if free is not None and self._coverage is not None:
            self._split = free.split(self._coverage.bare, list(observations), *self._rng.spawn(1))
        others = self._split.others
        if isinstance(self.public, RoadNetwork) and due:
            self._searched = sum(known >= least for least in SEARCHES)
            library = self._options.library or Library(ROUTES)
            self._fitted, self._alone, _ = searched(
                self.public, library, estimates, others, self._rng, lambda _: None
            )
        elif self._fitted is None or not {seen.name for seen in others} <= set(self._fitted.fit.expected):
            self._first(estimates, others)
        else:
            self._fitted = self._fitted.again(others)
        assert self._fitted is not None
        self.latest = self._fitted.fit
        model = RouteModel.of_fitted(self._fitted, others, estimates.plan, self._alone)
        model = replace(model, coverage=self._coverage)
        return model if free is None else model.leaving(free, self._fitted, self._split)

    def answers_of_trips(self) -> dict[str, Floats]:
        answers = _of_trips(self.latest)
        elsewhere, paths = self._split.elsewhere, self._off_streets.latest
        if elsewhere == 0 or paths is None:
            return answers
        gone = self._split.gone
        return {name: (1 - elsewhere) * some + gone[name] / paths.with_trip for name, some in answers.items()}

    def _free(self, estimates: Estimates, observations: Sequence[Observation]) -> FreePaths | None:
        """Return the path model of trips off the streets, if trips may leave the streets."""
        if not (observations and self._options.may_leave):
            return None
        fit = self._off_streets.fitted(estimates, observations)
        return FreePaths(estimates.plan, observations, self._off_streets.area, lambda: fit)

    def _first(self, estimates: Estimates, observations: list[Observation]) -> None:
        """Fit the model without an earlier fit: to the map alone, or to answers to new questions."""
        routes = self._fitted.routes if self._fitted is not None else self._drawn()
        if self._cut is None or self._cut[0] is not routes:
            self._cut = routes, Cut.of(routes, estimates.plan.grid, self._rng)
        self._fitted = Fitted.of(routes, self._cut[1], estimates, observations)
        self._alone = self._fitted.map_alone(observations)

    def _drawn(self) -> Routes:
        if isinstance(self.public, RoadNetwork):
            return Library(ROUTES).draw(self.public, self._rng)
        return self.public


def _of_trips(fit: Fit[Any] | None) -> dict[str, Floats]:
    return {} if fit is None else {name: each / fit.with_trip for name, each in fit.expected.items()}


# Changes that are kept.
KEPT = 100
# Trips are drawn this many times as often as they are needed where long ones are preferred, and how much at most.
SPARE, RAREST = 2, 0.25
# A step has at least this weight, however few of its devices had a trip.
LEAST = 0.05


class Now:
    """The mobility model of a standing collection at the time of its last step.

    Steps are `step` seconds long. The first `warm_up` steps are incomplete, and no change is reported in them. Before
    the first report, the model uses public knowledge only: the prior, or the map alone. The memory that it needs does
    not grow with the number of steps.
    """

    def __init__(
        self,
        plan: Plan,
        step: float,
        *,
        remember: Remember = "auto",
        public: RoadNetwork | Routes | None = None,
        area: Area | None = None,
        streets: StreetOptions | None = None,
        rng: np.random.Generator | None = None,
        warm_up: int = 0,
    ) -> None:
        self.plan, self.memory = plan, Memory(plan, step, remember, warm_up=warm_up)
        source = rng or np.random.default_rng(0)
        self._refit = PathRefit(area) if public is None else RouteRefit(public, plan, source, area, streets)
        self.changes: list[Change] = []
        # What the devices of the last step said of having a trip.
        self.with_trip = Share(1.0, math.inf)
        self._model: MobilityModel | None = None
        self._time: float | None = None

    def add(self, tally: Tally, time: float) -> tuple[Change, ...]:
        """Add the reports of a step that ended at `time`, and return the changes that are larger than noise."""
        step = Estimates.from_tally(self.plan, tally)
        guess = self._with_trip(step)
        changes = self.memory.add(tally, time, float(np.clip(guess.value, LEAST, 1.0)))
        self.changes = [*self.changes, *changes][-KEPT:]
        self._model, self._time = self._fitted(), time
        self.with_trip = self._with_trip(step)
        return changes

    @property
    def model(self) -> MobilityModel:
        """Return the newest model, with times if the plan asks about time."""
        if self._model is None:
            self._model = self._fitted()
        return self._model

    def travellers(
        self, count: int, rng: np.random.Generator, interval: float, start: float | None = None
    ) -> Trajectories:
        """Draw trips from the newest model, with a point every `interval` seconds and times since each departure.

        If `start` is given, devices report on arrival, and nobody left before that time. Long trips are then missing
        from the first reports, so they are drawn more often to compensate.
        """
        if count == 0:
            return Trajectories(np.empty(0), np.empty(0), np.zeros(1, dtype=np.int64), t=np.empty(0))
        drawn = self._drawn(count if start is None else SPARE * count, rng, interval)
        if start is None:
            return drawn
        assert drawn.t is not None
        rare = self._reported(drawn.t[drawn.offsets[1:] - 1], start)
        # As many as are wanted, without replacement, each as likely as its weight 1 / rare.
        first = np.argpartition(rng.exponential(size=len(drawn)) * rare, count - 1)[:count]
        return drawn.take(np.sort(first))

    def _drawn(self, count: int, rng: np.random.Generator, interval: float) -> Trajectories:
        drawn = self.model.sample(count, rng, interval=interval)
        assert drawn.t is not None
        first = np.repeat(drawn.t[drawn.offsets[:-1]], drawn.sizes)
        return Trajectories(drawn.x, drawn.y, drawn.offsets, t=drawn.t - first, crs=drawn.crs)

    def _reported(self, durations: Floats, start: float) -> Floats:
        """Return, for each duration of a trip, the share of the remembered reports that can be about such trips, if
        nobody left before `start`."""
        forgot = len(self.memory.candidates) > 1 and bool(self.changes)
        begin = max(start, self.changes[-1].since) if forgot else start
        if self._time is None or self._time <= begin:
            return np.ones(len(durations))
        last, half_life = self._time, self.memory.half_life

        def weight(since: Floats) -> Floats:
            age = np.maximum(last - since, 0.0)
            return age if math.isinf(half_life) else 1 - 2 ** (-age / half_life)

        late = weight(np.maximum(start + durations, begin))
        return np.maximum(late / weight(np.array(begin)), RAREST)

    def _fitted(self) -> MobilityModel:
        estimates = self.memory.estimates
        where = estimates.without(*TIME_QUESTIONS, Trips.name)
        space = self._refit.fit(where, observed(where))
        timed = any(name in estimates for name in TIME_QUESTIONS)
        return TimedModel.fit(space, estimates) if timed else space

    def _with_trip(self, step: Estimates) -> Share:
        """Return the share of devices with a trip that fits the answers of one step best."""
        trips = self._refit.answers_of_trips()
        answers = observed(step.without(*TIME_QUESTIONS, Trips.name))
        along, size = 0.0, 0.0
        for seen in answers:
            if seen.name not in trips:
                continue
            expected = trips[seen.name]
            along += float(seen.frequencies @ (expected / seen.variances))
            size += float(expected @ (expected / seen.variances))
            if seen.total is not None:
                along += seen.total[0] * expected.sum() / seen.total[1]
                size += expected.sum() ** 2 / seen.total[1]
        if size > 0:
            return Share(along / size, 1 / math.sqrt(size))
        guess = first_guess(answers)
        return Share(1 - guess.value, guess.std_error)


class Travellers:
    """Trips with times of the input, with a point every `tick` seconds from each departure, cut at the time `end`."""

    def __init__(self, tick: float, end: float) -> None:
        self.tick, self.end = tick, end
        self._on_the_way: list[tuple[int, Trajectories]] = []
        self._drawn = 0

    def leave(self, trips: Trajectories, departures: Floats) -> Trajectories:
        """Add trips, whose times count from their departure, with these departure times."""
        assert trips.t is not None
        t = trips.t + np.repeat(departures, trips.sizes)
        kept = t <= self.end
        sizes = np.add.reduceat(kept, trips.offsets[:-1]) if len(trips) else np.empty(0, dtype=np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        set_out = replace(trips, x=trips.x[kept], y=trips.y[kept], t=t[kept], offsets=offsets)
        self._on_the_way.append((self._drawn, set_out))
        self._drawn += len(set_out)
        return set_out

    def positions(self, time: float) -> tuple[Ints, Floats, Floats]:
        """Return which travellers are under way at a time, and their positions."""
        groups = [_at(first, trips, time, self.tick) for first, trips in self._on_the_way]
        if not groups:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        ids, x, y = (np.concatenate(column) for column in zip(*groups, strict=True))
        return ids, x, y

    def lines(self, start: float, ticks: range) -> Iterator[str]:
        """Yield the positions at each tick as JSON lines. `start` is the time of tick 0."""
        for number in ticks:
            time = start + number * self.tick
            ids, x, y = self.positions(time)
            yield json.dumps(
                {
                    "tick": number,
                    "time": time,
                    "trip": ids.tolist(),
                    "x": x.round(6).tolist(),
                    "y": y.round(6).tolist(),
                }
            )

    def arrived(self, time: float) -> None:
        """Remove groups in which all travellers have arrived by a time."""
        self._on_the_way = [
            (first, trips)
            for first, trips in self._on_the_way
            if trips.t is not None and len(trips.t) and float(trips.t.max()) > time
        ]


def _at(first: int, trips: Trajectories, time: float, tick: float) -> tuple[Ints, Floats, Floats]:
    assert trips.t is not None
    if len(trips) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    begin, last = trips.t[trips.offsets[:-1]], trips.offsets[1:] - 1
    here = np.flatnonzero((begin <= time) & (time <= trips.t[last]))
    step = np.floor((time - begin[here]) / tick).astype(np.int64)
    at = np.minimum(trips.offsets[:-1][here] + step, last[here])
    then = np.minimum(at + 1, last[here])
    apart = trips.t[then] - trips.t[at]
    share = np.divide(time - trips.t[at], apart, out=np.zeros(len(at)), where=apart > 0)
    x = trips.x[at] + share * (trips.x[then] - trips.x[at])
    return first + here, x, trips.y[at] + share * (trips.y[then] - trips.y[at])


# Travellers per step before anything is known.
NOMINAL = 1000
# Steps that a line is drawn through.
RECENT = 8


class Shown:
    """The number of departures if every trip reports on arrival: as many as trips that ended in the last step."""

    def __init__(self, step: float) -> None:
        self.step, self.per_second = step, NOMINAL / step

    def add(self, reports: int, with_trip: Share, time: float) -> None:
        self.per_second = reports / self.step


class Hidden:
    """The number of departures if devices report at times that do not depend on trips. The share of devices with a
    trip, times the number of devices, is the number of trips in a window. While this number grows from the start, its
    slope is the rate of departures; later, the rate is the number divided by the length of the window.
    """

    def __init__(self, devices: int, every: float, start: float) -> None:
        self.devices, self.every, self.start = devices, every, start
        self.per_second = devices / every
        self._seen: list[tuple[float, float, float]] = []

    def add(self, reports: int, with_trip: Share, time: float) -> None:
        """Add the share of devices with a trip among those that reported around `time`."""
        if not (reports and np.isfinite(with_trip.std_error)):
            return
        reach = time - self.start
        trips, error = self.devices * with_trip.value, self.devices * with_trip.std_error
        self._seen = [*self._seen, (reach, trips, error)][-RECENT:]
        if reach > self.every or len(self._seen) < 3:
            rate = trips / min(reach, self.every)
        else:
            rate = self._slope(trips / reach)
        self.per_second = float(np.clip(rate, 0.0, 4 * self.devices / self.every))

    def _slope(self, usual: float) -> float:
        """Return the slope of the line through the last steps, with the mean since the start as prior knowledge
        (standard error: half of the mean)."""
        reach, trips, error = np.array(self._seen).T
        weights = error**-2
        centred = reach - np.average(reach, weights=weights)
        size = float(weights @ centred**2)
        slope = float(weights @ (centred * trips)) / size
        prior = 1 / (0.5 * max(usual, 1e-9)) ** 2
        return (slope * size + usual * prior) / (size + prior)
