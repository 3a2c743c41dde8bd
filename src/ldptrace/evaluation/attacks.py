"""The two attacks of section 6.8 of the paper, as resilience ratios. Pure noise also resists every attack, so each
attack is also run on other real trajectories, which stand for a perfect synthetic set, and on uniform random walks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import scale_of
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.distances import count_near, largest_distance, travel_distances
from ldptrace.evaluation.queries import resample
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid

KAPPAS = tuple(range(2, 11))
# As in AdaTrace, which the paper follows: the 200 trajectories farthest from their 50th neighbour.
OUTLIERS, NEIGHBOURS = 200, 50
SAME_ZONE, SAME_DISTANCE = 0.2, 0.25


# How many trajectories were attacked, and the share of them with more than kappa matches, for each kappa in `KAPPAS`.
Resilience = dict[str, Any]


def resilience_of(matches: Ints) -> Resilience:
    """Return the number of attacked trajectories, and the share of them with more than kappa matches for each kappa
    (undefined if none is attacked).

    >>> resilience_of(np.array([0, 5, 11]))["resilience"][:4]
    [0.6666666666666666, 0.6666666666666666, 0.6666666666666666, 0.3333333333333333]
    """
    ratios = [float(np.mean(matches > kappa)) if len(matches) else math.nan for kappa in KAPPAS]
    return {"attacked": len(matches), "resilience": ratios}


# An attack on a published set; without one, on the other real trajectories, as if those had been published.
Attack = Callable[[Trajectories | None], Resilience]


def reidentification(real: Trajectories, grid: Grid) -> tuple[float, Attack]:
    """Prepare the attack of somebody who has seen users in the sensitive zone and looks for them among the published
    trajectories. Return its threshold, and the attack.

    Every real trajectory that enters the 2 x 2 central cells is attacked with its points there. A published trajectory
    matches if the DTW distance of its own points there is at most the threshold: 0.2 of the largest distance between
    real trajectories.
    """
    visits = zone_visits(real, grid)
    threshold = SAME_ZONE * largest_distance(visits) if len(visits) else 0.0

    def attack(published: Trajectories | None) -> Resilience:
        others = visits if published is None else zone_visits(published, grid)
        return resilience_of(count_near(visits, others, threshold, max(KAPPAS) + 1, itself=published is None))

    return threshold, attack


def outlier(real: Trajectories, grid: Grid) -> tuple[float, Attack]:
    """Prepare the attack of somebody who picks out conspicuous published trajectories and looks for the real ones
    behind them. Return its threshold, and the attack.

    The attack uses the 200 trajectories whose travel distance is farthest from that of their 50th neighbour. A real
    trajectory matches if its travel distance differs by at most the threshold: 0.25 of the largest difference between
    real trajectories.
    """
    distances = np.sort(travel_distances(real, scale_of(grid.bounds, real.crs)))
    threshold = SAME_DISTANCE * float(np.ptp(distances)) if len(distances) else 0.0

    def attack(published: Trajectories | None) -> Resilience:
        lengths = distances
        if published is not None:
            lengths = travel_distances(published, scale_of(grid.bounds, published.crs))
        attacked = outliers(lengths)
        above = np.searchsorted(distances, attacked + threshold, side="right")
        matches = above - np.searchsorted(distances, attacked - threshold, side="left")
        return resilience_of(matches - (published is None))

    return threshold, attack


ATTACKS = {"reidentification": reidentification, "outlier": outlier}


def run_attacks(
    grid: Grid, real: Trajectories, published: Sequence[Trajectories], walks: Trajectories
) -> list[dict[str, Any]]:
    """Run both attacks on every published set, and beside it on the other real trajectories and on random walks."""
    results: list[dict[str, Any]] = [{} for _ in published]
    for name, prepared in ATTACKS.items():
        threshold, attack = prepared(real, grid)
        fresh, uniform = attack(None), attack(walks)
        for result, item in zip(results, published, strict=True):
            result[name] = {
                "kappa": list(KAPPAS),
                "threshold": threshold,
                "synthetic": attack(item),
                "fresh_real": fresh,
                "uniform": uniform,
            }
    return results


def zone_visits(trajectories: Trajectories, grid: Grid) -> Trajectories:
    """Return the points of each trajectory in the 2 x 2 central cells, in metres if coordinates are degrees.
    Trajectories without such points are omitted.

    >>> line = Trajectories.from_lists([[(0.5, 0.5), (1.5, 1.5), (2.5, 2.5), (3.5, 3.5)], [(0.5, 3.5)]])
    >>> zone_visits(line, Grid((0, 0, 4, 4), 4)).x.tolist()
    [1.5, 2.5]
    """
    first = (grid.n - 1) // 2
    inside = np.ones(trajectories.points, dtype=bool)
    for values, origin, step in zip((trajectories.x, trajectories.y), grid.origin, grid.step, strict=True):
        # A point on a border belongs to the lower cell, one outside the map to the nearest.
        if first > 0:
            inside &= values > origin + step * first
        if first + 2 < grid.n:
            inside &= values <= origin + step * (first + 1) + step
    kx, ky = scale_of(grid.bounds, trajectories.crs)
    sizes = np.diff(ragged.kept(trajectories.offsets, inside))
    return Trajectories(
        trajectories.x[inside] * kx, trajectories.y[inside] * ky, ragged.offsets_of(sizes[sizes > 0])
    )


def outliers(distances: Floats) -> Floats:
    """Return the travel distances that are farthest from their 50th neighbour, at most 200.

    >>> outliers(np.concatenate((np.zeros(300), [9.0])))[:2].tolist()
    [9.0, 0.0]
    """
    ordered = np.sort(distances)
    near = min(NEIGHBOURS, len(ordered) - 1)
    radius = np.full(len(ordered), np.inf)
    # The nearest neighbours of a value are a run of the ordered values that begins up to `near` places before it.
    for back in range(near + 1):
        at = np.arange(back, len(ordered) - near + back)
        before, after = ordered[at] - ordered[at - back], ordered[at - back + near] - ordered[at]
        radius[at] = np.minimum(radius[at], np.maximum(before, after))
    return ordered[np.argsort(-radius, kind="stable")[:OUTLIERS]]


def uniform_walks(
    sizes: Ints, grid: Grid, rng: np.random.Generator, *, crs: str | None = None
) -> Trajectories:
    """Draw random walks of the given numbers of cells, with uniform starts, moves and points."""
    offsets = ragged.offsets_of(sizes)
    cells = np.empty(offsets[-1], dtype=np.int32)
    _walk(rng, offsets, grid.n, cells)
    x, y = resample(CellPaths(cells, offsets, grid), rng)
    return Trajectories(x, y, ragged.offsets_of(np.where(sizes == 1, 2, sizes)), crs=crs)


_DI, _DJ = np.array(lattice.DIRECTION_DI), np.array(lattice.DIRECTION_DJ)


@kernel
def _walk(rng, offsets, n, cells):  # type: ignore[no-untyped-def]
    for k in range(len(offsets) - 1):
        i = j = 0
        for p in range(offsets[k], offsets[k + 1]):
            if p == offsets[k]:
                i, j = rng.integers(0, n), rng.integers(0, n)
            else:
                move = rng.integers(0, 8)
                while not (0 <= i + _DI[move] < n and 0 <= j + _DJ[move] < n):
                    move = rng.integers(0, 8)
                i, j = i + _DI[move], j + _DJ[move]
            cells[p] = i * n + j
