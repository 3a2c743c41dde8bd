from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, PrivacyWarning
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.adatrace import _nearest_law, deniable, learn, shielded, shortest, synthetic
from ldptrace_lab.central.curator import TrustedCurator
from synthesis_kit import run_method
from trajectory_kit import straight_trips


@pytest.fixture
def real(grid: Grid, rng: np.random.Generator) -> Trajectories:
    paths = random_paths(3000, grid, rng)
    return place(paths.take(paths.sizes > 0), rng)


def test_much_epsilon_gives_the_statistics_back(
    real: Trajectories, grid: Grid, rng: np.random.Generator
) -> None:
    paths = CellPaths.from_trajectories(real, grid)
    features = learn(paths, real, TrustedCurator(20.0, rng))
    trips = np.zeros((grid.cells, grid.cells))
    np.add.at(trips, (paths.starts(), paths.ends()), 1 / len(paths))
    assert np.abs(features.trips.reshape(trips.shape) - trips).max() < 0.002
    assert np.allclose(features.moves.sum(axis=1), 1)
    assert np.allclose(features.extras.sum(axis=1), 1)
    made = CellPaths.from_trajectories(synthetic(features, 3000, rng), grid)
    again = np.zeros_like(trips)
    np.add.at(again, (made.starts(), made.ends()), 1 / len(made))
    assert np.abs(again.sum(axis=1) - trips.sum(axis=1)).max() < 0.04
    assert abs(made.sizes.mean() - paths.sizes.mean()) < 0.5


def test_a_bridge_has_its_ends_and_is_a_path(
    real: Trajectories, grid: Grid, rng: np.random.Generator
) -> None:
    paths = CellPaths.from_trajectories(real, grid)
    made = CellPaths.from_trajectories(
        synthetic(learn(paths, real, TrustedCurator(1.0, rng)), 500, rng), grid
    )
    assert len(made) == 500
    ways = shortest(grid)
    inner = np.setdiff1d(np.arange(len(made.cells)), made.offsets[:-1])
    assert np.all(ways[made.cells[inner - 1], made.cells[inner]] == 1)


def test_a_busy_cell_is_cut_where_its_points_are(grid: Grid, rng: np.random.Generator) -> None:
    """Everybody stays in one corner of one cell, and synthetic points are in that corner."""
    spots = 0.5 * rng.random((2000, 2)) * 0.4
    real = Trajectories(spots[:, 0], spots[:, 1], np.arange(0, 2001, 2))
    features = learn(CellPaths.from_trajectories(real, grid), real, TrustedCurator(2.0, rng))
    assert features.sides[0] == 3
    assert features.sides[1:].max() == 1
    made = synthetic(features, 1000, rng)
    assert np.mean((made.x < 1 / 3) & (made.y < 1 / 3)) > 0.8


def test_the_nearest_law_is_found() -> None:
    k = np.arange(8)
    flat = _nearest_law(np.where(k < 5, 100.0, 0.0))
    assert np.allclose(flat[:5], 0.2)
    falling = _nearest_law(1000 * 0.5**k)
    assert np.allclose(falling[1:] / falling[:-1], falling[1] / falling[0])
    assert _nearest_law(np.zeros(4)).tolist() == [1, 0, 0, 0]


def test_nobody_and_nothing(grid: Grid, rng: np.random.Generator) -> None:
    empty = Trajectories.from_lists([[], []])
    features = learn(CellPaths.from_trajectories(empty, grid), empty, TrustedCurator(1.0, rng))
    assert len(synthetic(features, 3, rng)) == 3
    assert len(synthetic(features, 0, rng)) == 0


def test_the_method_says_whom_one_must_trust(real: Trajectories, grid: Grid) -> None:
    with pytest.warns(PrivacyWarning, match="trusted curator"):
        run = run_method(real, 1.0, bounds=grid.bounds, grid=4, method="adatrace", seed=1, count=20)
    assert len(run.trajectories) == 20
    said = run.privacy()
    assert "trusted curator" in said["leaks"]
    assert any("no proof covers" in note for note in said["notes"])


GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
# Along the bottom and back, and a way through the middle that nobody else takes.
BOTTOM, BACK, MIDDLE = [0, 3, 6], [6, 3, 0], [1, 4, 7]


def paths(*lists: list[int]) -> CellPaths:
    return CellPaths.from_lists(list(lists), GRID)


def test_visitors_who_differ_are_replaced() -> None:
    asked: list[int] = []

    def draw(many: int) -> CellPaths:
        asked.append(many)
        return paths(*[BOTTOM] * (many - many // 2), *[MIDDLE] * (many // 2))

    found = shielded(paths(*[BOTTOM] * 20, *[MIDDLE] * 20), 4, draw)
    assert len(found) == 40
    assert not np.any(found.cells == 4)
    assert asked == [20, 10, 5, 2, 1]


def test_visitors_like_all_others_stay() -> None:
    given = paths(*[BOTTOM] * 20, *[BACK] * 20)
    assert shielded(given, 3, lambda _: pytest.fail("nothing to replace")) is given


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="a cell from 0 to 8, got 9"):
        shielded(paths(BOTTOM), 9, lambda _: paths())
    with pytest.raises(InputError, match="nearly all trips visit the sensitive cell 4"):
        shielded(paths(*[BOTTOM] * 20, MIDDLE), 4, lambda many: paths(*[MIDDLE] * many))
    with pytest.raises(InputError, match="kappa is too large"):
        deniable(np.ones((3, 3)), 10.0)


@pytest.mark.slow
def test_the_method_has_both_defences() -> None:
    """Hardly anybody begins in cell 0, and nobody is to be seen in cell 4."""
    everybody = straight_trips(600, seed=1)
    x0, y0, x1, y1 = map(float, everybody.bounds())
    grid = Grid((x0, y0, x1, y1), 3)
    began = CellPaths.from_trajectories(everybody, grid).starts()
    real = everybody.take((began != 0) | (np.arange(600) < 30))
    found = []
    for options in ({}, {"sensitive": 4, "kappa": 30}):
        with pytest.warns(match="trusted curator"):
            run = run_method(
                real, 20.0, bounds=grid.bounds, grid=3, method="adatrace", seed=1, count=2000, options=options
            )
        found.append(CellPaths.from_trajectories(run.trajectories, grid))
    before, after = found
    assert 0 in before.starts()
    assert 0 not in after.starts()
    assert np.mean(before.starts() == 4) > 0.05
    assert 4 not in after.starts()
    assert len(after) == 2000
