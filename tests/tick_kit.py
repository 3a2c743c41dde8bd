"""Small streams, and RetraSyn's metrics of them written down once more, trip by trip."""

from __future__ import annotations

import itertools

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 8.0, 8.0), 4)


def ticking(many: int, seed: int, tick: float = 10.0, ticks: int = 40) -> Trajectories:
    """Trips with a point every tick that step about half a cell, begun at random ticks."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, many)
    first = rng.integers(0, ticks - sizes)
    first[0] = 0
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    step = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    places = []
    for _ in range(2):
        moves = rng.normal(0.3, 1.0, offsets[-1])
        moves[offsets[:-1]] = rng.uniform(0, 8, many)
        total = np.cumsum(moves)
        places.append(
            np.clip(total - np.repeat(total[offsets[:-1]] - moves[offsets[:-1]], sizes), 0.01, 7.99)
        )
    return Trajectories(places[0], places[1], offsets, t=tick * (step + np.repeat(first, sizes)))


def cells_of(trips: Trajectories, tick: float = 10.0) -> list[list[tuple[int, int]]]:
    """Each trip of a stream that has a point every tick as (cell, tick)."""
    assert trips.t is not None
    return [
        [
            (GRID.cell(trips.x[p], trips.y[p]), round(trips.t[p] / tick))
            for p in range(trips.offsets[k], trips.offsets[k + 1])
        ]
        for k in range(len(trips))
    ]


def jsd(first: dict[object, float], second: dict[object, float]) -> float:
    """As RetraSyn has it: smoothed by 1e-8, an empty side is a distribution of zeros."""
    total = 0.0
    sides = [
        {key: value / (sum(side.values()) or 1) for key, value in side.items()} for side in (first, second)
    ]
    for key in {**first, **second}:
        p, q = (side.get(key, 0.0) for side in sides)
        middle = (p + q) / 2
        total += 0.5 * p * np.log((p + 1e-8) / (middle + 1e-8))
        total += 0.5 * q * np.log((q + 1e-8) / (middle + 1e-8))
    return float(total)


def counted(items: list[object]) -> dict[object, float]:
    return {item: float(items.count(item)) for item in set(items)}


def density_error(real: Trajectories, synthetic: Trajectories, ticks: int) -> float:
    sides = [cells_of(trips) for trips in (real, synthetic)]
    return float(
        np.mean(
            [
                jsd(*(counted([c for path in side for c, t in path if t == tick]) for side in sides))
                for tick in range(ticks)
            ]
        )
    )


def transition_error(real: Trajectories, synthetic: Trajectories, ticks: int) -> float:
    sides = [cells_of(trips) for trips in (real, synthetic)]

    def moves(side: list[list[tuple[int, int]]], tick: int) -> list[object]:
        return [(a, b) for path in side for (a, t), (b, _) in itertools.pairwise(path) if t == tick]

    return float(np.mean([jsd(*(counted(moves(side, tick)) for side in sides)) for tick in range(ticks - 1)]))


def patterns(trips: Trajectories, first: int, last: int) -> dict[object, float]:
    """How often pieces of 2 to 5 positions occur within ticks, as RetraSyn mines them."""
    found: list[object] = []
    for path in cells_of(trips):
        for size in range(2, 6):
            if size > last - first:
                break
            for i in range(len(path) - size + 1):
                piece = path[i : i + size]
                cells = tuple(cell for cell, _ in piece)
                if piece[0][1] < first or piece[-1][1] > last:
                    continue
                if size > 2 and any(a == b for a, b in itertools.pairwise(cells)):
                    continue
                found.append(cells)
    return counted(found)
