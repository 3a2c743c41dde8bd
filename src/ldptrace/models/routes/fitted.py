"""A library of routes with weights fitted to the answers, and the search for such a library.

The search draws several small libraries. Each follows the fit of all routes drawn so far, and all routes are then
weighted as one library. So the result does not depend on the randomness of one library, and no drawn route is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.models.fit import Fit, fit_potentials
from ldptrace.models.observation import Match, Observation
from ldptrace.models.pairs import districts_in
from ldptrace.models.path.model import longest
from ldptrace.models.prior import Prior
from ldptrace.models.replicates import redrawn
from ldptrace.models.routes.ends import GATE, Ends, kinds_of, places_of, standing_out
from ldptrace.models.routes.strides import Strides
from ldptrace.models.routes.weighting import Weighting, route_prior
from ldptrace.protocol.grid import Grid
from ldptrace.roads.coverage import Coverage, in_pieces
from ldptrace.roads.leaning import Lean, Pool, Zones
from ldptrace.roads.library import ROUTES, Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

LOG = logging.getLogger(__name__)

# Variance that the library adds to an answer, over that of its noise: more than this, and the fit allows for it.
CRUDE = 100.0
# Shares of the routes that are drawn one after the other: the first say where to look, the last follow what was found.
SHARES = (1, 1, 2, 2, 2, 4)
# A library of fewer routes is drawn in fewer parts.
SMALL, SMALL_SHARES = 100_000, (1, 1, 2)
# Routes of a library for the fewest users.
FEWEST = 50_000
# From this library's fit on places may stand out: the first fit is too crude to say which.
_SETTLED = 2


@dataclass(frozen=True, eq=False)
class Cut:
    """The strides of routes, and the cell paths that devices with these strides make of them."""

    strides: Strides
    cells: CellPaths

    @staticmethod
    def of(routes: Routes, grid: Grid, rng: np.random.Generator) -> Cut:
        strides = Strides.drawn(routes, grid, rng)
        return Cut(strides, strides.cells(routes, grid))

    def joined(self, later: Cut) -> Cut:
        """Return these routes and later ones of the same network together."""
        kind = np.concatenate([self.strides.kind, later.strides.kind])
        cells = np.concatenate([self.cells.cells, later.cells.cells])
        offsets = np.concatenate([self.cells.offsets, self.cells.offsets[-1] + later.cells.offsets[1:]])
        return Cut(replace(self.strides, kind=kind), CellPaths(cells, offsets, self.cells.grid))


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


def searched(
    roads: RoadNetwork,
    drawing: Library,
    estimates: Estimates,
    observations: list[Observation],
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> tuple[Fitted, tuple[Match, ...]]:
    """Search for a library. Return the fit of all drawn routes, and how well the map alone matches the answers."""
    grid = estimates.plan.grid
    zones = Zones.of(roads, grid, places_of(grid), kinds_of(roads) == GATE)
    until = parts_of(drawing.routes)

    def draw(number: int, lean: Lean) -> tuple[Pool, Cut]:
        """Draw a part of the library, with the starts and ends that `lean` prefers, and its cell paths."""
        done, goal = until[number : number + 2]
        progress = _part(tell, done / until[-1], goal / until[-1])
        pool = replace(drawing, routes=int(goal - done)).pool(roads, rng, lean, progress)
        return pool, Cut.of(pool.routes, grid, rng)

    pool, cut = draw(0, Lean.even(zones))
    fitted = Fitted.of(pool.routes, cut, estimates, observations)
    alone = fitted.map_alone(observations)
    for number in range(1, len(until) - 1):
        later, cut_later = draw(number, Lean.towards(fitted.routes, fitted.weights, zones))
        pool, cut = pool.joined(later), cut.joined(cut_later)
        scales = fitted.scales() if number >= _SETTLED else None
        fitted = Fitted.of(pool.routes, cut, estimates, observations, fitted, scales)
    return fitted, alone


def usual_routes(observations: Sequence[Observation]) -> int:
    """Return the number of routes of a library: ten for each user, between a minimum and a maximum. Then the random
    error of the library is smaller than the noise of the reports."""
    return min(max(10 * sum(seen.users for seen in observations), FEWEST), ROUTES)


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
    found = Coverage.of(roads, grid)
    LOG.info("%s: %s", roads.name, found.line[0].lower() + found.line[1:])
    return found


def parts_of(routes: int) -> Ints:
    """Return the number of routes that have been drawn after each part of the search, from 0 to all.

    >>> parts_of(300_000).tolist(), parts_of(10).tolist()
    ([0, 25000, 50000, 100000, 150000, 200000, 300000], [0, 2, 5, 10])
    """
    shares = SHARES if routes >= SMALL else SMALL_SHARES
    return np.unique(np.append(0, routes * np.cumsum(shares) // sum(shares)))


def _part(tell: Callable[[float], None], start: float, goal: float) -> Callable[[float], None]:
    """Turn the progress of a part of the work into the progress of all work."""
    return lambda share: tell(start + (goal - start) * share)


def _excess(allowed: Sequence[Observation], observations: Sequence[Observation]) -> float:
    """Return the largest relative increase of the variances."""
    pairs = zip(allowed, observations, strict=True)
    return max((float((more.variances / seen.variances).max()) - 1 for more, seen in pairs), default=0.0)
