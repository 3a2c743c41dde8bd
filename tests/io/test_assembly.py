from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.io.account import of_table
from ldptrace.io.assembly import assemble, hashed
from ldptrace.io.sources import Source

# Bytes that hold every trip of these tests.
MEMORY = 1 << 16


def assembled(table: pa.Table, folder: Path, parts: int) -> Trajectories:
    """The trips of a table of points that comes in batches of seven rows, through about so many parts."""
    source = folder / "source"
    source.write_bytes(b"")
    batches = [table.slice(at, 7) for at in range(0, table.num_rows, 7)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ldptrace.io.assembly._PIECE", 1)
        patched.setattr("ldptrace.io.assembly.PARTS", max(1, MEMORY * parts // max(table.nbytes, 1)))
        points = Source(source, lambda *_: iter(batches), table.num_rows, Names(), False, table.slice(0, 0))
        files, _ = assemble([points], folder, Reading(), memory=MEMORY)
    assert 1 <= len(files) <= parts + 1
    tables = [part for file in files for part in file.tables()]
    assert sum(file.rows for file in files) == sum(part.num_rows for part in tables)
    return Trajectories.from_arrow(pa.concat_tables(tables))


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=40)


@pytest.mark.slow
@pytest.mark.counted
@settings(max_examples=40)
@given(rows, st.integers(1, 5), st.booleans())
def test_parts_give_what_memory_gives(points: list[tuple[int, int]], parts: int, words: bool) -> None:
    trip, time = zip(*points, strict=True)
    order = list(range(len(points)))
    names: list[object] = [f"trip {one}" for one in trip] if words else list(trip)
    table = pa.table({"trip_id": names, "x": order, "y": order, "t": time})
    with TemporaryDirectory() as folder:
        found = assembled(table, Path(folder), parts)
    wanted = of_table(table, Reading()).trajectories
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
