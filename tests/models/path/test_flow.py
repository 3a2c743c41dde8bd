"""The passes over a large grid agree with the tables of a small one, and both fits with each other."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates
from ldptrace.models.fit import fit_potentials, judged
from ldptrace.models.path.components import components
from ldptrace.models.path.expectation import Expectation
from ldptrace.models.path.flow import Flow
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Layout
from ldptrace.models.path.model import longest, observed
from ldptrace.models.prior import Prior
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

ASKED = {"length": 1, "start": 1, "end": 1, "terminals": 2, "visits": 3, "moves": 3, "links": 4, "turns": 1}
LAND = np.array([True] * 20 + [False] * 2 + [True] * 3)


def models(land: np.ndarray | None = None) -> tuple[Expectation, Flow]:
    graph, lengths = MoveGraph(Grid((0, 0, 1, 1), 5), land), 9
    potentials = np.random.default_rng(4).normal(0, 0.6, Layout(graph.cells, graph.moves, lengths).size)
    return Expectation.at(graph, lengths, potentials), Flow.at(graph, lengths, potentials)


@pytest.mark.parametrize("land", [None, LAND], ids=["everywhere", "on land"])
def test_expected_answers_and_all_derivatives_are_those_of_the_tables(land: np.ndarray | None) -> None:
    tables, flow = models(land)
    rows, left = tables.jacobian(ASKED)
    products = flow.products(ASKED)
    direction = np.random.default_rng(5).normal(size=flow.layout.size)
    along = products.apply(direction)
    for name, expected in tables.answers(ASKED).items():
        np.testing.assert_allclose(flow.answers(ASKED)[name], expected, atol=1e-12)
        np.testing.assert_allclose(products.answers[name], expected, atol=1e-12)
        np.testing.assert_allclose(products.left[name], left[name], atol=1e-12)
        # Products are of single precision.
        np.testing.assert_allclose(along[name], rows[name] @ direction, atol=1e-5)
        values = np.random.default_rng(6).normal(size=len(expected))
        np.testing.assert_allclose(products.apply_transposed({name: values}), values @ rows[name], atol=1e-5)


@pytest.mark.slow
@pytest.mark.counted
def test_loops_are_nearly_exact_where_cells_share_a_pass() -> None:
    """A grid wider than the stride: other starts of the same pass disturb by a random sign."""
    graph = MoveGraph(Grid((0, 0, 1, 1), 17))
    zero = np.zeros(Layout(graph.cells, graph.moves, 6).size)
    exact = Expectation.at(graph, 6, zero)
    moments = exact._moments({"terminals": exact.length})["terminals"]
    np.testing.assert_allclose(Flow.at(graph, 6, zero).loops(), moments.start_and_end.diagonal(), rtol=0.05)


@pytest.mark.parametrize("question", list(ASKED))
def test_pools_number_every_answer_from_zero(question: str) -> None:
    _, flow = models()
    pool = flow.pools(question)
    assert len(pool) == len(flow.answers(ASKED)[question])
    assert np.array_equal(np.unique(pool), np.arange(pool.max() + 1))


@pytest.mark.slow
def test_both_ways_of_fitting_expect_the_same_answers() -> None:
    """Within the noise of the answers, from the same estimates."""
    grid, rng = Grid((0, 0, 1, 1), 6), np.random.default_rng(8)
    plan = Plan.single_report(grid, 1.0)
    estimates = Estimates.from_tally(plan, collect(plan, random_paths(40_000, grid, rng), rng))
    observations, graph = observed(estimates), MoveGraph(grid)
    layout = Layout(graph.cells, graph.moves, longest(estimates))
    prior, zero = Prior(components(graph, layout)), np.zeros(layout.size)
    dense = fit_potentials(Expectation.at(graph, layout.lengths, zero), prior, observations)
    told: list[int] = []
    free = fit_potentials(
        Flow.at(graph, layout.lengths, zero), prior, observations, lambda number, _: told.append(number)
    )
    assert dense.converged
    assert free.converged
    assert told == list(range(1, free.rounds + 1))
    for seen in observations:
        gap = (dense.expected[seen.name] - free.expected[seen.name]) / np.sqrt(seen.variances)
        assert np.sqrt(np.mean(gap**2)) < 0.35
    # Found by random signs, and no answer counts as known better than to 3 %.
    freedom = [judged(fit, prior, observations)[1] for fit in (dense, free)]
    assert freedom[1] == pytest.approx(freedom[0], rel=0.25)
