"""CSV with one row per point, its columns found by their names; one named POLYLINE means Porto's taxis."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.io import porto
from ldptrace.io.columns import from_points
from ldptrace.io.report import Parsed, total
from ldptrace.io.text import output, read_bytes

BLOCK_BYTES = 1 << 23


def read_file(path: Path) -> Parsed:
    """Points of a CSV file, gzipped or not, with the delimiter that its first line uses."""
    header = _first_line(path)
    delimiter = max(",;\t|", key=header.count)
    names = [name.strip().strip('"') for name in header.split(delimiter)]
    if all(_is_number(name) for name in names):
        raise FormatError(
            "line 1 holds numbers; a line with the names of the columns is needed, such as traj_id,x,y,t"
        )
    if porto.POLYLINE in names:
        return porto.read_file(path)
    try:
        table, broken = _parsed(path, delimiter), 0
    except pa.ArrowInvalid:
        table, broken = _without_broken_rows(path, delimiter)
    parsed = from_points(table, place="line", first=2)
    return Parsed(
        parsed.trajectories,
        parsed.rows + broken,
        parsed.dropped,
        total([parsed.dropped_points, {"wrong number of columns": broken}]),
        parsed.notes,
    )


def write(trajectories: Trajectories, path: Path) -> None:
    """One row per point: traj_id, x and y (lon and lat where they are that), t, and the extra columns."""
    axes = ("lon", "lat") if trajectories.is_geographic else ("x", "y")
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    columns = {
        "traj_id": pa.array(np.repeat(ids, trajectories.sizes)),
        axes[0]: pa.array(trajectories.x),
        axes[1]: pa.array(trajectories.y),
    }
    if trajectories.t is not None:
        columns["t"] = pa.array(trajectories.t)
    if trajectories.extra is not None:
        owner = pa.array(np.repeat(np.arange(len(trajectories)), trajectories.sizes))
        for name in trajectories.extra.column_names:
            if name not in columns and not pa.types.is_nested(trajectories.extra[name].type):
                columns[name] = trajectories.extra[name].take(owner)
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    header = delimiter.join(
        '"' + name.replace('"', '""') + '"' if re.search(r'[",\t\r\n]', name) else name for name in columns
    )
    with output(path) as stream:
        # The writer's own header is always quoted.
        stream.write(header.encode() + b"\n")
        pacsv.write_csv(
            pa.table(columns),
            stream,
            pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed"),
        )


def _first_line(path: Path) -> str:
    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(1 << 16)
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


def _without_broken_rows(path: Path, delimiter: str) -> tuple[pa.Table, int]:
    """Rows with as many columns as the first line, and how many have not; if most have not, it is an error."""
    # Arrow hands over broken rows as text, so the bytes must be text first.
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    broken: list[pacsv.InvalidRow] = []

    def skip(row: pacsv.InvalidRow) -> str:
        broken.append(row)
        return "skip"

    table = _parsed(pa.py_buffer(text.encode()), delimiter, skip)
    if len(broken) > table.num_rows:
        row = broken[0]
        line = text.partition(row.text)[0].count("\n") + 1
        raise FormatError(
            f"line {line}: {row.actual_columns} columns where the first line has {row.expected_columns}"
        )
    return table, len(broken)
