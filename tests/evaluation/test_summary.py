from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import column, drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.summary import Part, Summary
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 10.0, 10.0), 5)


def test_visits_passages_and_trips_by_hand() -> None:
    there_and_back = [(1, 1), (3, 1), (1, 1)]
    summary = Summary.of(Trajectories.from_lists([there_and_back, [], [(1, 1)]]), GRID)
    assert len(summary) == 2
    # The first cell is visited three times by two trajectories; cells are counted up the columns.
    assert (summary.tables.density[0], summary.tables.density[5]) == (3, 1)
    assert (summary.tables.coverage[0], summary.tables.coverage[5]) == (2, 1)
    # A path of one cell gives two points, as in the reference.
    assert (summary.visits[0], summary.visits[5]) == (4, 1)
    assert np.flatnonzero(summary.tables.moves).tolist() != []
    assert summary.tables.moves.sum() == 2
    assert [part.tolist() for part in summary.tables.trips] == [[0], [2]]
    assert summary.tables.sizes.tolist() == [0, 1, 0, 1]
    assert column(summary, "lengths").tolist() == [4, 0]
    assert column(summary, "diameters").tolist() == [2, 0]
    assert summary.tables.points == 4


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 90))
def test_blocks_make_the_whole(seed: int, points: int) -> None:
    walks, other = drifting_walks(30, seed), Summary.of(drifting_walks(30, seed + 1), GRID)
    whole = Summary.of(walks, GRID)
    with patch("ldptrace.engines.base.POINTS", points):
        parts = Summary.of(walks, GRID)
    assert len(parts.tables.blocks) > 1
    for name in ("density", "coverage", "sizes"):
        np.testing.assert_array_equal(getattr(parts.tables, name), getattr(whole.tables, name), err_msg=name)
    assert parts.visits.tolist() == whole.visits.tolist()
    assert parts.scale == whole.scale
    for name in ("lengths", "diameters"):
        np.testing.assert_array_equal(column(parts, name), column(whole, name), err_msg=name)
    assert parts.tables.points == whole.tables.points
    np.testing.assert_array_equal(parts.tables.trips, whole.tables.trips)
    assert parts.patterns.codes.tolist() == whole.patterns.codes.tolist()
    one, two = parts.beside(other), whole.beside(other)
    assert one[0].tolist() == two[0].tolist()
    np.testing.assert_array_equal(np.concatenate(one[1]), np.concatenate(two[1]))


def test_taken_trajectories_bring_their_lengths() -> None:
    whole = Part.of(drifting_walks(20, 1), GRID)
    picked = np.array([3, 3, 7])
    taken = whole.take(picked)
    assert taken.lengths.tolist() == whole.lengths[picked].tolist()
    assert taken.paths.sizes.tolist() == whole.sizes[picked].tolist()
    assert len(taken.cells) == whole.sizes[picked].sum()


def test_a_bootstrap_is_the_same_in_every_pass() -> None:
    whole = Summary.of(drifting_walks(40, 1), GRID)
    with patch("ldptrace.engines.base.POINTS", 50):
        again = Summary.of(drifting_walks(40, 1), GRID).again(500, np.random.default_rng(1))
    assert len(again) == len(column(again, "lengths")) == 500
    assert set(column(again, "lengths")) <= set(column(whole, "lengths"))
    assert column(again, "lengths").tolist() == column(again, "lengths").tolist()
    # Each of 40 is drawn 12.5 times on average, and never with a probability of 1e-4.
    assert set(column(again, "lengths")) == set(column(whole, "lengths"))
    assert again.tables.coverage.max() <= 500


def test_another_size_of_the_same_set() -> None:
    whole, other = (Summary.of(drifting_walks(40, seed), GRID) for seed in (1, 2))
    larger = whole.resized(80)
    assert len(larger) == 80
    assert larger.visits.tolist() == (2 * whole.visits).tolist()
    assert larger.patterns.counts.tolist() == (2 * whole.patterns.counts).tolist()
    assert larger.beside(other)[0].tolist() == (2 * whole.beside(other)[0]).tolist()


def test_nothing_cannot_be_summed_up() -> None:
    for nothing in (Trajectories.from_lists([]), Trajectories.from_lists([[], []])):
        with pytest.raises(InputError, match="without any point"):
            Summary.of(nothing, GRID)
