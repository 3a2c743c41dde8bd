"""Files of products: extensions, promises, and packages that may be missing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from ldptrace.errors import InputError
from ldptrace.products.files import checked_target, write_table

TABLE = pa.table({"trips": [1, 2]})


def test_extensions_say_what_is_written() -> None:
    assert checked_target("a.csv", "a matrix is", (".csv",)) == Path("a.csv")
    with pytest.raises(InputError, match=r"a matrix is written as .csv, .omx, got a.txt"):
        checked_target("a.txt", "a matrix is", (".csv", ".omx"))


def test_tables_hold_their_promise_or_have_it_beside(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "a.parquet", {"epsilon": "1"})
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"ldptrace"]) == {"epsilon": "1"}
    write_table(TABLE, tmp_path / "a.csv", {"epsilon": "1"})
    assert pc.read_csv(tmp_path / "a.csv").equals(TABLE)
    assert json.loads((tmp_path / "a.csv.promise.json").read_text())["privacy"] == {"epsilon": "1"}
    write_table(TABLE, tmp_path / "a.csv", None)
    assert not (tmp_path / "a.csv.promise.json").exists()
