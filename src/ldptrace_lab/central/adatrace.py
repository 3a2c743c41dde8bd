"""AdaTrace (Gursoy, Liu, Truex, Yu, Wei, CCS'18): a Markov chain between start and end, by a trusted curator.

Four parts, each with its share of epsilon: an adaptive grid, the moves of a Markov chain, the trips (first and last
cell), and how much longer than the shortest way trips are. A synthetic trip has its ends, its number of cells, and then
a bridge of the chain between the ends.

The published program is not differentially private, in five places; here they are made so. The bounds and the number of
trajectories are public. The densities of the second level have noise. Extra lengths are counted, with noise, for all
pairs of cells with the same shortest way, up to a public most: sums for each pair of cells, their largest value, their
number and the choice of a law were raw. Noise is exact, and fits replaced trajectories. Defences against attacks are
`deniable` and `shielded`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths, grid_moves, move_items
from ldptrace.core.placement import cells_of_points
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.options import option
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid
from ldptrace.simulation.answers import moves_of
from ldptrace_lab.central.curator import Options as Shared
from ldptrace_lab.central.curator import (
    TrustedCurator,
    central_method,
    drawn,
    on_simplex,
    onward,
    points_in_parts,
)

# How far the visitors may be from all, in Jensen-Shannon divergence, and how often trips are drawn anew for it.
FAR, ROUNDS = 0.1, 100


def deniable(trips: Floats, kappa: float) -> Floats:
    """Return noisy counts of trips (first cell, last cell) without the ends that fewer than kappa trips have.

    >>> deniable(np.array([[50.0, 1.0], [2.0, 50.0]]), 10.0).tolist()
    [[50.0, 1.0], [2.0, 50.0]]
    >>> deniable(np.array([[50.0, 1.0], [2.0, 3.0]]), 10.0).tolist()
    [[50.0, 0.0], [0.0, 0.0]]
    """
    first, last = trips.sum(axis=1) >= kappa, trips.sum(axis=0) >= kappa
    kept = np.where(first[:, None] & last, trips, 0.0)
    if not kept.any():
        raise InputError(f"kappa is too large: fewer than {kappa:g} begin in each cell, or end in each")
    return kept


def shielded(paths: CellPaths, cell: int, draw: Callable[[int], CellPaths]) -> CellPaths:
    """Redraw paths through the cell until an attacker learns little from a visit to it; otherwise avoid the cell."""
    if not 0 <= cell < paths.grid.cells:
        raise InputError(f"sensitive must be a cell from 0 to {paths.grid.cells - 1}, got {cell!r}")
    before = _beliefs(paths)
    for _ in range(ROUNDS):
        through = ragged.holders(paths.offsets, paths.cells == cell)
        if not through.any():
            return paths
        after = _beliefs(paths.take(through))
        if all(count_divergence(*pair) <= FAR for pair in zip(before, after, strict=True)):
            return paths
        paths = CellPaths.concat([paths.take(~through), draw(int(through.sum()))])
    raise InputError(f"nearly all trips visit the sensitive cell {cell}, so none can replace them")


def _steps(paths: CellPaths) -> Ints:
    """Return the places of the cells that steps lead to."""
    return np.flatnonzero(ragged.inner_steps(paths.offsets)) + 1


def _beliefs(paths: CellPaths) -> tuple[Floats, Floats]:
    """Return what an attacker believes: how often trips have each pair of ends, and moves each pair of cells."""
    cells = paths.grid.cells
    ends = np.bincount(paths.starts().astype(np.int64) * cells + paths.ends(), minlength=cells**2)
    at = _steps(paths)
    moves = np.bincount(paths.cells[at - 1].astype(np.int64) * cells + paths.cells[at], minlength=cells**2)
    return ends.astype(np.float64), moves.astype(np.float64)


# Shares of epsilon as in the published program: grid, moves, trips, lengths; the grid's for both of its levels.
GRID, MOVES, TRIPS, LENGTHS = Fraction(5, 100), Fraction(35, 100), Fraction(50, 100), Fraction(10, 100)
# A cell with a share s of the visits is cut into ceil(FINER s / epsilon) parts a side.
FINER = 5.0

_towards = kernel(lattice.towards)


@dataclass(frozen=True)
class Options(Shared):
    """The options of AdaTrace. Its defences are off by default."""

    most_extra: int | None = option(
        None, help="Largest number of extra cells that is counted; by default twice the cells of a side."
    )
    sensitive: int | None = option(None, help="Number of a cell whose visitors are to be like all others.")
    kappa: float | None = option(None, help="At least this many trips share an end.")


@dataclass(frozen=True, eq=False)
class Features:
    """What the curator learns: everything here is private, and synthesis reads nothing else."""

    grid: Grid
    # Parts a side of each cell, and the cumulative shares of its parts, cell after cell.
    sides: Ints
    parts: list[Floats]
    # Chances of the eight moves out of each cell.
    moves: Floats
    # Chances of each pair of first and last cell.
    trips: Floats
    # Chances of 0, 1, 2 ... extra cells, a row for each length of the shortest way.
    extras: Floats
    # The public choice of a cell whose visitors are to be like all others.
    sensitive: int | None

    @cached_property
    def ahead(self) -> Floats:
        """Chances to be in each cell after 0, 1, 2 ... moves from each cell."""
        table, chain = grid_moves(self.grid.n), np.zeros((self.grid.cells, self.grid.cells))
        chain[table[:, 0], table[:, 2]] = self.moves[table[:, 0], table[:, 1]]
        powers = [np.eye(self.grid.cells)]
        for _ in range(self.grid.n + self.extras.shape[1]):
            powers.append(powers[-1] @ chain)
        return np.array(powers)


def learn(
    paths: CellPaths, real: Trajectories, curator: TrustedCurator, options: Options | None = None
) -> Features:
    """Return everything that is published about the trajectories; this spends all of epsilon."""
    grid, options = paths.grid, options or Options()
    paths = paths.take(paths.sizes > 0)
    most = 2 * grid.n if options.most_extra is None else options.most_extra
    sides, parts = _adaptive(paths, real, curator)
    moves, trips = _moves(paths, curator), _trips(paths, curator)
    if options.kappa is not None:
        trips = deniable(trips, options.kappa)
    extras = _extras(paths, curator, most)
    return Features(grid, sides, parts, moves, trips.ravel() / trips.sum(), extras, options.sensitive)


def _adaptive(paths: CellPaths, real: Trajectories, curator: TrustedCurator) -> tuple[Ints, list[Floats]]:
    """Return how finely each cell is cut, and how visits are spread over its parts; half of the grid's share each."""
    grid = paths.grid
    visits = on_simplex(curator.histogram(paths.cells, ragged.owners(paths.offsets), grid.cells, GRID / 2))
    finer = FINER * visits / visits.sum() / float(curator.epsilon)
    sides = np.maximum(np.ceil(finer), 1).astype(np.int64)
    first = ragged.offsets_of(sides**2)
    counts = np.ones(int(first[-1]))
    if sides.max() > 1:
        owners, items = _visited_parts(real, grid, sides, first)
        counts = curator.histogram(items, owners, int(first[-1]), GRID / 2)
    shares = []
    for side, own in zip(sides, np.split(np.maximum(counts, 0.0), first[1:-1]), strict=True):
        own = own if own.sum() > 0 and side > 1 else np.ones(len(own))
        shares.append(np.cumsum(own) / own.sum())
    return sides, shares


def _visited_parts(real: Trajectories, grid: Grid, sides: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Return the distinct parts of cells that the points of each trajectory visit, with the number of the trajectory;
    cells that are not cut are left out."""
    (ox, oy), (sx, sy) = grid.origin, grid.step
    across, up = (real.x - ox) / sx, (real.y - oy) / sy
    i, j = (np.clip(axis.astype(np.int64), 0, grid.n - 1) for axis in (across, up))
    side = sides[i * grid.n + j]
    a, b = (
        np.clip(((axis - cell) * side).astype(np.int64), 0, side - 1) for axis, cell in ((across, i), (up, j))
    )
    cut, part = side > 1, first[i * grid.n + j] + a * side + b
    return np.divmod(np.unique((ragged.owners(real.offsets) * first[-1] + part)[cut]), first[-1])


def _moves(paths: CellPaths, curator: TrustedCurator) -> Floats:
    """Return the chain: each trajectory's moves weigh one together."""
    n = paths.grid.n
    to = _steps(paths)
    items = move_items(n)[8 * paths.cells[to - 1] + moves_of(paths)[to - 1] - 1]
    table = grid_moves(n)
    counts = curator.histogram(items, ragged.owners(paths.offsets)[to], len(table), MOVES)
    weights = np.zeros((paths.grid.cells, 8))
    weights[table[:, 0], table[:, 1]] = np.maximum(counts, 0.0)
    lost = weights.sum(axis=1) == 0
    weights[lost] = (move_items(n).reshape(-1, 8) >= 0)[lost]
    return weights / weights.sum(axis=1, keepdims=True)


def _trips(paths: CellPaths, curator: TrustedCurator) -> Floats:
    """Return how many trips have each pair of first and last cell, not below zero."""
    cells = paths.grid.cells
    items = paths.starts().astype(np.int64) * cells + paths.ends()
    counts = curator.histogram(items, np.arange(len(paths)), cells * cells, TRIPS)
    return on_simplex(counts).reshape(cells, cells)


def shortest(grid: Grid) -> Ints:
    """Return the number of moves of the shortest way between each pair of cells."""
    i, j = np.divmod(np.arange(grid.cells), grid.n)
    return np.maximum(np.abs(i[:, None] - i), np.abs(j[:, None] - j))


def _extras(paths: CellPaths, curator: TrustedCurator, most: int) -> Floats:
    """Return by how many cells trips exceed the shortest way: for each length, the law nearest to the noisy counts."""
    ways = shortest(paths.grid)[paths.starts(), paths.ends()]
    extra = np.clip(paths.sizes - 1 - ways, 0, most)
    rows = paths.grid.n
    counts = curator.histogram(
        ways * (most + 1) + extra, np.arange(len(paths)), rows * (most + 1), LENGTHS
    ).reshape(rows, most + 1)
    return np.array([_nearest_law(np.maximum(row, 0.0)) for row in counts])


def _nearest_law(counts: Floats) -> Floats:
    """Return the law (uniform, geometric or Poisson) with the mean of the counts that is nearest in earth mover's
    distance."""
    k = np.arange(len(counts))
    if counts.sum() <= 0:
        return np.eye(1, len(counts))[0]
    observed = counts / counts.sum()
    mean = float(observed @ k)
    uniform = (k <= 2 * mean).astype(np.float64)
    geometric = (mean / (1 + mean)) ** k
    poisson = np.exp(k * math.log(max(mean, 1e-9)) - np.array([math.lgamma(x + 1.0) for x in k]))
    laws = [law / law.sum() for law in (uniform, geometric, poisson)]
    return min(laws, key=lambda law: float(np.abs(np.cumsum(law - observed)).sum()))


def synthetic(features: Features, count: int, rng: np.random.Generator) -> Trajectories:
    """Draw trips from the published features: ends, a length, a bridge of the chain between the ends, and a point in
    each cell."""
    paths = _bridged(features, count, rng)
    if features.sensitive is not None:
        paths = shielded(paths, features.sensitive, lambda many: _bridged(features, many, rng))
    return _placed(paths, features, rng)


def _bridged(features: Features, count: int, rng: np.random.Generator) -> CellPaths:
    """Draw cell paths from the published features, in blocks."""
    grid = features.grid
    chain = (features.moves, onward(grid), features.ahead, grid.n)
    trips, extras = np.cumsum(features.trips), np.cumsum(features.extras, axis=1)
    ways, sources = shortest(grid), rng.spawn(max(1, -(-count // (1 << 15))))

    def bridge(number: int, start: int, stop: int) -> CellPaths:
        own = sources[number]
        pair = drawn(trips, stop - start, own)
        first, last = np.divmod(pair, grid.cells)
        way = ways[first, last]
        extra = (own.random(stop - start)[:, None] >= extras[way]).sum(axis=1)
        sizes = np.zeros(stop - start, dtype=np.int64)
        cells = _bridges(first, last, way + extra, chain, sizes, own)
        return CellPaths(cells, ragged.offsets_of(sizes), grid)

    parts = map_chunks(bridge, count)
    return CellPaths.concat(parts) if parts else CellPaths.from_lists([], grid)


def _placed(paths: CellPaths, features: Features, rng: np.random.Generator) -> Trajectories:
    """Draw a uniform point in a part of each cell; a path of one cell gets two points."""
    grid = paths.grid
    cells, offsets = cells_of_points(paths)
    side = features.sides[cells]
    part = np.zeros(len(cells), dtype=np.int64)
    for cell in np.flatnonzero(features.sides > 1):
        own = np.flatnonzero(cells == cell)
        part[own] = np.searchsorted(features.parts[cell], rng.random(len(own)), "right")
    return points_in_parts(grid, cells, np.minimum(part, side**2 - 1), side, offsets, rng)


@kernel
def _bridges(first, last, steps, chain, sizes, rng):  # type: ignore[no-untyped-def]
    """Draw each step by the chain, given the last cell and the number of steps left; straight on where the chain has no
    way."""
    moves, targets, ahead, n = chain
    cells, weights = np.empty(steps.sum() + len(steps), dtype=np.int32), np.empty(8)
    filled = 0
    for k in range(len(first)):
        here, begun = first[k], filled
        cells[filled] = here
        filled += 1
        for left in range(steps[k] - 1, -1, -1):
            total_weight = 0.0
            for d in range(8):
                weights[d] = 0.0
                if targets[here, d] >= 0:
                    weights[d] = moves[here, d] * ahead[left, targets[here, d], last[k]]
                total_weight += weights[d]
            if total_weight > 1e-9:
                u = rng.random() * total_weight
                d = 0
                while d < 7 and u >= weights[d]:
                    u -= weights[d]
                    d += 1
                while weights[d] <= 0.0:
                    d -= 1
                here = targets[here, d]
            else:
                i, j = _towards(here // n, last[k] // n), _towards(here % n, last[k] % n)
                if i * n + j == here:
                    break
                here = i * n + j
            cells[filled] = here
            filled += 1
        sizes[k] = filled - begun
    return cells[:filled]


NOTE = (
    "AdaTrace's differential privacy holds for the published trips, against readers who are not the curator. Of its "
    "further defences, those against Bayesian inference (sensitive) and outlier leakage (kappa) work on noisy counts "
    "here; that against partial sniffing reads the raw trajectories after epsilon is spent, which no proof covers, and "
    "is not used."
)
ADATRACE = central_method(
    "adatrace",
    "AdaTrace (CCS'18): noisy moves, trips and lengths, bridges of a Markov chain",
    lambda job, curator: learn(job.paths, job.real, curator, job.options),
    synthetic,
    note=NOTE,
    options=Options,
)
