from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace_lab.reproduce.data import GENERATED, INTERVAL, DataSet, generated, own
from ldptrace_lab.reproduce.published import SETS

REAL = Trajectories([0, 1, 2, 5], [0, 2, 2, 5], [0, 3, 4], t=[0, 10, 20, 99])


def test_generated_sets_are_made_when_first_used_and_once() -> None:
    made: list[int] = []

    def load() -> tuple[Trajectories, None]:
        made.append(1)
        return REAL, None

    data = DataSet("a", "A", "a", load)
    assert made == []
    assert data.trajectories is data.trajectories is REAL
    assert made == [1]


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_set_stands_beside_one_of_the_paper(name: str) -> None:
    data = generated(name, 20, seed=1)
    assert (data.beside, data.grid, data.interval) == (name, SETS[name].n, SETS[name].interval)
    assert len(data.trajectories) == 20
    assert (data.pois is not None) == (name == "campus")
    assert generated(name, 20, seed=2).key != data.key


@pytest.mark.slow
def test_the_seed_decides_a_generated_set() -> None:
    one, same, other = (generated("porto", 20, seed).trajectories for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


def test_bounds_are_given_or_those_of_the_data() -> None:
    assert own(REAL, Path("a.csv")).bounds == (0, 0, 5, 5)
    assert own(REAL, Path("a.csv"), bounds=(0, 0, 9, 9)).bounds == (0, 0, 9, 9)


def test_the_interval_is_that_between_points_of_one_trip() -> None:
    assert own(REAL, Path("a.csv")).interval == 10
    assert own(Trajectories([0, 1], [0, 1], [0, 2]), Path("a.csv")).interval == INTERVAL
    parked = Trajectories([0, 1], [0, 1], [0, 2], t=[5, 5])
    assert own(parked, Path("a.csv")).interval == INTERVAL


def test_own_sets_are_known_by_their_content() -> None:
    moved = Trajectories(REAL.x + 1, REAL.y, REAL.offsets)
    keys = {
        own(REAL, Path("a.csv")).key,
        own(moved, Path("a.csv")).key,
        own(REAL, Path("a.csv"), bounds=(0, 0, 9, 9)).key,
    }
    assert len(keys) == 3
    assert own(REAL, Path("b.csv")).key == own(REAL, Path("a.csv")).key


def test_a_name_of_the_paper_brings_its_values() -> None:
    assert own(REAL, Path("Porto_2013.csv.gz")).beside == "porto"
    assert own(REAL, Path("Porto_2013.csv.gz")).grid == SETS["porto"].n
    assert own(REAL, Path("mine.csv")).beside is None
    assert own(REAL, Path("mine.csv"), beside="oldenburg").beside == "oldenburg"
    assert own(REAL, Path("mine.csv"), grid=9).grid == 9
