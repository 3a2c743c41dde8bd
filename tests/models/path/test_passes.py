from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.graph import TURN, MoveGraph
from ldptrace.models.path.passes import backward_pass, forward_pass, shifts
from ldptrace.protocol.grid import Grid
from path_kit import all_paths, moves_of, turns_of

LENGTHS, GROUPS = 4, 2


def test_shifts_lead_from_the_source_to_the_target() -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), 4))
    np.testing.assert_array_equal(graph.source + shifts(4)[graph.direction], graph.target)


@pytest.mark.parametrize("n", [2, 3])
def test_sums_over_all_paths_from_both_ends(n: int, rng: np.random.Generator) -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), n))
    start, end = rng.random((2, GROUPS, graph.cells))
    weight, bend = rng.random(graph.moves), rng.random(5)
    move, shift = graph.leaving(weight), shifts(n)
    step = bend[TURN][:, :, None] * move[:, None]
    forward, scale, sums = (
        np.zeros((LENGTHS, GROUPS, 8, graph.cells)),
        np.ones(LENGTHS),
        np.zeros(LENGTHS),
    )
    forward_pass(start, move, step, end, shift, forward, scale, sums)
    wanted = np.zeros(LENGTHS)
    for moves in range(LENGTHS):
        for path in all_paths(graph, moves + 1):
            product = start[:, path[0]] @ end[:, path[-1]] * np.prod(weight[moves_of(graph, path)])
            wanted[moves] += product * np.prod(bend[turns_of(graph, path)])
    np.testing.assert_allclose(sums * np.cumprod(scale), wanted)
    # Every vector is divided by its sum.
    np.testing.assert_allclose(forward[1:].sum(axis=(1, 2, 3)), 1)
    # From the end: whatever position is looked at, the sum over longer paths is the same.
    share = rng.random(LENGTHS)
    backward = np.zeros_like(forward)
    backward_pass(step, end, shift, scale, share, backward)
    for k in range(1, LENGTHS):
        np.testing.assert_allclose((forward[k] * backward[k]).sum(), (share * sums)[k:].sum())
