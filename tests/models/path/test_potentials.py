from __future__ import annotations

import numpy as np

from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout, base_length, shifted, weights_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import TURNS

GRAPH = MoveGraph(Grid((0, 0, 1, 1), 3))
LAYOUT = Layout(GRAPH.cells, GRAPH.moves, 7)


def test_the_kinds_of_potentials_fill_the_vector() -> None:
    places = [LAYOUT.start, LAYOUT.end, LAYOUT.move, LAYOUT.turn, LAYOUT.length]
    covered = np.concatenate([np.arange(LAYOUT.size)[place] for place in places])
    assert np.array_equal(covered, np.arange(LAYOUT.size))
    assert LAYOUT.turn.stop - LAYOUT.turn.start == TURNS


def test_without_potentials_a_path_is_a_random_walk() -> None:
    weights = weights_of(GRAPH, LAYOUT, np.zeros(LAYOUT.size))
    out = np.diff(GRAPH.first)
    assert np.allclose(weights.move, 1 / out[GRAPH.source])
    assert np.allclose(weights.step.sum(axis=1), 1.0)


def test_a_common_factor_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=LAYOUT.size)
    raised = x.copy()
    raised[LAYOUT.start] += 7.0
    assert np.allclose(weights_of(GRAPH, LAYOUT, x).start, weights_of(GRAPH, LAYOUT, raised).start)
    assert shifted(np.array([1.0, 1000.0])).max() == 0.0


def test_lengths_fall_off_with_the_size_of_the_grid() -> None:
    chance = np.exp(base_length(6, 200))
    mean = (chance * np.arange(200)).sum() / chance.sum()
    assert 0.5 * 6 < mean < 0.8 * 6
