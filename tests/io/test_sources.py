"""Every kind of row, read in blocks, is what the same file gives in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read_with_account
from ldptrace.io.account import of_table
from ldptrace.io.sources import Source, assemble, hashed, sources

NUMBER = 50
X, Y = np.random.default_rng(3).random((2, NUMBER, 2)).round(3)
USERS = [f"u{k % 7}" for k in range(NUMBER)]
TABLES = {
    "ends": {"start_x": X[:, 0], "start_y": Y[:, 0], "end_x": X[:, 1], "end_y": Y[:, 1]},
    "lines": {
        "wkt": [f"SRID=3857;LINESTRING ({a[0]} {b[0]}, {a[1]} {b[1]})" for a, b in zip(X, Y, strict=True)]
    },
    "points": {
        "trip_id": np.repeat(np.arange(NUMBER // 2), 2),
        "wkt": [f"SRID=3857;POINT ({a[0]} {b[0]})" for a, b in zip(X, Y, strict=True)],
    },
    "lists": {"east": X.tolist(), "north": Y.tolist()},
}


def saved(folder: Path, kind: str, rows: str) -> Path:
    path, table = folder / f"a.{kind}", pa.table({"user": USERS, **TABLES[rows]})
    if kind == "csv":
        pacsv.write_csv(table, path)
    elif kind == "parquet":
        pq.write_table(table, path, row_group_size=20)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("rows", TABLES)
def test_blocks_are_the_file(tmp_path: Path, kind: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (kind, rows) == ("csv", "lists"):
        pytest.skip("CSV has no lists")
    monkeypatch.setattr("ldptrace.io.csv.BLOCK_BYTES", 400)
    path = saved(tmp_path, kind, rows)
    names = Names("east", "north") if rows == "lists" else Names()
    reading = Reading(names=names, bounds=(0.1, 0.1, 0.9, 0.9))
    whole, account = read_with_account(path, reading)
    batches = open_batches(path, reading, always=True, memory=4000)
    assert batches is not None
    parts = list(batches)
    assert len(parts) > 1
    found = Trajectories.concat(parts)
    np.testing.assert_array_equal(found.x, whole.x)
    np.testing.assert_array_equal(found.y, whole.y)
    np.testing.assert_array_equal(found.offsets, whole.offsets)
    assert (found.crs, found.user) == (whole.crs, whole.user)
    assert found.crs == ("EPSG:3857" if rows in ("lines", "points") else None)
    assert batches.account.crossings == account.crossings
    batches.close()


def test_the_first_geometries_decide_for_all_files(tmp_path: Path) -> None:
    line, point = tmp_path / "1.csv", tmp_path / "2.csv"
    line.write_text("id;wkt\n1;LINESTRING (0 0, 1 1)\n2;LINESTRING (0 0, 1 1)\n")
    point.write_text("id;wkt\n3;POINT (0 0)\n")
    found = sources("csv", [line, point], Names())
    assert [source.trips for source in found] == [True, True]
    rows = [table["x"].to_pylist() for source in found for table in source.tables()]
    assert rows == [[[0, 1], [0, 1]], [[0]]]
    point.write_text("id;wkt\n3;POINT (0 0)\n4;LINESTRING (0 0, 1 1)\n")
    with pytest.raises(InputError, match=r"2\.csv: 1 rows are points and 1 are lines"):
        sources("csv", [point], Names())


@pytest.mark.parametrize("column", ["traj_id", "user"])
def test_files_of_text_have_trips_of_their_own(tmp_path: Path, column: str) -> None:
    for number in range(2):
        rows = [f"{k},{k + 10 * number + step},{k}" for k in range(3) for step in range(2)]
        (tmp_path / f"{number}.csv").write_text("\n".join([f"{column},x,y", *rows]) + "\n")
    whole, batches = read_with_account(tmp_path)[0], open_batches(tmp_path, always=True)
    assert batches is not None
    found = Trajectories.concat(list(batches))
    assert found.offsets.tolist() == whole.offsets.tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert found.x.tolist() == whole.x.tolist()
    assert found.users.tolist() == whole.users.tolist()
    batches.close()


# Bytes that hold every trip of these tests.
MEMORY = 1 << 16


def assembled(table: pa.Table, folder: Path, parts: int) -> Trajectories:
    """The trips of a table of points that comes in batches of seven rows, through about so many parts."""
    source = folder / "source"
    source.write_bytes(b"")
    batches = [table.slice(at, 7) for at in range(0, table.num_rows, 7)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ldptrace.io.sources._PIECE", 1)
        patched.setattr("ldptrace.io.sources.PARTS", max(1, MEMORY * parts // max(table.nbytes, 1)))
        points = Source(source, lambda *_: iter(batches), table.num_rows, Names(), False, table.slice(0, 0))
        files, _ = assemble([points], folder, Reading(), memory=MEMORY)
    assert 1 <= len(files) <= parts + 1
    tables = [part for file in files for part in file.tables()]
    assert sum(file.rows for file in files) == sum(part.num_rows for part in tables)
    return Trajectories.from_arrow(pa.concat_tables(tables))


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=40)


@pytest.mark.slow
@settings(max_examples=40)
@given(rows, st.integers(1, 5), st.booleans())
def test_parts_give_what_memory_gives(points: list[tuple[int, int]], parts: int, words: bool) -> None:
    trip, time = zip(*points, strict=True)
    order = list(range(len(points)))
    names: list[object] = [f"trip {one}" for one in trip] if words else list(trip)
    table = pa.table({"trip_id": names, "x": order, "y": order, "t": time})
    with TemporaryDirectory() as folder:
        found = assembled(table, Path(folder), parts)
    wanted = of_table(table, Reading())[0]
    np.testing.assert_array_equal(found.x, wanted.x)
    np.testing.assert_array_equal(found.offsets, wanted.offsets)
    assert found.t is not None
    np.testing.assert_array_equal(found.t, wanted.t)


@pytest.mark.parametrize("parts", [1, 3])
def test_users_who_count_their_own_trips(tmp_path: Path, parts: int) -> None:
    table = pa.table(
        {"user": ["a", "b", "a", "b"], "trip_id": [1, 1, 2, 1], "x": [0, 1, 2, 3], "y": [0, 1, 2, 3]}
    )
    found = assembled(table, tmp_path, parts)
    assert found.x.tolist() == [0, 1, 3, 2]
    assert found.sizes.tolist() == [1, 2, 1]
    assert found.extra is not None
    assert found.extra["user"].to_pylist() == ["a", "b", "a"]


def test_nothing_is_left_aside_but_the_trips(tmp_path: Path) -> None:
    assembled(pa.table({"trip_id": [1, 2, 1], "x": [0, 1, 2], "y": [0, 1, 2]}), tmp_path, 3)
    assert {path.name for path in tmp_path.iterdir()} == {"source", "trips-0.arrow", "trips-1.arrow"}


def test_points_need_a_trip(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="source: no column says which trajectory"):
        assembled(pa.table({"x": [0], "y": [0]}), tmp_path, 1)


@given(st.lists(st.none() | st.integers(0, 5), min_size=1, max_size=20))
def test_equal_values_have_equal_numbers_and_others_do_not(values: list[int | None]) -> None:
    for column in (
        pa.chunked_array([values]),
        pa.chunked_array([[None if v is None else f"id {v}" for v in values]]),
    ):
        numbers = hashed(column)
        assert numbers.min() >= 0
        for a, one in zip(values, numbers, strict=True):
            for b, other in zip(values, numbers, strict=True):
                assert (a == b) == (one == other)


def test_numbers_are_dealt_evenly() -> None:
    counts = np.bincount(hashed(pa.chunked_array([range(10_000)])) % 10)
    # Ten parts of a thousand each, within a tenth.
    assert np.abs(counts - 1000).max() < 100
