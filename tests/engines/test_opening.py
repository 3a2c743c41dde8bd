from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

import ldptrace as lt
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import Files
from ldptrace.engines.local import Memory
from ldptrace.engines.opening import open_crowd
from ldptrace.errors import InputError

TRIPS = Trajectories.from_lists([[(0, 0), (1, 1)], [(2, 2), (9, 9)]])


def test_trajectories_are_opened_where_they_are(tmp_path: Path) -> None:
    lt.write(TRIPS, tmp_path / "trips.parquet")
    reading = Reading(bounds=(0, 0, 4, 4))
    with ExitStack() as resources:
        held, _ = open_crowd(TRIPS, reading, Running(), resources)
        filed, _ = open_crowd(tmp_path / "trips.parquet", reading, Running(), resources)
        whole, _ = open_crowd(tmp_path / "trips.parquet", reading, Running(), resources, passes=False)
        assert filed.add_up(lambda block, _: block.points, 0) == 3
    assert [type(crowd) for crowd in (held, filed, whole)] == [Memory, Files, Memory]
    assert held.whole().points == whole.whole().points == 3
    for crowd in (held, filed, whole):
        assert crowd.account.crossings == held.account.crossings


def test_a_cluster_needs_names_and_bounds() -> None:
    with pytest.raises(InputError, match="a cluster needs the name of its input, public bounds"):
        open_crowd(TRIPS, Reading(bounds=(0, 0, 4, 4)), Running("spark"), ExitStack())


def test_a_cluster_cuts_no_trips_at_their_gaps(tmp_path: Path) -> None:
    lt.write(TRIPS, tmp_path / "trips.parquet")
    reading = Reading(bounds=(0, 0, 4, 4), split_gap=60)
    with ExitStack() as resources, pytest.raises(InputError, match="--split-gap needs the trips in memory"):
        open_crowd(tmp_path / "trips.parquet", reading, Running("spark"), resources)


def test_points_are_read_where_they_fit(tmp_path: Path) -> None:
    lt.write(Trajectories.concat([TRIPS] * 50), tmp_path / "points.csv")
    with ExitStack() as resources:
        kinds = [
            type(open_crowd(tmp_path / "points.csv", Reading(bounds=(0, 0, 9, 9)), where, resources)[0])
            for where in (Running(), Running(memory=1000), Running(batches=True))
        ]
    assert kinds == [Memory, Files, Files]
