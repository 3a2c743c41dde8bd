from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths, grid_moves
from ldptrace.curator import Estimates
from ldptrace.errors import FormatError
from ldptrace.models.markov import MarkovModel
from ldptrace.models.observation import Observation, first_guess
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect
from statistics_kit import assert_frequencies, assert_proportion

GRID = Grid((0, 0, 2, 2), 2)


def model(**changes: object) -> MarkovModel:
    parts: dict[str, object] = {
        "lengths": np.array([0.2, 0.3, 0.5]),
        "starts": np.array([0.7, 0.0, 0.3, 0.0]),
        "moves": np.arange(1.0, 13.0),
        "ends": np.array([1.0, 2.0, 3.0, 4.0]),
    }
    return MarkovModel(GRID, **(parts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("capped", [False, True])
def test_algorithm_1_by_hand(capped: bool, rng: np.random.Generator) -> None:
    """Walks from cell 0: of drawn length 2 or more and not ended at once, then moves by their weights."""
    walks = model(starts=np.array([1.0, 0, 0, 0]), capped=capped).sample_paths(60_000, rng)
    factor = 0.3 if capped else 0.5
    onward = grid_moves(GRID.n)[:, 0] == 0
    weights = np.arange(1.0, 13.0)[onward]
    ending = factor * 1.0 / (weights.sum() + factor)
    assert_proportion(int(np.sum(walks.sizes > 1)), 60_000, 0.8 * (1 - ending))
    second = walks.cells[walks.offsets[:-1][walks.sizes > 1] + 1]
    targets = grid_moves(GRID.n)[onward, 2]
    assert_frequencies([np.sum(second == target) for target in targets], weights)


def test_lengths_are_a_hard_limit_when_nothing_ends(rng: np.random.Generator) -> None:
    walks = model(ends=np.zeros(4)).sample_paths(30_000, rng)
    assert_frequencies(np.bincount(walks.sizes, minlength=4)[1:], [0.2, 0.3, 0.5])


def test_no_reweighting_when_alpha_is_one(rng: np.random.Generator) -> None:
    walks = model(
        lengths=np.array([0.0, 1.0]), alpha=1.0, beta=0.0, starts=np.array([0, 0, 0, 1.0])
    ).sample_paths(30_000, rng)
    leaving = np.arange(1.0, 13.0)[grid_moves(GRID.n)[:, 0] == 3].sum()
    assert_proportion(int(np.sum(walks.sizes == 1)), 30_000, 4.0 / (4.0 + leaving))


def test_a_cell_without_exits_ends_the_walk(rng: np.random.Generator) -> None:
    walks = model(moves=np.zeros(12), ends=np.zeros(4)).sample_paths(100, rng)
    assert np.all(walks.sizes == 1)


def test_any_number_of_walks(rng: np.random.Generator) -> None:
    assert len(model().sample_paths(0, rng)) == 0
    assert len(model().sample_paths(1, rng)) == 1


def test_a_saved_model_draws_the_same_walks(tmp_path: Path) -> None:
    saved = model(alpha=0.4, capped=True)
    saved.save(tmp_path / "model.npz")
    loaded = MarkovModel.load(tmp_path / "model.npz")
    first, second = (m.sample_paths(500, np.random.default_rng(3)) for m in (saved, loaded))
    assert np.array_equal(first.cells, second.cells)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(FormatError, match="not a saved model"):
        MarkovModel.load(tmp_path / "model.npz")
    with pytest.raises(FormatError, match="no file"):
        MarkovModel.load(tmp_path / "missing.npz")


@pytest.mark.parametrize("method", ["paper", "combtran", "randsyn"])
def test_the_share_without_a_trip_comes_from_every_question_that_shows_it(method: str) -> None:
    """Standard errors shrink with what is asked, and the estimate lies within five of them (one in two million)."""
    rng, grid = np.random.default_rng(1), Grid((0, 0, 4, 4), 4)
    some = random_paths(6000, grid, rng, longest=4)
    home = np.full(4000, some.offsets[-1])
    everyone = CellPaths(some.cells, np.concatenate([some.offsets, home]), grid)
    first = Plan.paper(grid, 8.0, method=method)
    plan = first.paper_second_round(3)
    tallies = [collect(plan, everyone, rng, round_number=number) for number in (0, 1)]
    estimates = Estimates.from_tallies(plan, tallies)
    share = MarkovModel.fit(estimates).without_trip
    assert share is not None
    assert abs(share.value - np.mean(everyone.sizes == 0)) < 5 * share.std_error
    alone = first_guess([Observation.of(estimates["length"])])
    if method == "randsyn":
        assert share == alone
    else:
        assert share.std_error < 0.9 * alone.std_error
