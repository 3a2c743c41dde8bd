"""Fit a model again after each step, beginning with the result of the fit before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.core.area import Area
from ldptrace.core.arrays import Floats
from ldptrace.curator.estimates import Estimates
from ldptrace.models.base import MobilityModel
from ldptrace.models.fit import Fit
from ldptrace.models.observation import Match, Observation
from ldptrace.models.path.model import PathFit, PathModel, fit_paths
from ldptrace.models.prior import Prior
from ldptrace.models.routes.fitted import Cut, Fitted, coverage_of, within
from ldptrace.models.routes.free import FreePaths, Split
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.routes.search import searched
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

# Routes of a library, and the effective numbers of reports at which it is searched for anew.
ROUTES = 100_000
SEARCHES = (20_000.0, 200_000.0)


class Refit(ABC):
    """A model of places and moves (without times) that is fitted again after every step."""

    @abstractmethod
    def fit(self, estimates: Estimates, observations: Sequence[Observation]) -> MobilityModel:
        """Fit the model to these answers. Without answers, the model uses public knowledge only."""

    @property
    @abstractmethod
    def latest(self) -> Fit[Any] | None:
        """The last fit."""

    def answers_of_trips(self) -> dict[str, Floats]:
        """Return the expected answers of devices with a trip to each question, by the last fit."""
        fit = self.latest
        return {} if fit is None else {name: found / fit.with_trip for name, found in fit.expected.items()}


class PathRefit(Refit):
    """Repeated fits of the path model."""

    def __init__(self, area: Area | None = None) -> None:
        self.area = area
        self._fit: PathFit | None = None

    @property
    def latest(self) -> Fit[Any] | None:
        return self._fit

    def fit(self, estimates: Estimates, observations: Sequence[Observation]) -> MobilityModel:
        fit, _ = self.fitted(estimates, observations)
        return replace(PathModel.of_fit(fit, observations, estimates.plan), area=self.area)

    def fitted(self, estimates: Estimates, observations: Sequence[Observation]) -> tuple[PathFit, Prior]:
        """Fit the model to these answers, beginning with the last fit, and return the fit and its prior."""
        before = self._fit if self._fit is not None and self._fit.near else None
        self._fit, prior = fit_paths(estimates, observations, self.area, before)
        return self._fit, prior


class RouteRefit(Refit):
    """Repeated fits of the route model. Routes are drawn from the public map once, and again after the number of
    reports has grown a lot."""

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

    @property
    def latest(self) -> Fit[Any] | None:
        return None if self._fitted is None else self._fitted.fit

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
            search = searched(self.public, library, estimates, others, self._rng, _quiet)
            self._fitted, self._alone = search.fitted, search.alone
        elif self._fitted is None or not {seen.name for seen in others} <= set(self._fitted.fit.expected):
            self._first(estimates, others)
        else:
            self._fitted = self._fitted.again(others)
        assert self._fitted is not None
        model = RouteModel.of_fitted(self._fitted, others, estimates.plan, self._alone)
        model = replace(model, coverage=self._coverage)
        return model if free is None else model.leaving(free, self._fitted, self._split)

    def answers_of_trips(self) -> dict[str, Floats]:
        found, elsewhere, paths = super().answers_of_trips(), self._split.elsewhere, self._off_streets.latest
        if elsewhere == 0 or paths is None:
            return found
        gone = self._split.gone
        return {name: (1 - elsewhere) * some + gone[name] / paths.with_trip for name, some in found.items()}

    def _free(self, estimates: Estimates, observations: Sequence[Observation]) -> FreePaths | None:
        """Return the path model of trips off the streets, if trips may leave the streets."""
        if not (observations and self._options.may_leave):
            return None
        found = self._off_streets.fitted(estimates, observations)
        return FreePaths(estimates.plan, observations, self._off_streets.area, lambda: found)

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


def _quiet(share: float) -> None:
    """Ignore the progress of a fit."""
