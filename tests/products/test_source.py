"""Files that products are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import write
from ldptrace.methods.release import Release
from ldptrace.models import PathModel
from ldptrace.products.sample import DRAWN
from ldptrace.products.source import open_promise, open_source, sample_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

GRID = Grid((0.0, 0.0, 1.0, 1.0), 2)
PLAN = Plan.single_report(GRID, 0.5)
TRIPS = Trajectories([0.1, 0.9], [0.1, 0.9], [0, 2], provenance={"epsilon": "2", "unit": "trip"})


def model(plan: Plan | None = PLAN) -> PathModel:
    return PathModel(GRID, np.ones(3) / 3, *(np.zeros(size) for size in (4, 4, 12, 5)), plan=plan)


def test_trips_and_models_are_told_apart(tmp_path: Path) -> None:
    write(TRIPS, tmp_path / "trips.csv")
    model().save(tmp_path / "model.npz")
    trips = open_source(tmp_path / "trips.csv", crs="EPSG:32633", timezone="Europe/Berlin")
    assert isinstance(trips, Trajectories)
    assert (trips.crs, trips.timezone) == ("EPSG:32633", "Europe/Berlin")
    release = open_source(tmp_path / "model.npz", crs="EPSG:32633", timezone="Europe/Berlin")
    assert isinstance(release, Release)
    assert isinstance(release.model, PathModel)
    assert sample_of(release).trips.crs == "EPSG:32633"


def test_what_weakens_a_promise_is_stated_by_a_model_too(tmp_path: Path) -> None:
    """The plan of a simulated collection promises more than its model may."""
    stated = dict(Release.of(model()).promised or {}) | {"experiment": "it was seeded", "simulated": True}
    Release(model(), promised=stated).save(tmp_path / "model.npz")
    found = open_promise(tmp_path / "model.npz")
    assert found.weaker == ("It is an experiment and not a release: it was seeded.",)
    assert "simulated" in found.trust
    promise = sample_of(open_source(tmp_path / "model.npz")).promise
    assert promise is not None
    assert promise["experiment"] == "it was seeded"


@pytest.mark.parametrize(
    ("name", "epsilon"), [("trips.csv", "2"), ("model.npz", "0.5"), ("plan.json", "0.5")]
)
def test_the_promise_of_trips_models_and_plans(tmp_path: Path, name: str, epsilon: str) -> None:
    write(TRIPS, tmp_path / "trips.csv")
    model().save(tmp_path / "model.npz")
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    assert open_promise(tmp_path / name).epsilon == epsilon


def test_geojson_is_no_plan(tmp_path: Path) -> None:
    write(TRIPS, tmp_path / "trips.geojson")
    assert open_promise(tmp_path / "trips.geojson").unit == "trip"


def test_a_model_without_a_plan_states_nothing(tmp_path: Path) -> None:
    model(None).save(tmp_path / "model.npz")
    with pytest.raises(InputError, match="holds no plan"):
        open_promise(tmp_path / "model.npz")


def test_numbers_are_made_of_trips_or_of_a_model() -> None:
    assert sample_of(TRIPS, 500).weight == 500
    drawn = sample_of(Release.of(model()))
    assert len(drawn.trips) == DRAWN
    assert sample_of(Release.of(model())).trips.x[0] == drawn.trips.x[0]
