from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates
from ldptrace.errors import FormatError, InputError
from ldptrace.models import MODELS, fit_model, load_model, model_class
from ldptrace.models.markov import MarkovModel
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect
from sampling_kit import assert_batches_agree

GRID = Grid((10.0, 50.0, 10.4, 50.4), 4)


def single_report(rng: np.random.Generator) -> Estimates:
    plan = Plan.single_report(GRID, 3.0, crs="EPSG:4326")
    return Estimates.from_tally(plan, collect(plan, random_paths(3000, GRID, rng), rng))


def paper(rng: np.random.Generator) -> Estimates:
    paths = random_paths(3000, GRID, rng)
    plan = Plan.paper(GRID, 3.0)
    lengths = Estimates.from_tally(plan, collect(plan, paths, rng))
    plan = plan.paper_second_round(4)
    return lengths.joined(Estimates.from_tally(plan, collect(plan, paths, rng, round_number=1)))


def test_the_model_goes_with_what_was_asked(rng: np.random.Generator) -> None:
    assert isinstance(fit_model(single_report(rng)), PathModel)
    assert isinstance(fit_model(paper(rng)), MarkovModel)


@pytest.mark.parametrize("collected", [single_report, paper])
def test_a_file_holds_all_that_drawing_needs(collected, tmp_path: Path, rng: np.random.Generator) -> None:  # type: ignore[no-untyped-def]
    model = fit_model(collected(rng))
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert type(again) is type(model)
    assert (again.grid, again.plan) == (GRID, model.plan)
    first, second = (each.sample(500, np.random.default_rng(1)) for each in (model, again))
    assert np.array_equal(first.x, second.x)
    assert first.crs == (None if model.plan is None else model.plan.crs)
    assert again.explain() == model.explain()


def test_spacing_puts_points_along_the_way(rng: np.random.Generator) -> None:
    model = fit_model(single_report(rng))
    plain, dense = (model.sample(200, np.random.default_rng(1), spacing=s) for s in (None, 400.0))
    assert len(dense.x) > 3 * len(plain.x)


@pytest.mark.parametrize("collected", [single_report, paper])
def test_trips_are_the_same_however_many_are_drawn_at_a_time(collected, rng: np.random.Generator) -> None:  # type: ignore[no-untyped-def]
    model = fit_model(collected(rng))
    for spacing in (None, 1500.0):
        assert_batches_agree(model, spacing=spacing)
    assert len(model.sample(0, rng)) == 0


def test_no_question_is_ignored_in_silence(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=r"does not use the question 'end'.*without\('end'\)"):
        MarkovModel.fit(single_report(rng))
    with pytest.raises(InputError, match="does not use the question 'steps'"):
        PathModel.fit(paper(rng))


def test_every_model_says_which_questions_it_uses() -> None:
    for kind in MODELS:
        assert model_class(kind).kind == kind
        assert model_class(kind).questions


def test_other_files_are_no_models(tmp_path: Path, rng: np.random.Generator) -> None:
    with pytest.raises(FormatError, match="there is no file"):
        load_model(tmp_path / "missing.npz")
    np.savez(tmp_path / "other.npz", header=np.frombuffer(b"[]", dtype=np.uint8))
    with pytest.raises(FormatError, match="not a saved model"):
        load_model(tmp_path / "other.npz")
    header = np.frombuffer(b'{"format": "ldptrace-model", "model": "crystal ball"}', dtype=np.uint8)
    np.savez(tmp_path / "odd.npz", header=header)
    with pytest.raises(FormatError, match="unknown kind 'crystal ball'"):
        load_model(tmp_path / "odd.npz")
    fit_model(paper(rng)).save(tmp_path / "markov.npz")
    with pytest.raises(FormatError, match="should hold a path model"):
        PathModel.load(tmp_path / "markov.npz")


def test_a_negative_number_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="must be from 0 to"):
        fit_model(single_report(rng)).sample(-1, rng)
