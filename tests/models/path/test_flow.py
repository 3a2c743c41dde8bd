"""Expected answers and all derivatives against enumeration of the paths of a tiny grid."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.flow import Flow
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.protocol.grid import Grid
from path_kit import moves_of, probabilities, random_flow

ASKED = {"length": 1, "start": 1, "end": 1, "terminals": 2, "visits": 3, "moves": 3, "links": 4, "turns": 1}
ALL = ASKED | {"pairs": 1, "bends": 2}
LAND = np.array([True, True, False, True, False, False, False, False, True])


@pytest.mark.parametrize(("n", "lengths"), [(2, 1), (2, 2), (3, 6)])
def test_derivatives_are_those_of_the_answers(n: int, lengths: int, rng: np.random.Generator) -> None:
    model = random_flow(n, lengths, rng)
    products = model.products(ALL)
    direction, step = rng.normal(size=model.layout.size), 1e-5
    more, less = (model.moved(sign * step * direction).answers(ALL) for sign in (1, -1))
    along = products.apply(direction)
    for name in ALL:
        slope = (more[name] - less[name]) / (2 * step) * products.left[name]
        # Products are of single precision.
        np.testing.assert_allclose(along[name], slope, atol=1e-5, err_msg=name)
        values = rng.normal(size=len(slope))
        found = products.apply_transposed({name: values}) @ direction
        np.testing.assert_allclose(found, values @ along[name], atol=1e-5, err_msg=name)


def test_closed_cells_are_never_visited(rng: np.random.Generator) -> None:
    # Two parts that do not touch: an angle of three cells and a corner of its own.
    model = random_flow(3, 4, rng, land=LAND)
    visits = model.answers(ALL)["visits"]
    wanted = np.zeros(9)
    for path, chance in probabilities(model).items():
        np.add.at(wanted, list(path), chance * min(1, 3 / len(path)))
    np.testing.assert_allclose(visits, wanted, atol=1e-12)
    assert not visits[~LAND].any()


def test_steps_back_and_forth_are_exact(rng: np.random.Generator) -> None:
    model = random_flow(2, 5, rng)
    graph = model.graph
    returns, repeats, loops = np.zeros(graph.moves), np.zeros(graph.moves), np.zeros(graph.cells)
    for path, chance in probabilities(model).items():
        moves = moves_of(graph, path)
        share = chance * ANSWERS["moves"].joint_inclusion(2, np.array([float(len(moves))]))[0]
        for here, there in pairwise(moves):
            returns[here] += share * (there == graph.reverse[here])
        for here, between, there in zip(moves, moves[1:], moves[2:], strict=False):
            repeats[here] += share * (between == graph.reverse[here] and there == here)
        loops[path[0]] += chance * (path[0] == path[-1])
    np.testing.assert_allclose(model.lost("links", 2), graph.by_link(returns), atol=1e-12)
    np.testing.assert_allclose(model.lost("moves", 2), repeats, atol=1e-12)
    np.testing.assert_allclose(model.lost("terminals", 2), loops, atol=1e-12)


@pytest.mark.slow
def test_loops_are_nearly_exact_where_cells_share_a_pass() -> None:
    """A grid wider than the stride: other starts of the same pass disturb by a random sign."""
    graph = MoveGraph(Grid((0, 0, 1, 1), 17))
    zero = np.zeros(Layout(graph.cells, graph.moves, 6).size)
    found = Flow.at(graph, Layout(graph.cells, graph.moves, 6), zero).loops()
    # Each cell in a district of its own: the pairs of a cell with itself.
    alone = Layout(graph.cells, graph.moves, 6, 17)
    exact = Flow.at(graph, alone, np.zeros(alone.size)).answers({"pairs": 1})["pairs"]
    np.testing.assert_allclose(found, exact.reshape(289, 289).diagonal(), rtol=0.05)


@pytest.mark.parametrize("question", list(ALL))
def test_pools_number_every_answer_from_zero(question: str, rng: np.random.Generator) -> None:
    model = random_flow(5, 9, rng)
    pool = model.pools(question)
    assert len(pool) == len(model.answers(ALL)[question])
    assert np.array_equal(np.unique(pool), np.arange(pool.max() + 1))


def test_large_potentials_stay_finite(rng: np.random.Generator) -> None:
    for answer in random_flow(4, 60, rng, scale=20.0).answers(ALL).values():
        assert np.all(np.isfinite(answer))
        assert np.all(answer >= 0)
