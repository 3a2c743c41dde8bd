"""Every format on a disk that is full at every size: one error of the system, the old file, and nothing else."""

from __future__ import annotations

import errno
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.atomic import FULL
from ldptrace.core.trajectories import Trajectories
from ldptrace.io import write
from ldptrace.io.formats import FORMATS
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.sample import Numbers, Sample
from ldptrace.products.simulators import SIMULATORS, write_for
from ldptrace.products.statement import Operator, write_statement
from ldptrace.products.statement.papers import Promise
from ldptrace.roads import write_roads
from road_kit import lattice_roads

PROMISE = {"epsilon": "1", "unit": "user"}
RNG = np.random.default_rng(0)
Written = Callable[[Path], object]


def trips() -> Trajectories:
    place, t = RNG.random((2, 900)), np.tile(np.arange(3.0), 300)
    return Trajectories(*place, np.arange(0, 901, 3), t=1.7e9 + 60 * t, crs="EPSG:4326", provenance=PROMISE)


def matrix() -> Matrix:
    values = RNG.random((3, 2, 20, 20))
    return Matrix(tuple(f"z{k}" for k in range(20)), ("a", "b"), Numbers(*values), 0.0, PROMISE)


def flows(side: int = 6, trips: int = 200) -> Flows:
    roads = lattice_roads(side)
    x0, y0, x1, y1 = roads.bounds()
    x, y = RNG.uniform(x0, x1, trips), RNG.uniform(y0, y1, trips)
    line = Trajectories(x, y, np.arange(0, trips + 1, 2), provenance=PROMISE)
    return Flows.count(Sample.of_trips(line), roads)


def cases() -> Iterator[tuple[str, Written]]:
    """Yield the name of an output of each kind, and the function that writes it."""
    some, roads = trips(), lattice_roads(12)
    for kind in FORMATS.values():
        if kind.writer is not None:
            yield f"x{kind.extensions[0]}", partial(write, some)
    for name in SIMULATORS:
        if name != "sumo-routes":
            yield f"{name}.xml", lambda path, name=name: write_for(some, path, name)
    for name in (".omx", ".csv", ".parquet"):
        yield f"matrix{name}", matrix().write
    for name in (".gpkg", ".geojson", ".parquet"):
        yield f"flows{name}", flows().write
    for name in ("roads", "roads.gpkg", "roads.geojson"):
        yield name, partial(write_roads, roads)
    yield (
        "statement",
        lambda path: write_statement(Promise.of_provenance(PROMISE, "x"), path, Operator(), None),
    )


CASES = dict(cases())


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a full disk; the system then says EFBIG."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "full"
    for made in (whole, folder):
        made.mkdir()
    CASES[name](whole / name)
    size = max(len(data) for data in files(whole).values())
    is_folder = (whole / name).is_dir()
    if not is_folder:
        (folder / name).write_text("old")
    before = files(folder)
    for limit in sorted({0, 1, 600, *(size * part // 5 for part in range(1, 5)), size - 600, size - 1}):
        if not 0 <= limit < size:
            continue
        with pytest.raises(OSError, match=r"File too large") as caught, at_most(limit):
            CASES[name](folder / name)
        assert caught.value.errno == errno.EFBIG
        assert caught.value.errno in FULL
        assert str(caught.value.filename).startswith(str(folder)), limit
        assert files(folder) == before, limit
        assert [path.name for path in folder.iterdir()] == ([] if is_folder else [name]), limit
    # With room enough, the same files are written.
    CASES[name](folder / name)
    assert files(folder).keys() == files(whole).keys()


@pytest.mark.slow
def test_a_database_that_shrinks_when_the_disk_is_full(tmp_path: Path) -> None:
    """SQLite takes back what it wrote, so that there is room again when the error arrives."""
    many, target = flows(60, 6000), tmp_path / "flows.gpkg"
    many.write(target)
    size = target.stat().st_size
    assert size > 2_500_000
    before = files(tmp_path)
    for limit in range(1_200_000, size, (size - 1_200_000) // 4):
        with pytest.raises(OSError, match=r"File too large"), at_most(limit):
            many.write(target)
        assert files(tmp_path) == before
