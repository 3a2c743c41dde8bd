"""DPT (He, Cormode, Machanavajjhala, Procopiuc, Srivastava, VLDB'15): prefix trees on grids for each speed.

Every trip is described on the finest of several grids on which a step to the next point is at most a cell, so slow
trips have small cells and fast ones large cells. On each grid a tree counts, with noise, where trips start, which move
follows in a cell, and which move follows a move; a branch that is below its noise is cut. Where the tree ends, a move
is drawn by its own count and by how well it keeps the direction.

It needs a trusted curator. The published description takes bounds and speeds from the data; here bounds and grids are
public, every count has exact noise, and the trip's grid is counted with noise, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, grown
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid
from ldptrace.simulation.answers import moves_of
from ldptrace_lab.central.curator import TrustedCurator, central_method, on_simplex, onward

# Shares of epsilon: which grid, where trips start, moves by cell, moves by cell and last move.
GRIDS, STARTS, MOVES, PAIRS = Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)
# Times as many cells a side from one grid to the next finer one, and how many grids there are.
FINER, LEVELS = 2, 3
# Eight moves and the end; eight last moves and the start.
NEXT = 9
# A branch with fewer standard deviations of its noise than this is cut.
CUT = 2.0
LONGEST = 400
# Of each turn in steps of 45 degrees: (1 + cos) / 2, and a little.
KEEPS = tuple(0.05 + 0.95 * (1 + np.cos(np.pi * turn / 4)) / 2 for turn in range(lattice.TURNS))

_turn = kernel(lattice.turn)


@dataclass(frozen=True, eq=False)
class Tree:
    """What the curator publishes of the trips on one grid; synthesis reads nothing else.

    `share` of all trips is on it. `moves` has a row of nine weights for each cell; `pairs` one for each cell and last
    move, all zero where the branch was cut.
    """

    grid: Grid
    share: float
    starts: Floats
    moves: Floats
    pairs: Floats


def learn(real: Trajectories, grid: Grid, curator: TrustedCurator) -> list[Tree]:
    """Return all trees; this spends all of epsilon. A trip is on one grid, so all grids share each histogram."""
    real = real.take(real.sizes > 0)
    grids = [Grid(grid.bounds, grid.n * FINER**level) for level in range(LEVELS)]
    level = grid_of(real, grids)
    shares = on_simplex(curator.histogram(level, np.arange(len(real)), LEVELS, GRIDS))
    first = ragged.offsets_of(np.array([each.cells for each in grids]))
    counted = [_counted(real, level == number, grids[number], first[number]) for number in range(LEVELS)]
    total, kinds = int(first[-1]), []
    for kind, (domain, share) in enumerate(((1, STARTS), (NEXT, MOVES), (NEXT * NEXT, PAIRS))):
        items, owners = (np.concatenate([part[kind][side] for part in counted]) for side in (0, 1))
        kinds.append(curator.histogram(items, owners, total * domain, share))
    noise = np.sqrt(2.0 * NEXT) * curator.sensitivity / float(curator.epsilon * PAIRS)
    trees = []
    for number, each in enumerate(grids):
        own = slice(first[number], first[number + 1])
        moves = np.maximum(kinds[1].reshape(total, NEXT)[own], 0.0)
        pairs = kinds[2].reshape(total, NEXT, NEXT)[own]
        pairs = np.where(pairs.sum(axis=2, keepdims=True) > CUT * noise, np.maximum(pairs, 0.0), 0.0)
        inside = np.c_[onward(each) >= 0, np.ones(each.cells)]
        part, starts = float(shares[number] / shares.sum()), on_simplex(kinds[0][own])
        trees.append(Tree(each, part, starts, moves * inside, pairs * inside[:, None, :]))
    return trees


def grid_of(real: Trajectories, grids: list[Grid]) -> Ints:
    """Return the finest grid on which the mean step of a trip is at most a cell; the coarsest if none is."""
    x, y = (np.abs(np.diff(axis, prepend=axis[:1])) for axis in (real.x, real.y))
    x[real.offsets[:-1]] = y[real.offsets[:-1]] = 0.0
    steps = np.maximum(real.sizes - 1, 1)
    wide, high = (
        np.add.reduceat(axis, real.offsets[:-1]) / steps if len(steps) else steps for axis in (x, y)
    )
    level = np.zeros(len(real), dtype=np.int64)
    for number, each in enumerate(grids):
        level[(wide <= each.step[0]) & (high <= each.step[1])] = number
    return level


def _counted(
    real: Trajectories, mine: np.ndarray[tuple[int], np.dtype[np.bool_]], grid: Grid, first: int
) -> list[tuple[Ints, Ints]]:
    """Return starts, moves and pairs of moves of the trips on one grid as items, each with the numbers of its trips."""
    who = np.flatnonzero(mine)
    paths = CellPaths.from_trajectories(real.take(who), grid)
    here = first + paths.cells.astype(np.int64)
    # The move out of each cell and the move into it; 8 is the end, and the start.
    following = (moves_of(paths) - 1) % NEXT
    last = np.where(ragged.first_values(paths.offsets), 8, np.roll(following, 1))
    owners = np.repeat(who, paths.sizes)
    moves, pairs = here * NEXT + following, (here * NEXT + last) * NEXT + following
    return [(here[paths.offsets[:-1]], who), (moves, owners), (pairs, owners)]


def synthetic(trees: list[Tree], count: int, rng: np.random.Generator) -> Trajectories:
    """Draw trips from all grids in proportion to their shares, in random order."""
    many = rng.multinomial(count, [tree.share for tree in trees])
    parts = [_drawn(tree, int(each), rng) for tree, each in zip(trees, many, strict=True)]
    return Trajectories.concat(parts).take(rng.permutation(count))


def _drawn(tree: Tree, count: int, rng: np.random.Generator) -> Trajectories:
    starts = rng.choice(len(tree.starts), count, p=tree.starts / tree.starts.sum())
    sizes = np.zeros(count, dtype=np.int64)
    cells = _walks(starts, onward(tree.grid), tree.moves, tree.pairs, np.array(KEEPS), sizes, rng)
    return place(CellPaths(cells, ragged.offsets_of(sizes), tree.grid), rng)


@kernel
def _walks(starts, targets, moves, pairs, keeps, sizes, rng):  # type: ignore[no-untyped-def]
    cells = np.empty(16 * len(starts) + LONGEST, dtype=np.int32)
    weights = np.empty(NEXT)
    filled = 0
    for k in range(len(starts)):
        while filled + LONGEST > len(cells):
            cells = grown(cells)
        here, last, size = starts[k], 8, 0
        while size < LONGEST:
            cells[filled + size] = here
            size += 1
            weights[:] = pairs[here, last]
            known = weights.sum()
            if known <= 0.0:
                for d in range(NEXT):
                    weights[d] = moves[here, d]
                    if d < 8 and last < 8:
                        weights[d] *= keeps[_turn(last, d)]
                    known += weights[d]
            u = rng.random() * known
            d = 0
            while d < NEXT - 1 and u >= weights[d]:
                u -= weights[d]
                d += 1
            if d == NEXT - 1 or weights[d] <= 0.0:
                break
            here, last = targets[here, d], d
        filled += size
        sizes[k] = size
    return cells[:filled].copy()


NOTE = "DPT's differential privacy holds for the published trips, against readers who are not the curator."
DPT = central_method(
    "dpt",
    "DPT (VLDB'15): noisy prefix trees on grids for each speed",
    lambda job, curator: learn(job.real, job.grid, curator),
    synthetic,
    note=NOTE,
)
