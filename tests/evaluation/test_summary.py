from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.summary import Summary
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 10.0, 10.0), 5)


def test_visits_passages_and_trips_by_hand() -> None:
    there_and_back = [(1, 1), (3, 1), (1, 1)]
    summary = Summary.of(Trajectories.from_lists([there_and_back, [], [(1, 1)]]), GRID)
    assert len(summary) == 2
    # The first cell is visited three times by two trajectories; cells are counted up the columns.
    assert (summary.density[0], summary.density[5]) == (3, 1)
    assert (summary.coverage[0], summary.coverage[5]) == (2, 1)
    assert [part.tolist() for part in summary.trips] == [[0], [2]]
    assert summary.cell_lengths.tolist() == [0, 1, 0, 1]
    assert summary.lengths.tolist() == [4, 0]
    assert summary.diameters.tolist() == [2, 0]
    assert summary.points == 4


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 29))
def test_parts_make_the_whole(seed: int, cut: int) -> None:
    walks = drifting_walks(30, seed)
    whole = Summary.of(walks, GRID)
    merged = Summary.merged([Summary.of(walks[:cut], GRID), Summary.of(walks[cut:], GRID)])
    for name in ("density", "coverage", "cell_lengths", "lengths", "diameters", "points", "scale"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name), err_msg=name)
    assert merged.patterns.names() == whole.patterns.names()


def test_taken_trajectories_bring_their_lengths() -> None:
    whole = Summary.of(drifting_walks(20, 1), GRID)
    picked = np.array([3, 3, 7])
    taken = whole.take(picked)
    assert taken.lengths.tolist() == whole.lengths[picked].tolist()
    assert taken.paths.sizes.tolist() == whole.paths.sizes[picked].tolist()
    assert taken.density.sum() == whole.paths.sizes[picked].sum()


def test_nothing_cannot_be_summed_up() -> None:
    for nothing in (Trajectories.from_lists([]), Trajectories.from_lists([[], []])):
        with pytest.raises(InputError, match="without any point"):
            Summary.of(nothing, GRID)
    with pytest.raises(InputError, match="without any point"):
        Summary.merged([])
