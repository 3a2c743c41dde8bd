from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.cli.crowds import Engine, bytes_of, open_crowd, open_sets
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Files, Local
from ldptrace.errors import InputError
from ldptrace.io.reading import Reading

READING = Reading(bounds=(0, 0, 10, 10))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    lt.write(drifting_walks(50, 1), tmp_path / "walks.parquet")
    return tmp_path / "walks.parquet"


def test_what_fits_is_read_and_what_does_not_is_opened(source: Path) -> None:
    with ExitStack() as resources:
        kinds = [
            open_sets(Engine.local, source, [source], Reading(), resources, memory=memory)
            for memory in (1 << 30, 1000)
        ]
        assert [type(item) for item in (*kinds[0], *kinds[1])] == [Trajectories, Trajectories, Files, Files]


def test_trips_are_opened_and_points_read_where_they_fit(source: Path, tmp_path: Path) -> None:
    lt.write(drifting_walks(50, 1), tmp_path / "walks.csv")
    with ExitStack() as resources:
        for memory in (1000, 1 << 30):
            crowd, engine = open_crowd(Engine.local, source, READING, resources, memory=memory)
            assert isinstance(crowd, Files)
            assert isinstance(engine, Local)
        points = open_crowd(Engine.local, tmp_path / "walks.csv", READING, resources, memory=1000)[0]
        assert isinstance(points, Files)
        assert open_crowd(Engine.local, tmp_path / "walks.csv", READING, resources, memory=1 << 30)[0] is None
        assert open_crowd(Engine.local, source, Reading(), resources, memory=1000)[0] is None


def test_a_cluster_needs_bounds_and_memory_a_number(source: Path) -> None:
    with ExitStack() as resources, pytest.raises(InputError, match="give the public --bounds"):
        open_crowd(Engine.spark, source, Reading(), resources, memory=1000)
    with pytest.raises(InputError, match="such as 512M"):
        bytes_of("--memory", "much")
