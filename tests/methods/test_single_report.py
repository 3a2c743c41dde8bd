from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.area import Area
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.methods.public import AREA_NOTE
from ldptrace.models.routes.model import RouteModel
from road_kit import lattice_roads
from synthesis_kit import run_method

BOUNDS = (0.0, 0.0, 400.0, 400.0)


@pytest.fixture(scope="module")
def real() -> Trajectories:
    rng = np.random.default_rng(1)
    return Trajectories(*rng.uniform(0, 400, (2, 3000)), np.arange(0, 3001, 3))


def test_the_whole_budget_goes_into_one_report(real: Trajectories) -> None:
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, seed=2)
    plan = run.synthesis.plan
    assert plan is not None
    assert len(plan.rounds) == 1
    assert plan.is_private
    assert 0.999 < float(plan.spent) <= 1.0
    assert run.synthesis.notes == ()


def test_moves_and_length_follow_from_the_trip_or_are_given(real: Trajectories) -> None:
    def items_and_capacity(**options: object) -> dict[str, tuple[int, int]]:
        plan = run_method(real, 1.0, bounds=BOUNDS, grid=4, seed=1, **options).synthesis.plan
        assert plan is not None
        return {
            ask.question.name: (ask.question.domain, ask.question.capacity) for ask in plan.rounds[0].asks
        }

    given = items_and_capacity(most_moves=2, cap=5)
    assert given["moves"][1] == 2
    assert given["length"][0] == 5
    assert items_and_capacity(mean_trip=800)["moves"][1] > items_and_capacity(mean_trip=80)["moves"][1]


def test_public_knowledge_is_named(real: Trajectories) -> None:
    half = Area.of([[[(0, 0), (400, 0), (400, 200), (0, 200)]]])
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, seed=1, area=half)
    assert run.synthesis.notes == (AREA_NOTE,)
    assert run.trajectories.y.max() <= 200 + 1e-6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_with_a_map_the_model_is_one_of_routes(real: Trajectories) -> None:
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, seed=1, roads=lattice_roads(), library=300, count=5)
    assert isinstance(run.synthesis.model, RouteModel)
    assert "is public and costs no epsilon" in run.synthesis.notes[0]
    assert run.synthesis.notes[1] == run.synthesis.model.map_note
    assert run.synthesis.model.map_note in repr(run)
    assert run.trajectories.provenance is not None
    assert run.synthesis.model.map_note in run.trajectories.provenance["notes"]
    assert len(run.trajectories) == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_how_many_routes_are_drawn_follows_from_the_users(
    real: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldptrace.models.routes.search.FEWEST", 200)
    few = run_method(real.take(np.arange(30)), 1.0, bounds=BOUNDS, grid=4, seed=1, roads=lattice_roads())
    assert isinstance(few.synthesis.model, RouteModel)
    assert len(few.synthesis.model.routes) == 300


def test_seconds_need_a_map(real: Trajectories) -> None:
    with pytest.raises(InputError, match="or a street map"):
        run_method(real, 1.0, bounds=BOUNDS, grid=4, interval=15.0)
    with pytest.raises(InputError, match=r"or a street map .* and roads does not"):
        run_method(real, 1.0, bounds=BOUNDS, grid=4, interval=15.0, roads=lattice_roads())


def test_a_choice_about_streets_needs_a_map(real: Trajectories) -> None:
    with pytest.raises(InputError, match="off-streets has a meaning only with a map"):
        run_method(real, 1.0, bounds=BOUNDS, grid=4, off_streets="never")
    with pytest.raises(InputError, match="must be auto or never, got 'always'"):
        run_method(real, 1.0, bounds=BOUNDS, grid=4, roads=lattice_roads(), off_streets="always")
