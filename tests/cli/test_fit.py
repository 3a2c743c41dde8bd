"""The operator's way: reports -> tally -> estimates -> model -> synthetic trips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ldptrace as lt
from conftest import random_paths
from ldptrace.cli import application
from ldptrace.curator import Estimates
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect
from ldptrace.simulation.collect import Collection


def run(*args: str) -> str:
    result = CliRunner().invoke(application(args[0]), args, catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def estimates(tmp_path: Path, rng: np.random.Generator) -> Path:
    plan = Plan.single_report(Grid((-8.7, 41.1, -8.5, 41.3), 5), 2.0, crs="EPSG:4326")
    found = Estimates.from_tally(plan, collect(plan, random_paths(4000, plan.grid, rng), rng))
    (tmp_path / "estimates.json").write_text(found.to_json())
    return tmp_path / "estimates.json"


@pytest.mark.slow
def test_from_estimates_to_trips(estimates: Path, tmp_path: Path) -> None:
    model, trips = str(tmp_path / "model.npz"), str(tmp_path / "trips.parquet")
    assert "chi2" in run("fit", str(estimates), "-o", model)
    assert "300 synthetic" in run("sample", model, "-o", trips, "--count", "300", "--sample-seed", "5")
    drawn = lt.read(trips)
    assert (len(drawn), drawn.crs) == (300, "EPSG:4326")
    promised = json.loads(pq.read_metadata(trips).metadata[b"ldptrace"])
    assert promised["epsilon"] == "2"
    assert promised["sample_seed"] == 5
    run("sample", model, "-o", str(tmp_path / "again.parquet"), "--count", "300", "--sample-seed", "5")
    assert np.array_equal(lt.read(tmp_path / "again.parquet").x, drawn.x)


@pytest.mark.slow
def test_hours_of_a_collection_are_those_of_the_devices_also_with_a_date(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """The plan of a collection names no zone: its devices answer about their own clocks, wherever hours are shown."""
    plan = Plan.single_report(Grid((-8.7, 41.1, -8.5, 41.3), 5), 2.0, crs="EPSG:4326", time=True)
    n = 4000
    trips = lt.Trajectories(
        rng.uniform(-8.7, -8.5, 2 * n),
        rng.uniform(41.1, 41.3, 2 * n),
        np.arange(n + 1) * 2,
        t=np.sort(rng.uniform(6 * 3600, 9 * 3600, 2 * n)),
        crs="EPSG:4326",
    )
    model, drawn = tmp_path / "model.npz", str(tmp_path / "trips.parquet")
    lt.fit_model(Estimates.from_tally(plan, Collection(plan, rng)(trips, 0))).save(model)
    own = "Hours are those of each device's own clock, where it was."
    assert own in run("sample", str(model), "-o", drawn, "--count", "200")
    assert own in run("sample", str(model), "-o", drawn, "--count", "200", "--date", "2026-03-01")
    zones = ("--zones", "h3:6", "--by", "hour", "-o", str(tmp_path / "od.csv"))
    assert own in run("matrix", drawn, *zones)
    with pytest.raises(InputError, match="--timezone Asia/Shanghai cannot move them"):
        run("matrix", drawn, *zones, "--timezone", "Asia/Shanghai")
    run("statement", drawn, "-o", str(tmp_path / "papers"))
    assert own in (tmp_path / "papers" / "croissant.json").read_text()
    zoned = ("--date", "2026-03-01", "--timezone", "Europe/Lisbon")
    assert "Hours are those of Europe/Lisbon." in run(
        "sample", str(model), "-o", drawn, "--count", "9", *zoned
    )


@pytest.mark.slow
def test_trips_are_written_a_few_at_a_time_and_are_the_same(
    estimates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one file, as a folder, in small pieces, and as Python draws them."""
    model = lt.fit_model(lt.Estimates.from_json(estimates.read_text()))
    model.save(tmp_path / "model.npz")
    options = ["--count", "40000", "--sample-seed", "5", "--spacing", "500"]
    run("sample", str(tmp_path / "model.npz"), "-o", str(tmp_path / "one.parquet"), *options)
    run("sample", str(tmp_path / "model.npz"), "-o", str(tmp_path / "folder") + "/", *options)
    monkeypatch.setattr("ldptrace.models.base.DENSE", 20_000)
    run("sample", str(tmp_path / "model.npz"), "-o", str(tmp_path / "pieces.parquet"), *options)
    wanted = model.sample(40_000, np.random.default_rng(5), spacing=500.0)
    for name in ("one.parquet", "folder", "pieces.parquet"):
        drawn = lt.read(tmp_path / name)
        np.testing.assert_array_equal(drawn.x, wanted.x)
        np.testing.assert_array_equal(drawn.offsets, wanted.offsets)
        assert drawn.crs == wanted.crs
        assert drawn.provenance == {**(wanted.provenance or {}), "sample_seed": 5, "notes": []}


@pytest.mark.slow
def test_the_same_in_three_lines_of_python(estimates: Path, rng: np.random.Generator) -> None:
    found = lt.Estimates.from_json(estimates.read_text())
    model = lt.fit_model(found)
    assert len(model.sample(50, rng)) == 50


@pytest.mark.slow
def test_bad_input_writes_nothing(estimates: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(FormatError, match=r"broken.json: this is not a document of estimates"):
        run("fit", str(tmp_path / "broken.json"), "-o", str(out))
    with pytest.raises(FormatError, match="not a saved model: it is not the kind of archive"):
        run("sample", str(estimates), "-o", str(out), "--count", "5")
    run("fit", str(estimates), "-o", str(tmp_path / "model.npz"))
    with pytest.raises(InputError, match="spacing must be a positive number, got 0"):
        run("sample", str(tmp_path / "model.npz"), "-o", str(out), "--count", "5", "--spacing", "0")
    assert not out.exists()


def test_points_stay_in_the_bounds_of_the_plan(estimates: Path, rng: np.random.Generator) -> None:
    found = lt.Estimates.from_json(estimates.read_text())
    drawn = lt.fit_model(found).sample(500, rng)
    assert drawn.x.min() > -8.7001
    assert drawn.y.max() < 41.3001
