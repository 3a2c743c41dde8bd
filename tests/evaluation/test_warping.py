"""Warping distances beside the plain table of every textbook."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.warping import count_near, largest_distance

Line = list[tuple[float, float]]


def lines(trajectories: Trajectories) -> list[Line]:
    return [
        list(zip(trajectories.x[a:b].tolist(), trajectories.y[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(trajectories.offsets)
    ]


def warped(first: Line, second: Line) -> float:
    """The whole table, as in every textbook."""
    table = np.full((len(first) + 1, len(second) + 1), np.inf)
    table[0, 0] = 0.0
    for i, a in enumerate(first, start=1):
        for j, b in enumerate(second, start=1):
            table[i, j] = math.dist(a, b) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return float(table[-1, -1])


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_warping_distances_are_exact(seed: int) -> None:
    one, other = drifting_walks(12, seed), drifting_walks(15, seed + 1)
    first, second = lines(one), lines(other)
    distances = np.array([[warped(a, b) for b in second] for a in first])
    threshold = float(np.quantile(distances, 0.3))
    assert count_near(one, other, threshold, 99).tolist() == (distances <= threshold).sum(axis=1).tolist()
    assert count_near(one, other, threshold, 2).max() <= 2
    among = np.array([[warped(a, b) for b in first] for a in first])
    assert largest_distance(one) == pytest.approx(among.max(), rel=1e-12)
    near = (among <= threshold).sum(axis=1) - 1
    assert count_near(one, one, threshold, 99, itself=True).tolist() == near.tolist()


def test_nobody_is_near_to_an_empty_set() -> None:
    one = Trajectories.from_lists([[(0, 0), (1, 1)]])
    assert count_near(one, Trajectories.from_lists([]), 9.0, 5).tolist() == [0]
    assert count_near(one, one, 0.0, 5).tolist() == [1]
    assert count_near(one, one, 0.0, 5, itself=True).tolist() == [0]


def test_waiting_costs_nothing_where_the_other_waits_too() -> None:
    moving, waiting = [(0, 0), (1, 0), (2, 0)], [(0, 0), (0, 0), (1, 0), (2, 0), (2, 0)]
    assert largest_distance(Trajectories.from_lists([moving, waiting])) == 0.0
