"""CSV with one row per point and named columns. A column POLYLINE means the data set of taxis in Porto."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core import ragged
from ldptrace.core.columns import find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import total
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io import porto
from ldptrace.io.account import Parsed, each, of_table
from ldptrace.io.text import WESTERN, encoding_of, output, read_bytes, read_head

BLOCK_BYTES = 1 << 23


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read the points of a CSV file, gzipped or not. The first line decides the delimiter.

    Text that is not UTF-8 is read as UTF-16 if it looks so, otherwise as Western European.
    """
    head = read_head(path)
    encoding = encoding_of(head)
    if encoding == "utf-8":
        found = _read(path, head, reading)
        if found is not None:
            return found
        encoding = WESTERN
    text = read_bytes(path).decode(encoding, errors="replace").lstrip("\ufeff").encode()
    found = _read(pa.py_buffer(text), text[: 1 << 16], reading)
    assert found is not None
    return found


read = each(read_file)


def stated_crs(path: Path) -> str | None:
    """Return the coordinate system that the names of the columns imply, also for a file without rows."""
    names = _names(_first_line(read_head(path)))[0]
    return WGS84 if porto.POLYLINE in names else find_columns(names).crs


def _names(header: str) -> tuple[list[str], str]:
    """Return the names of the columns and the delimiter."""
    delimiter = max(",;\t|", key=header.count)
    return [name.strip().strip('"') for name in header.split(delimiter)], delimiter


def _read(source: Path | pa.Buffer, head: bytes, reading: Reading) -> Parsed | None:
    """Read the points of a text. Returns None if the text is not UTF-8."""
    names, delimiter = _names(_first_line(head))
    if all(_is_number(name) for name in names):
        raise FormatError(
            "line 1 holds numbers; a line with the names of the columns is needed, such as traj_id,x,y,t"
        )
    if porto.POLYLINE in names:
        return porto.read_table(source)
    try:
        table, broken = _parsed(source, delimiter), 0
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error) or "utf8" in str(error):
            return None
        table, broken = _without_broken_rows(source, delimiter)
    if any(pa.types.is_binary(column.type) for column in table.columns):
        return None
    parsed = of_table(table, reading, place="line", first=2)
    dropped = total([parsed.dropped_points, {"wrong number of columns": broken}])
    return replace(parsed, rows=parsed.rows + broken, dropped_points=dropped)


def is_porto(path: Path) -> bool:
    """Whether this is a file of the Porto data set, with one trip per row."""
    return porto.POLYLINE in _first_line(read_head(path))


def batches(path: Path) -> Iterator[pa.Table]:
    """Yield tables of the file, block by block. Rows with a wrong number of columns are skipped.

    The first block decides the type of each column. A column that later has other values is read as text.
    """
    header = _first_line(read_head(path))
    delimiter = max(",;\t|", key=header.count)
    parse = pacsv.ParseOptions(delimiter=delimiter, invalid_row_handler=lambda _: "skip")
    read = pacsv.ReadOptions(block_size=BLOCK_BYTES)
    with pacsv.open_csv(path, read, parse) as reader:
        shown = reader.schema
    # Whole numbers may be followed by fractions, and an empty block says nothing.
    columns = find_columns(shown.names)
    kinds = {
        field.name: pa.float64()
        if pa.types.is_integer(field.type) and field.name in (columns.x, columns.y, columns.t)
        else pa.string()
        if pa.types.is_null(field.type)
        else field.type
        for field in shown
    }
    for kind in (kinds, dict.fromkeys(kinds, pa.string())):
        try:
            # All of it is tried first: a table that was given away cannot be taken back.
            with pacsv.open_csv(path, read, parse, pacsv.ConvertOptions(column_types=kind)) as reader:
                for _ in reader:
                    pass
        except pa.ArrowInvalid:
            continue
        with pacsv.open_csv(path, read, parse, pacsv.ConvertOptions(column_types=kind)) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
        return
    raise FormatError("the rows cannot be read as a table")


class Writer:
    """Writes sets one after the other to one file, with the columns of the first set."""

    def __init__(self, path: Path) -> None:
        self._delimiter = "\t" if ".tsv" in path.suffixes else ","
        self._stream, self._begun = output(path), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def write(self, trajectories: Trajectories) -> None:
        """Write one more set."""
        table = _rows(trajectories)
        if not self._begun:
            # The writer's own header is always quoted.
            quoted = [
                '"' + name.replace('"', '""') + '"' if re.search(r'[",\t\r\n]', name) else name
                for name in table.column_names
            ]
            self._stream.write(self._delimiter.join(quoted).encode() + b"\n")
            self._begun = True
        plain = pacsv.WriteOptions(include_header=False, delimiter=self._delimiter, quoting_style="needed")
        pacsv.write_csv(table, self._stream, plain)


def _rows(trajectories: Trajectories) -> pa.Table:
    """Return a table with one row per point: traj_id, x and y (or lon and lat), t, and the extra columns."""
    axes = ("lon", "lat") if trajectories.is_geographic else ("x", "y")
    columns = {
        "traj_id": pa.array(np.repeat(trajectories.numbers, trajectories.sizes)),
        axes[0]: pa.array(trajectories.x),
        axes[1]: pa.array(trajectories.y),
    }
    if trajectories.t is not None:
        columns["t"] = pa.array(trajectories.t)
    if trajectories.extra is not None:
        owner = pa.array(ragged.owners(trajectories.offsets))
        for name in trajectories.extra.column_names:
            if name not in columns and not pa.types.is_nested(trajectories.extra[name].type):
                columns[name] = trajectories.extra[name].take(owner)
    return pa.table(columns)


def _first_line(head: bytes) -> str:
    line: str = head.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").rstrip("\r")
    if not line.strip() or "\0" in line:
        raise FormatError("line 1 is not a line of column names")
    return line


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parsed(
    source: Path | pa.Buffer, delimiter: str, handler: Callable[[pacsv.InvalidRow], str] | None = None
) -> pa.Table:
    return pacsv.read_csv(
        source,
        read_options=pacsv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=pacsv.ParseOptions(delimiter=delimiter, invalid_row_handler=handler),
    )


def _without_broken_rows(source: Path | pa.Buffer, delimiter: str) -> tuple[pa.Table, int]:
    """Keep rows with as many columns as the first line, and count the others. If most rows are broken, that is an
    error."""
    # Arrow hands over broken rows as text, so the bytes must be text first.
    data = read_bytes(source) if isinstance(source, Path) else source.to_pybytes()
    text = data.decode("utf-8-sig", errors="replace")
    broken: list[pacsv.InvalidRow] = []

    def skip(row: pacsv.InvalidRow) -> str:
        broken.append(row)
        return "skip"

    table = _parsed(pa.py_buffer(text.encode()), delimiter, skip)
    if len(broken) > table.num_rows:
        row = broken[0]
        line = text.partition(row.text)[0].count("\n") + 1
        raise NothingUsable(
            f"line {line}: {row.actual_columns} columns where the first line has {row.expected_columns}"
        )
    return table, len(broken)
