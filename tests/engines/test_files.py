from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.core.reading import Names, Outside, Reading
from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import Files, open_batches, open_crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.io import read_with_account, write

WALKS = drifting_walks(60, 1)
TRIPS = Trajectories.from_lists([[(0, 0), (1, 1)], [(2, 2), (9, 9)]])


@pytest.mark.parametrize("name", ["walks.parquet", "walks.csv", "walks.csv.gz"])
@pytest.mark.parametrize("memory", [500, 1 << 20])
def test_batches_are_the_file(tmp_path: Path, name: str, memory: int) -> None:
    write(WALKS, tmp_path / name)
    batches = open_batches(tmp_path / name, memory=memory, always=True)
    assert batches is not None
    for _ in range(2):  # any number of times
        parts = list(batches)
        joined = Trajectories.concat(parts)
        np.testing.assert_array_equal(joined.x, WALKS.x)
        np.testing.assert_array_equal(joined.offsets, WALKS.offsets)
    assert batches.expected == len(WALKS)
    assert (batches.account.trajectories, batches.account.points) == (len(WALKS), WALKS.points)
    batches.close()


def test_little_memory_makes_small_batches(tmp_path: Path) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    sizes = []
    for memory in (500, 1 << 30):
        batches = open_batches(tmp_path / "walks.parquet", memory=memory, always=True)
        assert batches is not None
        sizes.append(max(len(part) for part in batches))
    assert sizes[0] < sizes[1] == len(WALKS)


@pytest.mark.slow
def test_what_is_left_out_is_that_of_a_whole_read(tmp_path: Path) -> None:
    path, bounds = tmp_path / "walks.csv", (1.0, 1.0, 9.0, 9.0)
    write(WALKS, path)
    kept, account = read_with_account(path, Reading(bounds=bounds))
    batches = open_batches(path, Reading(bounds=bounds), memory=500)
    assert batches is not None
    joined = Trajectories.concat(list(batches))
    np.testing.assert_array_equal(joined.x, kept.x)
    assert batches.account.crossings == account.crossings
    batches.close()


@pytest.mark.parametrize("outside", get_args(Outside))
def test_the_account_is_that_of_a_whole_read(tmp_path: Path, outside: Outside) -> None:
    path, bounds = tmp_path / "walks.parquet", (1.0, 1.0, 9.0, 9.0)
    x = WALKS.x.copy()
    x[::50] = np.nan
    pq.write_table(Trajectories(x, WALKS.y, WALKS.offsets).to_arrow(), path, row_group_size=11)
    _, account = read_with_account(path, Reading(bounds=bounds, outside=outside))
    batches = open_batches(path, Reading(bounds=bounds, outside=outside), memory=5000, trips=True)
    assert batches is not None
    assert len(list(batches)) > 3
    assert batches.account == account


def test_work_is_done_on_every_batch_and_comes_in_order(tmp_path: Path) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", memory=5000, trips=True)
    assert batches is not None
    for _ in range(2):
        found = list(batches.map(lambda batch, number: (number, batch.points)))
        assert [number for number, _ in found] == list(range(len(found)))
        assert len(found) > 3
        assert sum(points for _, points in found) == WALKS.points


def test_an_error_in_the_work_ends_the_pass(tmp_path: Path) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", memory=5000, trips=True)
    assert batches is not None

    def work(batch: Trajectories, number: int) -> int:
        if number == 2:
            raise InputError("no more")
        return len(batch)

    with pytest.raises(InputError, match="no more"):
        list(batches.map(work))
    assert batches.account.rows == 0


@pytest.mark.parametrize(
    ("bounds", "outside", "inside"),
    [
        (None, "drop", True),
        ((0.0, 0.0, 10.0, 10.0), "drop", True),
        ((1.0, 0.0, 10.0, 10.0), "drop", False),
        ((0.0, 1.0, 10.0, 10.0), "drop", False),
        ((0.0, 0.0, 9.0, 10.0), "drop", False),
        ((0.0, 0.0, 10.0, 9.0), "drop", False),
        ((1.0, 1.0, 9.0, 9.0), "cut", False),
        ((1.0, 1.0, 9.0, 9.0), "clamp", True),
    ],
)
def test_files_say_whether_all_stay_inside(
    tmp_path: Path, bounds: tuple[float, float, float, float] | None, outside: Outside, inside: bool
) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", Reading(bounds=bounds, outside=outside), trips=True)
    assert batches is not None
    assert batches.inside == inside


def test_files_without_statistics_do_not_say_it(tmp_path: Path) -> None:
    pq.write_table(WALKS.to_arrow(), tmp_path / "walks.parquet", write_statistics=False)
    batches = open_batches(tmp_path / "walks.parquet", Reading(bounds=(0, 0, 10, 10)), trips=True)
    assert batches is not None
    assert not batches.inside


def test_the_first_that_has_a_time(tmp_path: Path) -> None:
    away = Trajectories([50.0] * 70, [50.0] * 70, np.arange(71), t=np.full(70, np.nan))
    walks = replace(WALKS, t=np.arange(WALKS.points, dtype=float))
    trips = Trajectories.concat([away, walks])
    pq.write_table(trips.to_arrow(), tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", Reading(bounds=(0, 0, 10, 10)), trips=True)
    assert batches is not None
    assert batches.timed
    np.testing.assert_array_equal(batches.first().x, WALKS.part(0, 1).x)
    none = open_batches(tmp_path / "walks.parquet", Reading(bounds=(90, 90, 99, 99)), trips=True)
    assert none is not None
    assert len(none.first()) == 0


def test_columns_may_be_named(tmp_path: Path) -> None:
    table = WALKS.to_arrow()
    pq.write_table(table.rename_columns(["traj_id", "east", "north"]), tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", Reading(names=Names("east", "north")), trips=True)
    assert batches is not None
    np.testing.assert_array_equal(Trajectories.concat(list(batches)).x, WALKS.x)


def test_users_stay_with_their_trips(tmp_path: Path) -> None:
    names = pa.table({"user_id": [f"u{k % 7}" for k in range(60)], "mode": ["bus"] * 60})
    write(Trajectories(WALKS.x, WALKS.y, WALKS.offsets, extra=names, user="user_id"), tmp_path / "a.parquet")
    batches = open_batches(tmp_path / "a.parquet", memory=500)
    assert batches is not None
    joined = Trajectories.concat(list(batches))
    assert joined.user == "user_id"
    assert joined.extra is not None
    assert joined.extra.to_pydict() == {"user_id": [f"u{k % 7}" for k in range(60)]}


def test_what_fits_or_is_no_table_is_read_as_a_whole(tmp_path: Path) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    write(WALKS, tmp_path / "walks.dat")
    assert open_batches(tmp_path / "walks.parquet") is None
    assert open_batches(tmp_path / "walks.dat", memory=1) is None
    assert open_batches(Path("-"), memory=1) is None
    assert open_batches(tmp_path / "nothing.parquet", memory=1) is None


def test_nothing_usable_is_told(tmp_path: Path) -> None:
    write(WALKS, tmp_path / "walks.parquet")
    batches = open_batches(tmp_path / "walks.parquet", Reading(bounds=(50, 50, 60, 60)), memory=500)
    assert batches is not None
    with pytest.raises(InputError, match=r"walks\.parquet: "):
        list(batches)


@pytest.mark.parametrize("outside", get_args(Outside))
def test_bounds_that_miss_everything_are_told_as_by_a_whole_read(tmp_path: Path, outside: Outside) -> None:
    path, bounds = tmp_path / "walks.parquet", (50.0, 50.0, 60.0, 60.0)
    write(WALKS, path)
    batches = open_batches(path, Reading(bounds=bounds, outside=outside), memory=20_000, trips=True)
    assert batches is not None
    with pytest.raises(InputError) as whole:
        read_with_account(path, Reading(bounds=bounds, outside=outside))
    with pytest.raises(InputError) as parts:
        list(batches)
    assert str(parts.value) == str(whole.value)


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
