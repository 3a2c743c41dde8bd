from __future__ import annotations

import numpy as np

from ldptrace.core.paths import districts_of
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import (
    LONGEST,
    Features,
    Layout,
    Weights,
    base_length,
    shifted,
    with_tail,
)
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import TURNS

GRAPH = MoveGraph(Grid((0, 0, 1, 1), 3))
LAYOUT = Layout(GRAPH.cells, GRAPH.moves, 7, 2, GRAPH.bends)


def test_the_kinds_of_potentials_fill_the_vector() -> None:
    kinds = ("start", "end", "move", "turn", "length", "pair", "bend")
    covered = np.concatenate([np.arange(LAYOUT.size)[getattr(LAYOUT, kind)] for kind in kinds])
    assert np.array_equal(covered, np.arange(LAYOUT.size))
    assert LAYOUT.turn.stop - LAYOUT.turn.start == TURNS
    assert Layout(GRAPH.cells, GRAPH.moves, 7).size == LAYOUT.pair.start


def test_without_potentials_a_path_is_a_random_walk() -> None:
    weights = Weights.of(GRAPH, LAYOUT, np.zeros(LAYOUT.size))
    out = np.diff(GRAPH.first)
    np.testing.assert_allclose(weights.move.sum(axis=0), 1.0)
    np.testing.assert_allclose(weights.move[GRAPH.direction, GRAPH.source], 1 / out[GRAPH.source])
    np.testing.assert_allclose(weights.step.sum(axis=0), 1.0)


def test_a_path_begins_in_the_district_of_its_first_cell() -> None:
    weights = Weights.of(GRAPH, LAYOUT, np.random.default_rng(1).normal(size=LAYOUT.size))
    assert np.array_equal(np.argmax(weights.start > 0, axis=0), districts_of(3, 2))
    assert ((weights.start > 0).sum(axis=0) == 1).all()


def test_gathering_is_the_transpose_of_what_a_path_adds_up(rng: np.random.Generator) -> None:
    x = rng.normal(size=LAYOUT.size)
    x[LAYOUT.length] = 0
    along, features = LAYOUT.along(GRAPH, x), rng.random((2, LAYOUT.features.size))
    # A bend off the grid is none, so nothing can count it.
    features[:, LAYOUT.features.bend] *= GRAPH.bend.ravel() >= 0
    np.testing.assert_allclose(LAYOUT.gathered(GRAPH, features) @ x, features @ along)


def test_features_fill_the_vector() -> None:
    features = Features(GRAPH.cells, GRAPH.moves, 2)
    kinds = ("start", "end", "move", "bend", "pair")
    covered = np.concatenate([np.arange(features.size)[getattr(features, kind)] for kind in kinds])
    assert np.array_equal(covered, np.arange(features.size))
    # Without districts there is one pair.
    assert Features(GRAPH.cells, GRAPH.moves).size == features.pair.start + 1


def test_a_common_factor_changes_nothing() -> None:
    x = np.random.default_rng(1).normal(size=LAYOUT.size)
    raised = x.copy()
    raised[LAYOUT.start] += 7.0
    assert np.allclose(Weights.of(GRAPH, LAYOUT, x).start, Weights.of(GRAPH, LAYOUT, raised).start)
    assert shifted(np.array([1.0, 1000.0])).max() == 0.0


def test_lengths_fall_off_with_the_size_of_the_grid() -> None:
    chance = np.exp(base_length(6, 200))
    mean = (chance * np.arange(200)).sum() / chance.sum()
    assert 0.5 * 6 < mean < 0.8 * 6


def test_the_last_length_is_divided_among_longer_paths() -> None:
    """Lengths that become rarer at one rate are known from the first of them; how many are long does not change."""
    law = 0.1 * 0.9 ** np.arange(1000)
    capped = np.append(law[:19], law[19:].sum())
    found = with_tail(capped)
    np.testing.assert_allclose(found.sum(), 1)
    np.testing.assert_allclose(found[19:].sum(), capped[19])
    np.testing.assert_allclose(found[:40], law[:40], rtol=0.1)
    assert len(found) <= LONGEST * len(capped)


def test_lengths_stay_where_hardly_any_path_is_longer() -> None:
    for length in ([1.0], [0.3, 0.7 - 1e-4, 1e-4], [0.5, 0.5, 0.0]):
        assert np.array_equal(with_tail(np.array(length)), length)
    assert np.isfinite(with_tail(np.array([0.0, 0.0, 1.0]))).all()
