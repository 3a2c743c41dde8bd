"""A model of where trips go together with a model of when they do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ldptrace.core.timing import every
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FormatError
from ldptrace.models.base import Along, Arrays, MobilityModel, Part, Replicated, Sampler
from ldptrace.models.replicates import normal
from ldptrace.models.time import PILOT, Calendar, TimeDraws, TimeModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import TIME_QUESTIONS


@dataclass(frozen=True, eq=False, repr=False)
class TimedModel(MobilityModel):
    """Trips of `space` with the times of `time`: a departure and a speed for each.

    With a `calendar` times are dates.
    """

    space: MobilityModel
    time: TimeModel
    calendar: Calendar | None = None

    kind: ClassVar[str] = "timed"
    questions: ClassVar[tuple[str, ...]] = TIME_QUESTIONS

    def __post_init__(self) -> None:
        for name in ("grid", "plan", "map_alone", "without_trip"):
            object.__setattr__(self, name, getattr(self.space, name))
        object.__setattr__(self, "matches", (*self.space.matches, *self.time.matches))

    @staticmethod
    def fit(space: MobilityModel, estimates: Estimates) -> TimedModel:
        """Fit to the answers about time; where trips go is known from the model of space."""
        # Which trips are drawn here decides nothing but how precisely their lengths and directions are known.
        trips = Sampler.of(space, PILOT, np.random.default_rng(0), Along(timed=space.knows_speeds)).trips()
        return TimedModel(space, TimeModel.fit(estimates, trips, space.grid))

    @property
    def map_note(self) -> str | None:
        return self.space.map_note

    @property
    def street_lines(self) -> list[str]:
        return self.space.street_lines

    def on(self, calendar: Calendar | None) -> TimedModel:
        """Return the same model, drawing for this calendar."""
        return replace(self, calendar=calendar)

    def block(self, count: int, rng: np.random.Generator, along: Along) -> Part:
        drawn = self.space.block(count, rng, Along(along.spacing, timed=True))
        when = TimeDraws.drawn(count, rng)
        return lambda start, stop: self._timed(drawn(start, stop), when.part(start, stop), along.interval)

    def replicated(self, count: int, rng: np.random.Generator, *, timed: bool = False) -> Replicated:
        drawn, ratios = self.space.replicated(count, rng, timed=True)
        when = TimeDraws.drawn(len(drawn), rng)
        trips = self._timed(drawn, when, None)
        if ratios is None or self.time.draws is None:
            return trips, ratios
        hours = self.time.hour_of(drawn, self.grid, when.hour)
        # Large grids have fewer replicates than hours have.
        rows = np.arange(len(self.time.draws)) % len(ratios)
        return trips, normal(ratios[rows] * self.time.draws[:, hours])

    def _timed(self, drawn: Trajectories, when: TimeDraws, interval: float | None) -> Trajectories:
        # Times of the model of space say where a trip is fast and where it is slow.
        seconds = None if drawn.t is None else np.diff(drawn.t, prepend=0.0)
        trips = self.time.timed(drawn, self.grid, when, seconds=seconds, calendar=self.calendar)
        return trips if interval is None else every(trips, interval)

    def explain(self) -> str:
        return f"{self.space.explain()}\n{self.time.explain()}"

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        space_header, space_arrays = self.space.contents()
        time_header, time_arrays = self.time.contents()
        header = {
            "space": {"model": self.space.kind, "version": self.space.version, **space_header},
            "time": time_header,
        }
        arrays = {f"space.{name}": part for name, part in space_arrays.items()}
        return header, arrays | {f"time.{name}": part for name, part in time_arrays.items()}

    @classmethod
    def restored(cls, grid: Grid, plan: Plan | None, header: dict[str, Any], arrays: Arrays) -> TimedModel:
        from ldptrace.models.markov import MarkovModel
        from ldptrace.models.path.model import PathModel
        from ldptrace.models.routes.model import RouteModel

        inner = header["space"]
        spaces: dict[str, type[MobilityModel]] = {
            model.kind: model for model in (MarkovModel, PathModel, RouteModel)
        }
        kind = spaces.get(inner["model"])
        if kind is None or inner["version"] != kind.version:
            raise FormatError(f"a model of space of unknown kind {inner['model']!r}")
        parts: dict[str, Arrays] = {"space": {}, "time": {}}
        for name, part in arrays.items():
            room, _, own = name.partition(".")
            parts[room][own] = part
        space = kind.restored(grid, plan, inner, parts["space"])
        return cls(space, TimeModel.restored(header["time"], parts["time"]))
