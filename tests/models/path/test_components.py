from __future__ import annotations

import numpy as np
from scipy import sparse

from ldptrace.models.path.components import components
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import Prior
from ldptrace.protocol.grid import Grid

GRAPH = MoveGraph(Grid((0, 0, 1, 1), 4))
LAYOUT = Layout(GRAPH.cells, GRAPH.moves, 9, 2, GRAPH.bends)
COMPONENTS = {component.name: component for component in components(GRAPH, LAYOUT)}


def dense(name: str) -> np.ndarray:
    basis = COMPONENTS[name].basis
    return basis.toarray() if sparse.issparse(basis) else np.asarray(basis)


def test_every_potential_has_a_component_of_its_own() -> None:
    prior = Prior(list(COMPONENTS.values()))
    variances = np.array([component.variance for component in prior.components])
    assert np.isfinite(prior.root(variances).pull(np.ones(LAYOUT.size))).all()


def test_a_link_is_both_directions_of_a_step() -> None:
    link = dense("link")[LAYOUT.move]
    for move in range(GRAPH.moves):
        assert np.array_equal(link[move], link[GRAPH.reverse[move]])


def test_terminals_move_starts_and_ends_alike() -> None:
    terminals = dense("terminals")
    assert np.array_equal(terminals[LAYOUT.start], terminals[LAYOUT.end])
    assert not terminals[LAYOUT.move].any()


def test_neighbours_are_alike_in_the_smooth_components() -> None:
    smooth = dense("popularity, smooth")[LAYOUT.start]
    covariance = smooth @ smooth.T
    assert covariance[0, 1] > covariance[0, 2] > covariance[0, 15]


def test_parts_of_a_question_are_held_at_zero_where_nobody_was_asked() -> None:
    needed = {name: c.needs for name, c in COMPONENTS.items() if c.needs}
    assert needed.pop("turn") == "turns"
    assert set(needed.values()) == {"pairs", "bends"}
    asked = Layout(GRAPH.cells, GRAPH.moves, 9)
    assert set(COMPONENTS) - {component.name for component in components(GRAPH, asked)} == set(needed)


def test_a_pair_and_its_way_back_are_alike() -> None:
    both = dense("pairs, both ways")[LAYOUT.pair].reshape(4, 4, -1)
    assert np.array_equal(both, both.swapaxes(0, 1))
    assert ((both > 0).sum(axis=2) == 1).all()


def test_bends_of_one_shape_are_alike_anywhere() -> None:
    shape = dense("bend, shape")[LAYOUT.bend]
    same = shape @ shape.T > 0
    assert np.array_equal(same, np.equal.outer(GRAPH.bend_shape, GRAPH.bend_shape))
    near = dense("bend, smooth")[LAYOUT.bend]
    assert not (near @ near.T)[~same].any()
