"""A library of routes with weights fitted to the answers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.models.fit import Fit, fit_potentials
from ldptrace.models.observation import Match, Observation
from ldptrace.models.pairs import districts_in
from ldptrace.models.path.model import longest
from ldptrace.models.prior import Prior
from ldptrace.models.replicates import redrawn
from ldptrace.models.routes.ends import Ends, places_of, standing_out
from ldptrace.models.routes.strides import Strides
from ldptrace.models.routes.weighting import Weighting, route_prior
from ldptrace.protocol.grid import Grid
from ldptrace.roads.coverage import Coverage, in_pieces
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

LOG = logging.getLogger(__name__)

# Variance that the library adds to an answer, over that of its noise: more than this, and the fit allows for it.
CRUDE = 100.0


@dataclass(frozen=True, eq=False)
class Cut:
    """The strides of routes, and the cell paths that devices with these strides make of them."""

    strides: Strides
    cells: CellPaths

    @staticmethod
    def of(routes: Routes, grid: Grid, rng: np.random.Generator, shares: Floats | None = None) -> Cut:
        """Draw the strides, which follow the shares that a fit has found, if there is one."""
        strides = Strides.drawn(routes, grid, rng, shares)
        return Cut(strides, strides.cells(routes, grid))

    def joined(self, later: Cut) -> Cut:
        """Return these routes and later ones of the same network together."""
        return Cut(self.strides.joined(later.strides), CellPaths.concat([self.cells, later.cells]))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted library: routes, strides, and the fit."""

    routes: Routes
    strides: Strides
    fit: Fit[Weighting]
    prior: Prior

    @staticmethod
    def of(
        routes: Routes,
        cut: Cut,
        estimates: Estimates,
        observations: list[Observation],
        before: Fitted | None = None,
        scales: Floats | None = None,
    ) -> Fitted:
        """Fit the weights, beginning with zero potentials or with the potentials of an earlier fit. `scales` are how
        far places may differ from their neighbours."""
        grid, ends = estimates.plan.grid, Ends.of(routes, estimates.plan.grid)
        weights = cut.strides.weighted(routes.weights)
        lengths = longest(estimates)
        weighting = Weighting.of(cut.cells, cut.strides.kind, ends, weights, lengths, observations)
        earlier = None if before is None else before.fit
        if before is not None:
            weighting = weighting.moved(before.potentials)
        prior = route_prior(grid, lengths, ends.density, scales, districts_in(observations))
        fit = fit_potentials(weighting, prior, observations, before=earlier)
        allowed = fit.model.allowed_for(observations, fit.with_trip)
        if _excess(allowed, observations) > CRUDE:
            # Few routes carry the weight: what they happen to answer is not to be bent to the last digit.
            fit = fit_potentials(weighting, prior, allowed, before=earlier)
        return Fitted(routes, cut.strides, fit, prior)

    def again(self, observations: Sequence[Observation]) -> Fitted:
        """Fit the same library to other answers to the same questions, with few iterations, beginning with this fit."""
        fit = fit_potentials(self.fit.model, self.prior, observations, before=self.fit, briefly=True)
        return replace(self, fit=fit)

    @property
    def weights(self) -> Floats:
        """Fitted weight of every route."""
        return self.fit.model.weights

    @property
    def potentials(self) -> Floats:
        return self.fit.model.potentials

    def scales(self) -> Floats:
        """Return how far each place may differ from its neighbours in the next fit."""
        return standing_out(self.prior, self.fit.variances, self.potentials, self.fit.model.places)

    def matches(self, observations: Sequence[Observation]) -> tuple[Match, ...]:
        """Return how well the fit matches the answers."""
        return tuple(Match.of(seen, self.fit.expected[seen.name]) for seen in observations)

    def replicates(self, observations: Sequence[Observation]) -> NDArray[np.int8] | None:
        """Return how the weights of the routes change if the noise of the answers is drawn again."""
        allowed = self.fit.model.allowed_for(observations, self.fit.with_trip)
        draws = redrawn(self.fit, self.prior, allowed)
        return None if draws is None else self.fit.model.changes(draws)

    def map_alone(self, observations: Sequence[Observation]) -> tuple[Match, ...]:
        """Return how well the library matches the answers with its public weights, without any report."""
        public = self.fit.model.moved(-self.potentials)
        expected = public.answers({seen.name: seen.most for seen in observations})
        return tuple(Match.of(seen, self.fit.with_trip * expected[seen.name]) for seen in observations)


def within(roads: RoadNetwork, grid: Grid, crs: str | None) -> RoadNetwork:
    """Return the largest connected part of a network in the bounds of a grid, cut into short edges.

    Raise an error if the network is of another area.
    """
    roads.check_against(grid.bounds, crs)
    connected = roads.clipped(grid.bounds).largest_component()
    across, up = connected.scale
    step = places_of(grid).step
    # An edge lies in the place of its middle, so none is longer than half a place.
    return in_pieces(connected, min(step[0] * across, step[1] * up) / 2)


def coverage_of(roads: RoadNetwork, grid: Grid) -> Coverage:
    """Return where the bounds have streets. The program logs this before the fit, which may take some time."""
    coverage = Coverage.of(roads, grid)
    LOG.info("%s: %s", roads.name, coverage.line[0].lower() + coverage.line[1:])
    return coverage


def _excess(allowed: Sequence[Observation], observations: Sequence[Observation]) -> float:
    """Return the largest relative increase of the variances."""
    pairs = zip(allowed, observations, strict=True)
    return max((float((more.variances / seen.variances).max()) - 1 for more, seen in pairs), default=0.0)
