"""What is public is named, and what is private is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldptrace as lt
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.io import write
from ldptrace.methods.public import Public
from ldptrace.roads import write_roads
from ldptrace.roads.routes import Routes
from road_kit import lattice_roads
from synthesis_kit import run_method

BOUNDS = (0.0, 0.0, 4.0, 4.0)


def lines(count: int, seed: int) -> Trajectories:
    rng = np.random.default_rng(seed)
    return Trajectories(*rng.uniform(0, 4, (2, 3 * count)), np.arange(count + 1) * 3)


def test_knowledge_comes_as_such_or_as_files(tmp_path: Path) -> None:
    roads, public = lattice_roads(), lines(20, 1)
    assert Public.of().ways is None
    assert Public.of(roads=roads).ways is roads
    write_roads(roads, tmp_path / "net")
    assert Public.of(roads=tmp_path / "net").network.edges == roads.edges  # type: ignore[union-attr]
    write(public, tmp_path / "routes.csv")
    for routes in (public, tmp_path / "routes.csv", str(tmp_path / "routes.csv")):
        found = Public.of(routes=routes)
        assert isinstance(found.ways, Routes)
        assert len(found.ways) == len(public)
        assert Public.of(routes=found.ways).ways is found.ways
    assert found.notes == ["Trips follow routes.csv, which is public and costs no epsilon."]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"roads": lattice_roads(), "routes": Trajectories.from_lists([])}, "not both"),
        ({"roads": 7}, "roads must be a RoadNetwork or a file, got int"),
        ({"routes": [1]}, "routes must be Trajectories, Routes or a file, got list"),
        ({"area": 3}, "area must be an Area or a file, got int"),
    ],
)
def test_what_is_no_public_knowledge_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Public.of(**given)


def test_routes_with_fixes_of_the_input_are_refused(tmp_path: Path) -> None:
    private, public = lines(400, 1), lines(400, 2)
    Public.of(routes=public).refuse_private(Memory(private))
    few = Trajectories.concat([public, private.part(0, 4)])
    Public.of(routes=few).refuse_private(Memory(private))
    some = Trajectories.concat([public, private.part(0, 5)])
    with pytest.raises(InputError, match=r"1% of the fixes of public trajectories are fixes of the input"):
        Public.of(routes=some).refuse_private(Memory(private))
    write(private, tmp_path / "trips.parquet")
    write(private, tmp_path / "copy.csv")
    with pytest.raises(InputError, match="is the private input itself"):
        lt.synthesize(tmp_path / "trips.parquet", 1.0, bounds=BOUNDS, routes=str(tmp_path / "trips.parquet"))
    with pytest.raises(InputError, match=r"100% of the fixes of copy.csv are fixes of the input"):
        lt.synthesize(tmp_path / "trips.parquet", 1.0, bounds=BOUNDS, routes=tmp_path / "copy.csv")


@pytest.mark.parametrize("public", ["roads", "routes", "area"])
def test_no_public_file_is_the_private_input(tmp_path: Path, public: str) -> None:
    write(lines(20, 1), tmp_path / "trips.geojson")
    (tmp_path / "link.geojson").symlink_to(tmp_path / "trips.geojson")
    with pytest.raises(InputError, match=f"is the private input itself, and {public} must be public"):
        lt.synthesize(
            tmp_path / "trips.geojson", 1.0, bounds=BOUNDS, **{public: str(tmp_path / "link.geojson")}
        )


def test_routes_in_memory_are_compared_like_files() -> None:
    private = lines(400, 1)
    for made in (
        private,
        private.take(np.arange(40)),
        Trajectories.concat([lines(400, 2), private.part(0, 9)]),
    ):
        with pytest.raises(InputError, match="of the fixes of public trajectories are fixes of the input"):
            lt.synthesize(private, 1.0, bounds=BOUNDS, routes=Routes.from_trajectories(made))
    Public.of(routes=Routes.from_trajectories(lines(400, 2))).refuse_private(Memory(private))


@pytest.mark.parametrize(("crs", "digits", "scale"), [("EPSG:4326", 5, 1.0), ("EPSG:3857", 0, 5000.0)])
def test_rounded_copies_of_the_input_are_refused(crs: str, digits: int, scale: float) -> None:
    private = lines(400, 1)
    private = replace(private, x=scale * private.x, y=scale * private.y, crs=crs)
    rounded = replace(private, x=private.x.round(digits), y=private.y.round(digits))
    for routes in (rounded, Routes.from_trajectories(rounded)):
        with pytest.raises(InputError, match="of the rounded steps of public trajectories are rounded steps"):
            Public.of(routes=routes).refuse_private(Memory(private))


def test_trips_that_no_device_draws_are_private_too() -> None:
    private = lines(400, 1)
    private = replace(private, extra=pa.table({"who": np.zeros(400, dtype=np.int64)}), user="who")
    with pytest.raises(InputError, match="of the fixes of public trajectories are fixes of the input"):
        lt.synthesize(private, 1.0, bounds=BOUNDS, routes=lines(400, 1).part(7, 400))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_input_without_a_coordinate_system_has_that_of_the_map() -> None:
    roads = replace(lattice_roads(5, 0.02), crs="EPSG:4326")
    trips = lines(300, 1)
    trips = replace(trips, x=trips.x / 50, y=trips.y / 50)
    run = run_method(trips, 2.0, bounds=(0, 0, 0.08, 0.08), grid=2, roads=roads, library=300, seed=1)
    assert run.trajectories.crs == run.synthesis.plan.crs == "EPSG:4326"  # type: ignore[union-attr]
    with pytest.raises(
        InputError, match=r"its coordinates are EPSG:4326, those of the trajectories EPSG:32632"
    ):
        lt.synthesize(replace(trips, crs="EPSG:32632"), 2.0, bounds=(0, 0, 0.08, 0.08), roads=roads)
