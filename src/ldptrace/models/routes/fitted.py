"""A library of routes, fitted to the answers, and the search for a library that suits them.

The search draws one small library after the other, each leaning towards the fit of all routes drawn so far, and
weighs them as one: no fit depends on the chance of a single library, and what was drawn once is never lost.
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
        kind = np.concatenate([self.strides.kind, later.strides.kind])
        cells = np.concatenate([self.cells.cells, later.cells.cells])
        offsets = np.concatenate([self.cells.offsets, self.cells.offsets[-1] + later.cells.offsets[1:]])
        return Cut(replace(self.strides, kind=kind), CellPaths(cells, offsets, self.cells.grid))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A library, fitted: routes, strides, and the fit itself."""

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
        """Fitted from zero potentials on, or from those of a fit before; `scales` say how far places may stand out."""
        grid, ends = estimates.plan.grid, Ends.of(routes, estimates.plan.grid)
        weights = cut.strides.weighted(routes.weights)
        lengths = longest(estimates)
        weighting = Weighting.of(cut.cells, cut.strides.kind, ends, weights, lengths, observations)
        earlier = None if before is None else before.fit
        if before is not None:
            weighting = weighting.moved(before.potentials)
        prior = route_prior(grid, lengths, ends.density, scales)
        fit = fit_potentials(weighting, prior, observations, before=earlier)
        allowed = fit.model.allowed_for(observations, fit.with_trip)
        if _excess(allowed, observations) > CRUDE:
            # Few routes carry the weight: what they happen to answer is not to be bent to the last digit.
            fit = fit_potentials(weighting, prior, allowed, before=earlier)
        return Fitted(routes, cut.strides, fit, prior)

    def again(self, observations: Sequence[Observation]) -> Fitted:
        """The same library, fitted to other answers to the same questions, briefly, from this fit on."""
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
        """How far each place may stand out in the next fit."""
        return standing_out(self.prior, self.fit.variances, self.potentials, self.fit.model.places)

    def matches(self, observations: Sequence[Observation]) -> tuple[Match, ...]:
        """How the fit matches the answers."""
        return tuple(Match.of(seen, self.fit.expected[seen.name]) for seen in observations)

    def replicates(self, observations: Sequence[Observation]) -> NDArray[np.int8] | None:
        """How the weights of the routes change when the noise of the answers is drawn again."""
        allowed = self.fit.model.allowed_for(observations, self.fit.with_trip)
        draws = redrawn(self.fit, self.prior, allowed)
        return None if draws is None else self.fit.model.changes(draws)

    def map_alone(self, observations: Sequence[Observation]) -> tuple[Match, ...]:
        """How the library matches the answers by its public weights, without any report."""
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
    """The fit of all routes that a search drew, and how the map alone matches the answers."""
    grid = estimates.plan.grid
    zones = Zones.of(roads, grid, places_of(grid), kinds_of(roads) == GATE)
    until = parts_of(drawing.routes)

    def draw(number: int, lean: Lean) -> tuple[Pool, Cut]:
        """The part of the library of that number, its ends drawn as `lean` says; and its cell paths."""
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
    """How many routes a library needs: ten for each user and more than a few, so that its chance is below theirs."""
    return min(max(10 * sum(seen.users for seen in observations), FEWEST), ROUTES)


def within(roads: RoadNetwork, grid: Grid, crs: str | None) -> RoadNetwork:
    """The connected part of a network in the bounds of a grid, in short pieces.

    An error where it is the map of another place.
    """
    roads.check_against(grid.bounds, crs)
    connected = roads.clipped(grid.bounds).largest_component()
    across, up = connected.scale
    step = places_of(grid).step
    # An edge lies in the place of its middle, so none is longer than half a place.
    return in_pieces(connected, min(step[0] * across, step[1] * up) / 2)


def coverage_of(roads: RoadNetwork, grid: Grid) -> Coverage:
    """Where the bounds have streets; checked before a fit, which may take a while."""
    found = Coverage.of(roads, grid)
    LOG.info("%s: %s", roads.name, found.line[0].lower() + found.line[1:])
    return found


def parts_of(routes: int) -> Ints:
    """How many of all routes have been drawn after each library, from none to all.

    >>> parts_of(300_000).tolist(), parts_of(10).tolist()
    ([0, 25000, 50000, 100000, 150000, 200000, 300000], [0, 2, 5, 10])
    """
    shares = SHARES if routes >= SMALL else SMALL_SHARES
    return np.unique(np.append(0, routes * np.cumsum(shares) // sum(shares)))


def _part(tell: Callable[[float], None], start: float, goal: float) -> Callable[[float], None]:
    """Progress of a part of the work, as progress of all of it."""
    return lambda share: tell(start + (goal - start) * share)


def _excess(allowed: Sequence[Observation], observations: Sequence[Observation]) -> float:
    """The largest share by which variances of answers grew."""
    pairs = zip(allowed, observations, strict=True)
    return max((float((more.variances / seen.variances).max()) - 1 for more, seen in pairs), default=0.0)
