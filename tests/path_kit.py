"""All paths of a tiny grid with their probabilities, by enumeration: what the path model must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.paths import districts_of, grid_moves
from ldptrace.models.path.flow import Flow
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout, base_length
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_item, turn

Floats = NDArray[np.float64]


def random_flow(
    n: int,
    lengths: int,
    rng: np.random.Generator,
    scale: float = 0.8,
    land: NDArray[np.bool_] | None = None,
    districts: int = 2,
) -> Flow:
    """A model with random potentials, those of pairs and bends included."""
    graph = MoveGraph(Grid((0.0, 0.0, 1.0, 1.0), n), land)
    layout = Layout(graph.cells, graph.moves, lengths, districts, graph.bends)
    return Flow.at(graph, layout, rng.normal(0, scale, layout.size))


def moves_of(graph: MoveGraph, path: tuple[int, ...]) -> list[int]:
    number = {(int(a), int(b)): e for e, (a, _, b) in enumerate(grid_moves(graph.grid.n))}
    return [number[step] for step in pairwise(path)]


def turns_of(graph: MoveGraph, path: tuple[int, ...]) -> list[int]:
    directions = graph.direction[moves_of(graph, path)].tolist()
    return [turn(before, after) for before, after in pairwise(directions)]


def bends_of(graph: MoveGraph, path: tuple[int, ...]) -> list[int]:
    return [bend_item(*cells, graph.grid.n) for cells in zip(path, path[1:], path[2:], strict=False)]


def pair_of(model: Flow, path: tuple[int, ...]) -> int:
    k = model.layout.districts
    district = districts_of(model.graph.grid.n, k)
    return int(district[path[0]] * k**2 + district[path[-1]])


def all_paths(graph: MoveGraph, cells: int) -> Iterator[tuple[int, ...]]:
    """All paths with so many cells, on land where there is water."""
    dry = np.ones(graph.cells, dtype=bool) if graph.land is None else graph.land
    if cells == 1:
        yield from ((cell,) for cell in range(graph.cells) if dry[cell])
        return
    for path in all_paths(graph, cells - 1):
        for e in range(graph.first[path[-1]], graph.first[path[-1] + 1]):
            if dry[graph.target[e]]:
                yield (*path, int(graph.target[e]))


def probabilities(model: Flow) -> dict[tuple[int, ...], float]:
    """Probability of every path, by its definition."""
    graph, layout, x = model.graph, model.layout, model.potentials
    dry = np.ones(graph.cells, dtype=bool) if graph.land is None else graph.land
    out = np.bincount(graph.source, weights=dry[graph.source] & dry[graph.target], minlength=graph.cells)
    move = np.exp(x[layout.move]) / np.maximum(out, 1)[graph.source]
    length = np.exp(x[layout.length] + base_length(graph.grid.n, layout.lengths))
    length /= length.sum()
    chances: dict[tuple[int, ...], float] = {}
    for cells in range(1, layout.lengths + 1):
        weights = {}
        for path in all_paths(graph, cells):
            weight = np.exp(x[layout.start][path[0]] + x[layout.end][path[-1]])
            weight *= np.prod(move[moves_of(graph, path)])
            weight *= np.exp(x[layout.turn][turns_of(graph, path)].sum())
            weight *= np.exp(x[layout.bend][bends_of(graph, path)].sum())
            weights[path] = weight * np.exp(x[layout.pair][pair_of(model, path)])
        total = sum(weights.values())
        chances |= {path: length[cells - 1] * weight / total for path, weight in weights.items()}
    return chances
