"""The search for a library of routes that suits the answers.

The search draws several small libraries. Each follows the fit of all routes drawn so far, and all routes are then
weighted as one library. So the result does not depend on the randomness of one library, and no drawn route is lost.
Half-way, on grids of 10 x 10 cells or more, the shares of the kinds of drivers follow from the answers, if these show
them; on smaller grids they never did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.curator.estimates import Estimates
from ldptrace.models.observation import Match, Observation
from ldptrace.models.routes.drivers import Drivers
from ldptrace.models.routes.ends import GATE, kinds_of, places_of
from ldptrace.models.routes.fitted import Cut, Fitted
from ldptrace.models.routes.weighting import joined_cells
from ldptrace.roads.library import ROUTES, Lean, Library, Pool, Zones
from ldptrace.roads.network import RoadNetwork

# Shares of the routes that are drawn one after the other: the first say where to look, the last follow what was found.
SHARES = (1, 1, 2, 2, 2, 4)
# A library of fewer routes is drawn in fewer parts.
SMALL, SMALL_SHARES = 100_000, (1, 1, 2)
# Routes of a library for the fewest users.
FEWEST = 50_000
# From this library's fit on places may stand out: the first fit is too crude to say which.
_SETTLED = 2


def searched(
    roads: RoadNetwork,
    drawing: Library,
    estimates: Estimates,
    observations: list[Observation],
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> tuple[Fitted, tuple[Match, ...], Drivers]:
    """Search for a library that suits the answers. Returns the fit of all drawn routes, how well the map alone matches
    the answers, and what the answers say of the kinds of drivers."""
    grid = estimates.plan.grid
    zones = Zones.of(roads, grid, places_of(grid), kinds_of(roads) == GATE)
    until = parts_of(drawing.routes)

    def draw(number: int, lean: Lean, strides: Floats | None = None) -> tuple[Pool, Cut]:
        """Draw a part of the library, with the starts and ends that `lean` prefers, and its cell paths, by devices with
        these shares of `strides`."""
        done, goal = until[number : number + 2]
        progress = _part(tell, done / until[-1], goal / until[-1])
        pool = replace(drawing, routes=int(goal - done)).pool(roads, rng, lean, progress)
        return pool, Cut.of(pool.routes, grid, rng, strides)

    pool, cut = draw(0, Lean.even(zones))
    drivers = Drivers.assumed(drawing.kinds)
    fitted = Fitted.of(pool.routes, cut, estimates, observations)
    alone = fitted.map_alone(observations)
    for number in range(1, len(until) - 1):
        asked = joined_cells(grid) > 1 and len(drawing.kinds) > 1 and len(observations) > 0
        if number == len(until) // 2 and asked:
            drivers = Drivers.of(fitted, pool, drawing, estimates, observations, rng)
            pool = pool.driven(drivers.shares)
        lean = Lean.towards(fitted.routes, fitted.weights, zones, pool.drivers)
        later, cut_later = draw(number, lean, fitted.strides.shares(fitted.weights))
        pool, cut = pool.joined(later), cut.joined(cut_later)
        scales = fitted.scales() if number >= _SETTLED else None
        fitted = Fitted.of(pool.routes, cut, estimates, observations, fitted, scales)
    return fitted, alone, drivers


def usual_routes(observations: Sequence[Observation]) -> int:
    """Return the number of routes of a library: ten for each user, between a minimum and a maximum. Then the random
    error of the library is smaller than the noise of the reports."""
    return min(max(10 * sum(seen.users for seen in observations), FEWEST), ROUTES)


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
