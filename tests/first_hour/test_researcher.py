"""The first hour of a researcher with GeoLife on disk: the folder as it comes, and as an archive."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ldptrace.cli import application
from ldptrace.io import read

HEADER = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
BOUNDS = "116,39.6,116.8,40.25"
USERS, FILES = 12, 4


@pytest.fixture
def geolife(tmp_path: Path) -> Path:
    """`Data/000/Trajectory/*.plt`, with `labels.txt` for some users and the guide beside."""
    rng = np.random.default_rng(1)
    root = tmp_path / "Geolife Trajectories 1.3"
    for user in range(USERS):
        folder = root / "Data" / f"{user:03}" / "Trajectory"
        folder.mkdir(parents=True)
        if user % 3 == 0:
            text = (
                "Start Time\tEnd Time\tTransportation Mode\n2008/10/23 02:53:04\t2008/10/23 11:11:12\tbus\n"
            )
            (folder.parent / "labels.txt").write_text(text)
        for number in range(FILES):
            days = 39744 + number + np.arange(30) * 5 / 86400
            walk = np.array([39.9, 116.4]) + np.cumsum(rng.normal(0, 0.002, (30, 2)), axis=0)
            rows = "\n".join(
                f"{lat:.6f},{lon:.6f},0,492,{day:.10f},2008-10-23,02:53:04"
                for (lat, lon), day in zip(walk, days, strict=True)
            )
            (folder / f"2008102{number}025304.plt").write_text(f"{HEADER}{rows}\n".replace("\n", "\r\n"))
    (root / "User Guide-1.3.pdf").write_bytes(b"%PDF-1.4")
    return root


def run(*arguments: object) -> tuple[str, str]:
    result = CliRunner().invoke(
        application(str(arguments[0])), [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_the_folder_as_it_comes(geolife: Path, tmp_path: Path) -> None:
    out, _ = run("inspect", geolife)
    assert "48 trajectories, 1,440 points" in out
    assert "users        12 (column user)" in out
    assert "2008-10-2" in out
    assert "+08:00" in out
    shutil.make_archive(str(tmp_path / "geolife"), "zip", geolife)
    assert len(read(tmp_path / "geolife.zip")) == 48


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_the_person_is_the_unit(geolife: Path, tmp_path: Path) -> None:
    options = ("--epsilon", 1, "--bounds", BOUNDS, "--grid", 6, "--seed", 1)
    _, err = run("synthesize", geolife, "-o", tmp_path / "syn.parquet", *options)
    assert "one trajectory of each, drawn at random. 12 devices out of 48 trajectories" in err
    assert "12 synthetic trajectories from 12 simulated devices" in err
    assert "mostly noise" in err
    _, err = run("synthesize", geolife, "-o", tmp_path / "trips.csv", "--unit", "trip", *options)
    assert "epsilon holds for each trip" in err
    assert "48 synthetic trajectories from 48 simulated devices" in err
    out, _ = run(
        "evaluate",
        geolife,
        tmp_path / "syn.parquet",
        tmp_path / "trips.csv",
        "--bounds",
        BOUNDS,
        "--json",
        "-",
    )
    sets = json.loads(out)["sets"]
    assert [item["privacy"]["unit"] for item in sets] == ["user", "trip"]


@pytest.mark.slow
def test_to_other_tools(geolife: Path, tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    for name in ("a.parquet", "a.mfjson", "a.trips.geojson", "a.gpx", "a.csv", "a.geojson"):
        run("convert", geolife, tmp_path / name)
        assert len(read(tmp_path / name)) == 48, name
        assert read(tmp_path / name).points == 1440, name
    assert len(geopandas.read_parquet(tmp_path / "a.parquet")) == 48
    trip = json.loads((tmp_path / "a.trips.geojson").read_text())["features"][0]
    lon, lat, alt, t = trip["geometry"]["coordinates"][0]
    assert (116 < lon < 117, 39 < lat < 41, alt) == (True, True, 0)
    assert t > 1.2e9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_movingpandas_reads_our_mf_json(geolife: Path, tmp_path: Path) -> None:
    movingpandas = pytest.importorskip("movingpandas")
    run("convert", geolife, tmp_path / "a.mfjson")
    found = movingpandas.read_mf_json(str(tmp_path / "a.mfjson"), "traj_id")
    assert len(found) == 48
