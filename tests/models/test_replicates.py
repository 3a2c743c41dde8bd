"""Replicates: trips of one model stand for those of another with other potentials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates
from ldptrace.models.observation import REPLICATES
from ldptrace.models.path.model import KINDS, PathModel
from ldptrace.models.replicates import normal, path_ratios
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)


@pytest.fixture(scope="module")
def fitted() -> PathModel:
    rng = np.random.default_rng(1)
    paths = random_paths(5_000, GRID, rng)
    plan = Plan.single_report(GRID, 3.0)
    return PathModel.fit(Estimates.from_tally(plan, collect(plan, paths.take(paths.sizes > 0), rng)))


@pytest.mark.slow
def test_weighted_trips_are_those_of_the_other_model(fitted: PathModel, rng: np.random.Generator) -> None:
    assert fitted.draws is not None
    draw, layout = fitted.draws[0], fitted.layout
    lengths = fitted.length * np.exp(draw[layout.length])
    kinds = {kind: getattr(fitted, kind) + draw[getattr(layout, kind)] for kind in KINDS}
    other = replace(fitted, **kinds, length=lengths / lengths.sum())
    cells = GRID.cells
    trips, ratios = fitted.replicated(100_000, rng)
    assert ratios is not None
    assert ratios.shape == (REPLICATES, 100_000)
    wanted = other.sample_paths(100_000, rng).starts()
    own = fitted.sample_paths(100_000, rng).starts()
    first = trips.offsets[:-1]
    place = (np.floor(trips.x[first]) * 4 + np.floor(trips.y[first])).astype(np.int64)
    found = np.bincount(place, ratios[0], cells) / 100_000
    target, before = (np.bincount(cell, minlength=cells) / 100_000 for cell in (wanted, own))
    assert np.abs(found - target).sum() < 0.03 < np.abs(before - target).sum()


def test_replicates_are_in_the_file(fitted: PathModel, tmp_path: Path, rng: np.random.Generator) -> None:
    fitted.save(tmp_path / "model.npz")
    again = PathModel.load(tmp_path / "model.npz")
    assert again.draws is not None
    np.testing.assert_allclose(again.draws, fitted.draws, rtol=1e-5, atol=1e-7)
    assert replace(fitted, redraw=lambda: None).replicated(10, rng)[1] is None


def test_small_changes_are_linear(fitted: PathModel, rng: np.random.Generator) -> None:
    assert fitted.draws is not None
    paths = fitted.sample_paths(20_000, rng)
    few = 0.01 * fitted.draws[:3] / np.abs(fitted.draws[:3]).max()
    exact, linear = (
        path_ratios(paths, fitted.length, fitted.layout, few, linear=way) for way in (False, True)
    )
    assert np.abs(exact - 1).max() > 0.01
    np.testing.assert_allclose(linear, exact, atol=0.2 * np.abs(exact - 1).max())


@pytest.mark.slow
def test_a_large_grid_has_replicates_too(rng: np.random.Generator) -> None:
    grid = Grid((0.0, 0.0, 9.0, 9.0), 9)
    paths, plan = random_paths(2_000, grid, rng), Plan.single_report(grid, 3.0)
    model = PathModel.fit(Estimates.from_tally(plan, collect(plan, paths.take(paths.sizes > 0), rng)))
    trips, ratios = model.replicated(5_000, rng)
    assert ratios is not None
    assert ratios.shape == (REPLICATES // 2, len(trips))
    np.testing.assert_allclose(ratios.mean(axis=1), 1, atol=1e-3)
    # No few trips carry the weight of all.
    assert np.all(ratios.sum(axis=1) ** 2 / (ratios**2).sum(axis=1) > 100)


def test_ratios_have_mean_one() -> None:
    assert normal(np.array([[1.0, 3.0], [2.0, 2.0]])).tolist() == [[0.5, 1.5], [1.0, 1.0]]
