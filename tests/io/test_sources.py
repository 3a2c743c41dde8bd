"""Every kind of row, read in blocks, is what the same file gives in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import InputError
from ldptrace.io import read_with_account
from ldptrace.io.sources import sources

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
