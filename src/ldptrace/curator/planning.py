"""Choosing a plan before anybody was asked: from public facts, by the predicted error of what will come out.

The facts are the expected number of users, epsilon, and how far people travel compared with the size of the
map. Trips are assumed to cross a negative-binomial number of cells (shape 2), which fits city traffic well
enough to choose by. The error that decides is that of the traffic in a ninth of the area (after section 5.9):

- noise: the moves of its cells are added up, each with the standard error of its estimate;
- shape: cells on the border of the area are cut as if their points lay evenly.

It is a yardstick to choose by, not a forecast: the model pools the answers to all questions and does better.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.asking import trip_noise
from ldptrace.errors import InputError
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import checked_cells
from ldptrace.protocol.lattice import move_count
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import PrivSet, unit_variance
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.shares import DEFAULT_SHARES, MAP_SHARES, TOLD_ON_MAP

# Length of the mean trip compared with the side of the map, when nothing is known.
TRIP = 0.5
# How far a cell is from evenly filled; measured on generated cities.
UNEVENNESS = 0.2
QUERY = 1 / 9
# Grids that nest in the 6 x 6 cells on which the literature measures. Others are no better where the prediction prefers
# them, and worse by those measures (docs/lab/one-report.md).
GRIDS = (6, 12, 18, 24)
# Without a street map, finer cells may add so much to the predicted error of trips.
WORSE = 0.005
# With a street map, routes say what happens within cells, and finer ones tell more of where trips begin and end: at
# least this grid, from where its predicted noise is below a bound (docs/lab/streets.md).
MAP_GRID, MAP_NOISE = 16, 0.385
# With a street map, pairs of districts are asked where the standard error of a pair, if few are asked, is at most this
# part of the mean of all pairs: per side this many districts, the first that can be learned, or none
# (docs/lab/streets.md).
MAP_DISTRICTS, LEARNABLE = (6, 4), 0.9
# The best m is flat: the largest one that costs no more than this, because it cuts fewer long trips.
FLAT = 1.03
# Predicted errors: from here on a result is called mostly noise, and what one would rather have.
TOO_MUCH, ENOUGH = 2.0, 0.5


@dataclass(frozen=True)
class Outlook:
    """What a choice of N and m would give, before any data."""

    n: int
    most_moves: int
    cap: int
    noise: float
    shape: float

    @property
    def error(self) -> float:
        """Predicted relative error of the traffic in a ninth of the area."""
        return float(np.hypot(self.noise, self.shape))


def outlook(
    users: int, epsilon: float | Fraction, n: int, *, trip: float = TRIP, most_moves: int | None = None
) -> Outlook:
    """Return the predicted errors on an n x n grid, with the best m unless one is given."""
    if users < 1:
        raise InputError(f"a plan needs at least one user, got {users}")
    if not 0 < trip <= 10:
        raise InputError(f"the mean trip must be above 0 and at most 10 sides of the map, got {trip:g}")
    n = checked_cells(n)
    ratio = ratio_at_most(epsilon_fraction(epsilon))
    law = moves_law(trip * n)
    domain = move_count(n)
    candidates = [most_moves] if most_moves else range(1, min(domain, 24) + 1)
    # Moves and links both measure moves; links without direction.
    members = users * (DEFAULT_SHARES["moves"] + DEFAULT_SHARES["links"])
    scored = [(_move_error(domain, m, ratio, members, law), m) for m in candidates]
    best = min(error for error, _ in scored)
    error, m = max((pair for pair in scored if pair[0] <= FLAT * best), key=lambda pair: pair[1])
    in_query = QUERY * n * n
    visits = QUERY * (trip * n + 1)
    noise = error * np.sqrt(8 * in_query) / visits
    shape = UNEVENNESS * np.sqrt(4 * np.sqrt(QUERY) * n) / in_query
    cap = int(np.searchsorted(np.cumsum(law), 0.999)) + 2
    return Outlook(n, m, max(cap, n), float(noise), float(shape))


@lru_cache
def choose_grid(users: int, epsilon: float, trip: float = TRIP, for_map: bool = False) -> int:
    """Return the N with the smallest predicted error, among the grids that nest in the literature's; finer where a map
    helps.

    >>> choose_grid(2_000, 1.0), choose_grid(300_000, 1.0), choose_grid(30_000_000, 1.0)
    (6, 6, 12)
    >>> choose_grid(100_000, 1.0, for_map=True), choose_grid(400_000, 1.0, for_map=True)
    (6, 16)
    """
    coarsest = trip_noise(users, epsilon, GRIDS[0])
    allowed = [n for n in GRIDS if for_map or trip_noise(users, epsilon, n) <= coarsest + WORSE]
    best = min(allowed, key=lambda n: outlook(users, epsilon, n, trip=trip).error)
    if not for_map or outlook(users, epsilon, MAP_GRID, trip=trip).noise > MAP_NOISE:
        return best
    return max(best, MAP_GRID)


def map_districts(users: int, epsilon: float | Fraction, n: int) -> int:
    """Return how many districts per side the question `pairs` of a plan with a street map has; 0: it is not asked.

    >>> [map_districts(300_000, epsilon, 6) for epsilon in (1, 2, 5)], map_districts(20_000, 5, 6)
    ([0, 4, 6], 4)
    """
    few = min(shares["pairs"] for shares in TOLD_ON_MAP.values())
    ratio, members = ratio_at_most(epsilon_fraction(epsilon)), users * few
    # On fine grids more pairs would take the fit too long.
    for districts in MAP_DISTRICTS if n < MAP_GRID else MAP_DISTRICTS[1:]:
        domain = districts**4
        size = PrivSet.best(domain, 1, ratio).size
        noise = np.sqrt(unit_variance(domain, 1, float(ratio), size) / members)
        if districts <= n and noise * domain <= LEARNABLE:
            return districts
    return 0


def map_shares(districts: int) -> dict[str, float]:
    """Return the shares of the questions of a plan with a street map that asks for pairs of this many districts per
    side.

    >>> round(map_shares(6)["pairs"], 2), round(map_shares(6)["moves"], 2), round(map_shares(0)["moves"], 2)
    (0.6, 0.15, 0.02)
    """
    told = TOLD_ON_MAP.get(districts, {})
    others = {name: share for name, share in MAP_SHARES.items() if name not in told}
    left = (1 - sum(told.values())) / sum(others.values())
    return {name: share * left for name, share in others.items()} | told


def moves_law(mean: float) -> Floats:
    """Return the assumed distribution of the number of moves of a trip: 0, 1, 2, ..."""
    longest = int(20 * mean) + 40
    moves, none = np.arange(longest), 2 / (2 + mean)
    law: Floats = (moves + 1) * none**2 * (1 - none) ** moves
    return law / law.sum()


def _move_error(domain: int, most: int, ratio: Fraction, members: float, law: Floats) -> float:
    """Return the standard error of one move's frequency, in units of what all of a trip's moves would give."""
    moves = np.arange(len(law))
    kept = float(np.sum(law * np.minimum(moves, most)) / np.sum(law * moves))
    size = PrivSet.best(domain, most, ratio).size
    variance = unit_variance(domain, most, float(ratio), size)
    return float(np.sqrt(variance / members) / kept)


def standard_errors(plan: Plan, users: int) -> dict[str, float]:
    """Return the predicted standard error of a rare item's frequency, for each question of a partitioned round."""
    errors = {}
    for round_ in plan.rounds:
        for ask in round_.asks:
            members = users * ask.share / SHARES
            reports = max(round(members), 1) * ask.question.slots
            errors[ask.question.name] = float(np.sqrt(ask.randomizer.variance(reports)) / max(members, 1))
    return errors
