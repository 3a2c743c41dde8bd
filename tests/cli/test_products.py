"""Matrices, flows and papers from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import geopandas
import numpy as np
import pyarrow.csv as pc
import pytest
import shapely

from cli_kit import error_of, run
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates, Tally
from ldptrace.io import read, write
from ldptrace.products.sample import EVERY, ONE_EACH, UNPROMISED
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads import write_roads
from road_kit import lattice_roads

HOUR = 3600.0


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with trips, zones and streets."""
    roads = lattice_roads(5)
    write_roads(roads, tmp_path / "roads")
    x0, y0, x1, y1 = roads.bounds()
    t = np.array([8.0, 8.1, 17.0, 17.1]) * HOUR
    trips = Trajectories([x0, x1, x1, x0], [y0, y0, y0, y0], [0, 2, 4], t=t, provenance={"epsilon": "1"})
    write(trips, tmp_path / "trips.parquet")
    middle = (x0 + x1) / 2
    boxes = [shapely.box(x0 - 1, y0 - 1, middle, y1 + 1), shapely.box(middle, y0 - 1, x1 + 1, y1 + 1)]
    geopandas.GeoDataFrame({"zone_id": ["w", "e"]}, geometry=boxes, crs="EPSG:32633").to_file(
        tmp_path / "zones.geojson", engine="pyogrio"
    )
    return tmp_path


def test_a_matrix_is_written_and_summed_up(files: Path) -> None:
    done = run("matrix", str(files / "trips.parquet"), "--zones", str(files / "zones.geojson"),
               "--by", "hour", "--population", "1000", "-o", str(files / "od.csv"))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "1,000 trips between 2 zones in 2 matrices" in done.output
    assert "they are not trips per day" in done.output
    assert pc.read_csv(files / "od.csv")["trips"].to_pylist() == [500, 500]


def test_flows_are_written_and_summed_up(files: Path) -> None:
    done = run(
        "flows", str(files / "trips.parquet"), "--roads", str(files / "roads"), "-o", str(files / "f.gpkg")
    )
    assert done.exit_code == 0, done.output
    assert "passes of 8 streets" in done.output
    assert len(geopandas.read_file(files / "f.gpkg", layer="streets")) == 8


def test_papers_are_written(files: Path) -> None:
    done = run("statement", str(files / "trips.parquet"), "-o", str(files / "papers"), "--date", "2026-03-01")
    assert done.exit_code == 0, done.output
    assert (files / "papers" / "registry.yaml").exists()
    said = error_of("statement", str(files / "trips.parquet"), "-o", str(files / "b"), "--date", "March")
    assert said == "--date is written as 2026-03-01, got 'March'"
    assert not (files / "b").exists()


def test_bad_outputs_are_refused_before_the_work(files: Path) -> None:
    assert "written as .omx" in error_of("matrix", "none", "--zones", "h3:8", "-o", str(files / "od.xls"))
    assert "written as .gpkg" in error_of("flows", "none", "--roads", "none", "-o", str(files / "f.csv"))


def test_an_input_is_never_replaced(files: Path) -> None:
    trips, zones = str(files / "trips.parquet"), str(files / "zones.geojson")
    before = (files / "trips.parquet").read_bytes()
    assert error_of("matrix", trips, "--zones", zones, "-o", trips).endswith(
        "trips.parquet is also the input: give another name"
    )
    assert "also the input" in error_of("flows", trips, "--roads", str(files / "roads"), "-o", trips)
    assert "also the input" in error_of("profile", trips, "--zones", zones, "--html", zones)
    assert (files / "trips.parquet").read_bytes() == before


def test_a_population_is_a_number(files: Path) -> None:
    given = ("matrix", str(files / "trips.parquet"), "--zones", "h3:8", "-o", str(files / "od.csv"))
    for wrong in ("0", "nan", "inf"):
        assert f"must be a number above 0, got {wrong}" in error_of(*given, "--population", wrong)


def test_a_page_for_the_public_is_written(files: Path) -> None:
    page, numbers = files / "p.html", files / "p.json"
    done = run("profile", str(files / "trips.parquet"), "--html", str(page), "--json", str(numbers),
               "--zones", str(files / "zones.geojson"), "--roads", str(files / "roads"))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "<h1>How people move here</h1>" in page.read_text(encoding="utf-8")
    assert '"ldptrace-profile"' in numbers.read_text(encoding="utf-8")


def test_a_page_tells_trips_per_person_where_people_were_asked(files: Path) -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0, questions=["trips"])
    zero = Tally.zero(plan)
    estimates = files / "estimates.json"
    page = [
        "profile",
        str(files / "trips.parquet"),
        "--html",
        str(files / "p.html"),
        "--estimates",
        str(estimates),
    ]
    estimates.write_text(Estimates.from_tally(plan, zero).to_json(), encoding="utf-8")
    assert "nobody was asked how many trips they made" in error_of(*page)
    some = replace(zero, users=(1000,), reports=(1000,), counts=tuple(counts + 100 for counts in zero.counts))
    estimates.write_text(Estimates.from_tally(plan, some).to_json(), encoding="utf-8")
    assert run(*page).exit_code == 0
    assert "trips each on average" in (files / "p.html").read_text(encoding="utf-8")


def test_trips_per_person_agree_with_the_share_without_a_trip(files: Path) -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0, questions=["trips"])
    zero = Tally.zero(plan)
    # By chance, the answers to this question say that hardly anybody made a trip.
    few = replace(zero, users=(1000,), reports=(1000,), counts=tuple(counts + 215 for counts in zero.counts))
    (files / "few.json").write_text(Estimates.from_tally(plan, few).to_json(), encoding="utf-8")
    stated = {
        "epsilon": "1",
        "unit": "user",
        "users": 1000,
        "without_trip": {"value": 0.274, "std_error": 0.01},
    }
    write(replace(read(files / "trips.parquet"), provenance=stated), files / "told.parquet")
    done = run("profile", str(files / "told.parquet"), "--html", str(files / "p.html"), "--json", str(files / "p.json"),
               "--estimates", str(files / "few.json"))  # fmt: skip
    assert done.exit_code == 0, done.output
    each = json.loads((files / "p.json").read_text())["trips_per_person"]
    assert "about 73 in 100 had made a trip" in (files / "p.html").read_text(encoding="utf-8")
    # Everybody with a trip made at least one.
    assert each["value"] >= 1 - each["none"]
    assert each["least"] == pytest.approx(1 - each["none"] - 1.96 * 0.01)


def test_trips_are_converted_for_a_simulator(files: Path) -> None:
    done = run("convert", str(files / "trips.parquet"), str(files / "a.trips.xml"), "--to", "sumo-trips")
    assert done.exit_code == 0, done.output
    assert f"wrote 2 trips for SUMO by their coordinates to {files / 'a.trips.xml'}" in done.output
    said = error_of("convert", str(files / "trips.parquet"), str(files / "b.xml"), "--to", "sumo-routes")
    assert said.startswith("sumo-routes needs the SUMO network")
    assert not (files / "b.xml").exists()


def test_matrix_flows_and_profile_say_the_same_about_what_counts(files: Path) -> None:
    trips = read(files / "trips.parquet")
    for unit, words in (("user", ONE_EACH), ("trip", EVERY)):
        write(replace(trips, provenance={"epsilon": "1", "unit": unit}), files / "of.parquet")
        for command in (
            ("matrix", "--zones", str(files / "zones.geojson"), "-o", str(files / "od.csv")),
            ("flows", "--roads", str(files / "roads"), "-o", str(files / "flows.parquet")),
            ("profile", "--html", str(files / "page.html")),
        ):
            done = run(command[0], str(files / "of.parquet"), *command[1:])
            assert words in done.output.replace("\n", " "), done.output
            assert UNPROMISED not in done.output
        assert words in (files / "page.html").read_text()


def test_numbers_of_trips_without_a_promise_are_not_to_be_published(files: Path) -> None:
    write(replace(read(files / "trips.parquet"), provenance=None), files / "real.parquet")
    for command in (
        ("matrix", "--zones", str(files / "zones.geojson"), "-o", str(files / "od.csv")),
        ("profile", "--html", str(files / "page.html")),
    ):
        assert UNPROMISED in run(command[0], str(files / "real.parquet"), *command[1:]).output


def test_hours_are_named_and_no_option_is_without_effect(files: Path) -> None:
    """--timezone moves dates; hours without a date, which it cannot move, make it an error."""
    zones = ("--zones", str(files / "zones.geojson"), "--by", "hour", "-o", str(files / "od.csv"))
    trips = read(files / "trips.parquet")
    dated = replace(trips, t=trips.t + 1.7e9 // 86400 * 86400)
    write(dated, files / "dated.parquet")
    done = run("matrix", str(files / "dated.parquet"), *zones)
    assert "UTC, which is assumed because no time zone such as Europe/Berlin is stated" in done.output
    moved = run("matrix", str(files / "dated.parquet"), *zones, "--timezone", "Asia/Shanghai")
    assert "Hours are those of Asia/Shanghai." in moved.output
    assert set(pc.read_csv(files / "od.csv")["slot"].to_pylist()) == {"hour_16", "hour_01"}
    promise = (files / "od.csv.promise.json").read_text()
    assert '"timezone": "Asia/Shanghai"' in promise
    for stated in (None, "America/Los_Angeles"):
        write(replace(trips, timezone=stated), files / "day.parquet")
        wrong = error_of("matrix", str(files / "day.parquet"), *zones, "--timezone", "Asia/Shanghai")
        assert "--timezone Asia/Shanghai cannot move them" in wrong
    same = run("matrix", str(files / "day.parquet"), *zones, "--timezone", "America/Los_Angeles")
    assert "Hours are those of America/Los_Angeles." in same.output
    page = files / "page.html"
    run("profile", str(files / "day.parquet"), "--html", str(page))
    assert "Hours are those of America/Los_Angeles." in page.read_text()
