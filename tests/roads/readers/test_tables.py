from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.errors import FormatError, InputError
from ldptrace.roads.readers.tables import find, need, numbers, optional_numbers, positions, read_table

HERE = Path("nodes.csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_header_tells_what_parts_the_columns(tmp_path: Path, delimiter: str, packed: bool) -> None:
    text = "\ufeffNode ID,x\r\n007,1.5\r\n".replace(",", delimiter).encode()
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    table = read_table(path, text=["node_id"])
    assert table.to_pydict() == {"Node ID": ["007"], "x": [1.5]}


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(FormatError, match="is not a table of text columns"):
        read_table(tmp_path / "a.csv")


def test_columns_by_the_first_of_their_names() -> None:
    table = pa.table({"ID": [1], "Node-Id": [2]})
    assert find(table, ("node_id", "id")) == "Node-Id"
    assert find(table, ("osmid",)) is None
    with pytest.raises(FormatError, match=r"nodes\.csv has no column u or from; its columns are ID, Node-Id"):
        need(table, ("u", "from"), HERE)


def test_numbers_that_must_be_and_numbers_that_may_be() -> None:
    table = pa.table({"a": [1, None], "b": ["1", "two"], "c": [1.0, np.inf]})
    np.testing.assert_array_equal(optional_numbers(table, "a", HERE), [1, np.nan])
    with pytest.raises(FormatError, match=r"column b of nodes\.csv holds values that are not numbers"):
        optional_numbers(table, "b", HERE)
    for name in ("a", "c"):
        with pytest.raises(FormatError, match=f"column {name} of .* has no finite number in line 3"):
            numbers(table, name, HERE)


def test_places_on_a_plane_or_on_the_earth() -> None:
    columns = {"x": [1], "y": [2], "lon": [3], "lat": [4]}
    x, y, degrees = positions(pa.table(columns), HERE)
    assert (x.tolist(), y.tolist(), degrees) == ([1], [2], False)
    x, y, degrees = positions(pa.table({"x": [1], "lon": [3], "lat": [4]}), HERE)
    assert (x.tolist(), y.tolist(), degrees) == ([3], [4], True)
    with pytest.raises(FormatError, match="no columns x and y or lon and lat; its columns are x, lat"):
        positions(pa.table({"x": [1], "lat": [2]}), HERE)
