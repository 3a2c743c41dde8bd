from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.figures import (
    blocks,
    cell_edges,
    pattern_table,
    portrait,
    street_lines,
)
from ldptrace.evaluation.sets import measured
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork

GRID = Grid((0.0, 0.0, 10.0, 10.0), 5)


def test_a_line_by_hand() -> None:
    # Three cells along the bottom row; cells are counted up the columns.
    line = measured(Trajectories.from_lists([[(1, 1), (3, 1), (5, 1)]]), GRID)
    figures = portrait("one", line, line, np.array([0]))
    assert [figures[name] for name in ("trajectories", "points", "mean_length", "mean_cells")] == [1, 3, 4, 3]
    density = np.array(figures["density"])
    np.testing.assert_allclose(density[[0, 5, 10]], 1 / 3, atol=1e-7)
    assert density.sum() == pytest.approx(1)
    assert figures["flows"] == [[0, 5, 0.5], [5, 10, 0.5]]
    assert figures["trips"][0][10] == 1
    # The point in the middle is on the straight line.
    np.testing.assert_allclose(figures["samples"], [[(0.1, 0.1), (0.5, 0.1)]], atol=1e-6)
    assert figures["hours"] == figures["durations"] == []


def test_every_table_is_a_distribution() -> None:
    real, other = (measured(drifting_walks(60, seed), Grid(GRID.bounds, 40)) for seed in (1, 2))
    figures = portrait("other", other, real, None)
    for name in ("density", "trips", "lengths", "diameters", "cells"):
        assert np.sum(figures[name]) == pytest.approx(1, abs=1e-4), name
    assert sum(share for *_, share in figures["flows"]) == pytest.approx(1, abs=1e-4)
    assert len(figures["density"]) == 32 * 32
    assert figures["samples"] == []
    json.dumps(figures)


@given(st.integers(2, 80), st.integers(1, 32))
def test_blocks_are_square_and_of_almost_equal_size(n: int, most: int) -> None:
    side = min(n, most)
    sizes = np.bincount(blocks(Grid((0, 0, 1, 1), n), most))
    assert len(sizes) == side * side
    assert sizes.max() <= (n // side + 1) ** 2
    assert sizes.min() >= (n // side) ** 2


def test_edges_of_cells_are_whole_numbers() -> None:
    summary = Summary.of(drifting_walks(60, 1), GRID)
    assert np.all(np.diff(cell_edges(summary)) == 1)
    assert cell_edges(summary)[0] == 1


def test_small_bends_are_not_drawn() -> None:
    lines = [[(1, 1), (3, 1.001), (5, 1), (5, 9)], [(2, 2)]]
    drawn = measured(Trajectories.from_lists(lines), GRID)
    assert portrait("it", drawn, drawn, np.arange(2))["samples"] == [
        [[0.1, 0.1], [0.5, 0.1], [0.5, 0.9]],
        [[0.2, 0.2]],
    ]


def test_patterns_of_three_cells_and_their_frequency() -> None:
    line, stroke = [(1, 1), (3, 1), (5, 1)], [(1, 1), (3, 1)]
    real, other = (Summary.of(Trajectories.from_lists(lines), GRID) for lines in ([line], [line, stroke]))
    assert pattern_table(real, [other]) == [{"cells": [0, 5, 10], "real": 1.0, "synthetic": [0.5]}]


def test_streets_are_drawn_once_and_within_the_map() -> None:
    roads = RoadNetwork.of([0, 10, 20], [0, 10, 10], [0, 1, 1, 2], [1, 0, 2, 1])
    assert street_lines(roads, GRID) == [[0, 0, 1000, 1000]]
