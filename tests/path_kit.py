"""All paths of a tiny grid with their probabilities, by enumeration: what the path model must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.tables import grid_moves
from ldptrace.models.path.network import Network
from ldptrace.models.path.statistics import Expectation, Layout, base_length
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import turn

Floats = NDArray[np.float64]


def random_expectation(n: int, lengths: int, rng: np.random.Generator, scale: float = 0.8) -> Expectation:
    network = Network(Grid((0.0, 0.0, 1.0, 1.0), n))
    size = Layout(network.cells, network.moves, lengths).size
    return Expectation.at(network, lengths, rng.normal(0, scale, size))


def moves_of(network: Network, path: tuple[int, ...]) -> list[int]:
    number = {(int(a), int(b)): e for e, (a, _, b) in enumerate(grid_moves(network.grid.n))}
    return [number[step] for step in pairwise(path)]


def turns_of(network: Network, path: tuple[int, ...]) -> list[int]:
    directions = network.direction[moves_of(network, path)].tolist()
    return [turn(before, after) for before, after in pairwise(directions)]


def all_paths(network: Network, cells: int) -> Iterator[tuple[int, ...]]:
    """All paths with so many cells."""
    if cells == 1:
        yield from ((cell,) for cell in range(network.cells))
        return
    for path in all_paths(network, cells - 1):
        for e in range(network.first[path[-1]], network.first[path[-1] + 1]):
            yield (*path, int(network.target[e]))


def probabilities(model: Expectation) -> dict[tuple[int, ...], float]:
    """Probability of every path, by its definition."""
    network, layout, x = model.network, model.layout, model.potentials
    out = np.diff(network.first)
    move = np.exp(x[layout.move]) / out[network.source]
    length = np.exp(x[layout.length] + base_length(network.grid.n, layout.lengths))
    length /= length.sum()
    chances: dict[tuple[int, ...], float] = {}
    for cells in range(1, layout.lengths + 1):
        weights = {}
        for path in all_paths(network, cells):
            weight = np.exp(x[layout.start][path[0]] + x[layout.end][path[-1]])
            weight *= np.prod(move[moves_of(network, path)])
            weights[path] = weight * np.exp(x[layout.turn][turns_of(network, path)].sum())
        total = sum(weights.values())
        chances |= {path: length[cells - 1] * weight / total for path, weight in weights.items()}
    return chances
