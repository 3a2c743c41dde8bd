"""The newest model of a collection that goes on: it takes the counts of one time step after the other, and gives the
model, the changes of demand, and synthetic travellers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldptrace.core.area import Area
from ldptrace.core.arrays import Floats
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.changes import Change
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.memory import Memory, Remember
from ldptrace.curator.tally import Tally
from ldptrace.models.base import MobilityModel
from ldptrace.models.observation import first_guess
from ldptrace.models.path.model import observed
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.space_time import TimedModel
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import TIME_QUESTIONS, Trips
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.streams.fitting import PathRefit, Refit, RouteRefit

# Changes that are kept.
KEPT = 100
# Trips are drawn this many times as often as they are needed where long ones are preferred, and how much at most.
SPARE, RAREST = 2, 0.25
# A step has at least this weight, however few of its devices had a trip.
LEAST = 0.05


@dataclass(frozen=True)
class WithTrip:
    """The share of the devices of one step that reported a trip, and its standard error."""

    value: float
    std_error: float


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
        self._refit: Refit = (
            PathRefit(area) if public is None else RouteRefit(public, plan, source, area, streets)
        )
        self.changes: list[Change] = []
        # What the devices of the last step said of having a trip.
        self.with_trip = WithTrip(1.0, math.inf)
        self._model: MobilityModel | None = None
        self._time: float | None = None

    def add(self, tally: Tally, time: float) -> tuple[Change, ...]:
        """Add the reports of a step that ended at `time`, and return the changes that are larger than noise."""
        step = Estimates.from_tally(self.plan, tally)
        guess = self._with_trip(step)
        found = self.memory.add(tally, time, float(np.clip(guess.value, LEAST, 1.0)))
        self.changes = [*self.changes, *found][-KEPT:]
        self._model, self._time = None, time
        self._fit()
        self.with_trip = self._with_trip(step)
        return found

    @property
    def model(self) -> MobilityModel:
        """Return the newest model, with times if the plan asks about time."""
        if self._model is None:
            self._fit()
        assert self._model is not None
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

    def _fit(self) -> None:
        estimates = self.memory.estimates
        where = estimates.without(*TIME_QUESTIONS, Trips.name)
        space = self._refit.fit(where, observed(where))
        timed = any(name in estimates for name in TIME_QUESTIONS)
        self._model = TimedModel.fit(space, estimates) if timed else space

    def _with_trip(self, step: Estimates) -> WithTrip:
        """Return the share of devices with a trip that fits the answers of one step best."""
        trips = self._refit.answers_of_trips()
        along, size = 0.0, 0.0
        for seen in observed(step.without(*TIME_QUESTIONS, Trips.name)):
            if seen.name not in trips:
                continue
            expected = trips[seen.name]
            along += float(seen.frequencies @ (expected / seen.variances))
            size += float(expected @ (expected / seen.variances))
            if seen.total is not None:
                along += seen.total[0] * expected.sum() / seen.total[1]
                size += expected.sum() ** 2 / seen.total[1]
        if size > 0:
            return WithTrip(along / size, 1 / math.sqrt(size))
        guess = first_guess(observed(step.without(*TIME_QUESTIONS, Trips.name)))
        return WithTrip(1 - guess.value, guess.std_error)
