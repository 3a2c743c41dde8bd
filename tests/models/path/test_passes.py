from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.passes import NEIGHBOURS, backward_pass, forward_pass, shifts
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import turn
from path_kit import all_paths, moves_of, turns_of

LENGTHS = 4


def tables(graph: MoveGraph, weight: np.ndarray) -> np.ndarray:
    """Weights of moves by direction and cell, 0 where a move would leave the map."""
    move = np.zeros((8, graph.cells))
    move[graph.direction, graph.source] = weight
    return move


def test_directions_are_paired_with_those_at_equal_turns() -> None:
    for direction in range(8):
        assert [turn(int(other), direction) for other in NEIGHBOURS[direction]] == [0, 1, 1, 2, 2, 3, 3, 4]
        assert sorted(NEIGHBOURS[direction]) == list(range(8))


def test_shifts_lead_from_the_source_to_the_target() -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), 4))
    np.testing.assert_array_equal(graph.source + shifts(4)[graph.direction], graph.target)


@pytest.mark.parametrize("n", [2, 3])
def test_sums_over_all_paths_from_both_ends(n: int, rng: np.random.Generator) -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), n))
    start, end = rng.random((2, graph.cells))
    weight, bend = rng.random(graph.moves), rng.random(5)
    move, shift = tables(graph, weight), shifts(n)
    forward, scale, sums = np.zeros((LENGTHS, 8, graph.cells)), np.ones(LENGTHS), np.zeros(LENGTHS)
    forward_pass(start, move, bend, end, shift, forward, scale, sums)
    wanted = np.zeros(LENGTHS)
    for moves in range(LENGTHS):
        for path in all_paths(graph, moves + 1):
            product = start[path[0]] * end[path[-1]] * np.prod(weight[moves_of(graph, path)])
            wanted[moves] += product * np.prod(bend[turns_of(graph, path)])
    np.testing.assert_allclose(sums * np.cumprod(scale), wanted)
    # Every vector is divided by its sum.
    np.testing.assert_allclose(forward[1:].sum(axis=(1, 2)), 1)
    # From the end: whatever position is looked at, the sum over longer paths is the same.
    share = rng.random(LENGTHS)
    backward = np.zeros_like(forward)
    backward_pass(move, bend, end, shift, scale, share, backward)
    for k in range(1, LENGTHS):
        np.testing.assert_allclose((forward[k] * backward[k]).sum(), (share * sums)[k:].sum())
