"""Street maps on the command line: synthesize, plan, fit and sample."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ldptrace as lt
from ldptrace.cli import application
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shares import MAP_SHARES
from ldptrace.roads import write_roads
from ldptrace.roads.library import Library
from ldptrace.simulation import collect
from road_kit import lattice_roads

BOUNDS = "0,0,1900,1900"


def run(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(application(args[0]), args, catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit | InputError):
        raise result.exception
    if code:
        assert isinstance(result.exception, InputError) or result.exit_code == code, result.output
        return str(result.exception)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a road network and trips on it."""
    folder = tmp_path_factory.mktemp("town")
    roads = lattice_roads(20, seconds=np.full(1520, 10.0))
    write_roads(roads, folder / "roads")
    trips = replace(Library(routes=20_000).draw(roads, np.random.default_rng(0)).points(spacing=50), t=None)
    lt.write(trips, folder / "trips.parquet")
    public = Library(routes=20_000).draw(roads, np.random.default_rng(1)).points(spacing=40)
    lt.write(replace(public, t=None), folder / "public.parquet")
    return folder


def on_streets(trips: lt.Trajectories) -> float:
    """Share of the points that lie on a street of the lattice."""
    off = np.minimum(
        np.abs(trips.x / 100 - np.round(trips.x / 100)), np.abs(trips.y / 100 - np.round(trips.y / 100))
    )
    return float((off < 1e-6).mean())


@pytest.mark.slow
def test_synthetic_trips_follow_the_streets(town: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    options = [
        "--bounds",
        BOUNDS,
        "--grid",
        "4",
        "--epsilon",
        "2",
        "--seed",
        "1",
        "--option",
        "library=20000",
    ]
    source = str(town / "trips.parquet")
    said = run("synthesize", source, "-o", str(out), "--roads", str(town / "roads"), *options)
    assert "The map alone, without any report, misses the answers" in said
    # How much of the bounds has streets is printed before the fit.
    assert "roads: streets in 100% of the bounds" in said
    drawn = lt.read(out)
    assert len(drawn) == 20_000
    assert on_streets(drawn) > 0.99
    assert "public and costs no epsilon" in json.dumps(drawn.provenance)
    assert "The map alone, without any report" in json.dumps(drawn.provenance)
    more = ["--interval", "20", "--off-streets", "never"]
    run("synthesize", source, "-o", str(out), "--roads", str(town / "roads"), *options, *more)
    timed = lt.read(out)
    assert timed.t is not None
    run(
        "synthesize",
        source,
        "-o",
        str(out),
        "--routes",
        str(town / "public.parquet"),
        *options,
        "--spacing",
        "25",
    )
    # Recorded points cut corners.
    assert on_streets(lt.read(out)) > 0.8


# `fit` draws other routes every time.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_finished_collection_uses_the_map_too(town: Path, tmp_path: Path) -> None:
    plan_file = tmp_path / "plan.json"
    run(
        "plan", "--users", "20000", "--epsilon", "2", "--bounds", BOUNDS, "--grid", "4", "--for-map",
        "-o", str(plan_file),
    )  # fmt: skip
    plan = Plan.from_json(plan_file.read_text())
    shares = {ask.question.name: ask.share / 65536 for ask in plan.rounds[0].asks}
    assert shares == pytest.approx(MAP_SHARES, abs=2e-3)
    paths = CellPaths.from_trajectories(lt.read(town / "trips.parquet"), plan.grid)
    estimates = Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(1)))
    (tmp_path / "estimates.json").write_text(estimates.to_json())
    model, out = tmp_path / "model.npz", tmp_path / "out.parquet"
    given = ["fit", str(tmp_path / "estimates.json"), "-o", str(model), "--off-streets", "never"]
    assert "--off-streets has a meaning only with a map" in run(*given, code=2)
    text = run(*given, "--roads", str(town / "roads"))
    assert "synthetic trips effectively use" in text
    assert "The map alone, without any report, misses the answers" in text
    run("sample", str(model), "-o", str(out), "--count", "500", "--interval", "15")
    drawn = lt.read(out)
    assert len(drawn) == 500
    assert drawn.t is not None
    assert on_streets(drawn) > 0.99
    assert "The map alone, without any report" in json.dumps(drawn.provenance)


@pytest.mark.slow
def test_bad_maps_are_one_sentence_and_write_nothing(town: Path, tmp_path: Path) -> None:
    source, out = str(town / "trips.parquet"), tmp_path / "out.parquet"
    options = ["-o", str(out), "--epsilon", "1", "--grid", "4"]
    network = ["--roads", str(town / "roads")]
    far = lattice_roads(5)
    write_roads(replace(far, x=far.x + 50_000), tmp_path / "far")
    elsewhere = run(
        "synthesize", source, *options, "--bounds", BOUNDS, "--roads", str(tmp_path / "far"), code=2
    )
    assert "no roads in the bounds" in elsewhere
    assert "no file" in run("synthesize", source, *options, "--bounds", BOUNDS, "--roads", "nowhere", code=2)
    both = run(
        "synthesize",
        source,
        *options,
        *network,
        "--bounds",
        BOUNDS,
        "--routes",
        str(town / "public.parquet"),
        code=2,
    )
    assert "not both" in both
    paper = run("synthesize", source, *options, *network, "--bounds", BOUNDS, "--method", "paper", code=2)
    assert "method paper has no option 'roads'" in paper
    assert "seconds apart" in run(
        "synthesize", source, *options, "--bounds", BOUNDS, "--interval", "9", code=2
    )
    assert not out.exists()


@pytest.mark.slow
def test_the_same_in_python(town: Path) -> None:
    real, roads = lt.read(town / "trips.parquet"), lt.read_roads(town / "roads")
    drawn = lt.synthesize(
        real,
        2.0,
        bounds=(0, 0, 1900, 1900),
        grid=4,
        roads=roads,
        count=200,
        seed=3,
        options={"library": 30_000},
    )
    assert len(drawn) == 200
    with pytest.raises(InputError, match="RoadNetwork or a file, got int"):
        lt.synthesize(real, 2.0, bounds=(0, 0, 1900, 1900), roads=7)


def test_a_lattice_model_knows_no_seconds(town: Path, rng: np.random.Generator) -> None:
    plan = Plan.single_report(Grid((0, 0, 1900, 1900), 4), 2.0)
    paths = CellPaths.from_trajectories(lt.read(town / "trips.parquet"), plan.grid)
    model = lt.PathModel.fit(Estimates.from_tally(plan, collect(plan, paths, rng)))
    with pytest.raises(InputError, match="knows no speeds"):
        model.sample(5, rng, interval=10)
