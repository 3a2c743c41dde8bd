"""CSV with named columns. A column POLYLINE means the data set of taxis in Porto.

A row with a wrong number of columns stays a row of its person: its values are kept as far as they reach, but its place
and time are not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core import ragged
from ldptrace.core.columns import Columns, find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.positions import LISTS
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import START
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import NUMBER, pc, whole_of, without_rows
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io import published
from ldptrace.io.account import Account, Parsed, each, of_table
from ldptrace.io.text import WESTERN, Write, encoding_of, line_blocks, output, read_head

BLOCK_BYTES = 1 << 23
# What stands for no value.
MISSING = pacsv.ConvertOptions().null_values


@each
def read(path: Path, reading: Reading) -> Parsed:
    """Read a CSV file, gzipped or not. The first line decides the delimiter.

    Text that is not UTF-8 is read as UTF-16 if it looks so, otherwise as Western European.
    """
    text = Text.of(path, reading.names)
    if text.is_porto:
        return published.porto_of(path, reading)
    text = text.settled(keep=True)
    assert text.schema is not None
    table = pa.concat_tables([without_rows(text.schema), *text.tables()])
    columns = find_columns(table.column_names, reading.names)
    trajectories, account = of_table(named(table, columns, numbered), reading, place="line", first=2)
    hints = tuple(f"column {name}: does it say when? (--t {name})" for name in text.dated)
    return trajectories, account + Account(notes=() if columns.t is not None else hints, doubts=text.broken)


def stated_crs(path: Path) -> str | None:
    """Return the coordinate system that the names of the columns imply, also for a file without rows."""
    text = Text.of(path)
    return WGS84 if text.is_porto else find_columns(text.names).crs


@dataclass(frozen=True)
class Text:
    """The text of a CSV file: the names of its columns, its delimiter and its encoding. The user has `given` names of
    columns. `schema` are the columns with their types, of which those that look like dates are `dated`, and `rows` the
    number of rows, of which some may be broken; None means that nobody looked. `kept` are the blocks of a whole file
    that was read to know this.
    """

    path: Path
    names: tuple[str, ...]
    delimiter: str
    encoding: str
    given: Names | None = None
    schema: pa.Schema | None = None
    dated: tuple[str, ...] = ()
    rows: int = 0
    broken: Mapping[str, int] = field(default_factory=dict)
    kept: tuple[pa.RecordBatch, ...] = ()
    # Whether there is nothing but the names, without an end of their line.
    bare: bool = False

    @staticmethod
    def of(path: Path, given: Names | None = None) -> Text:
        """Look at the first line of a file."""
        head = read_head(path)
        encoding = encoding_of(head)
        line, *rest = re.split(
            r"\r\n|\n|\r", head.decode(encoding, errors="replace").lstrip("\ufeff"), maxsplit=1
        )
        if not line.strip() or "\0" in line:
            raise FormatError("line 1 is not a line of column names")
        delimiter = max(",;\t|", key=line.count)
        names = tuple(name.strip().strip('"') for name in line.split(delimiter))
        if all(re.match(NUMBER, name) for name in names):
            raise FormatError(
                "line 1 holds numbers; a line with the names of the columns is needed, such as traj_id,x,y,t"
            )
        return Text(path, names, delimiter, encoding, given, bare=not rest)

    @property
    def is_porto(self) -> bool:
        """Whether this is a file of the Porto data set, with one trip per row."""
        return published.POLYLINE in self.names

    def settled(self, *, keep: bool = False) -> Text:
        """Decide the encoding and the types of the columns by reading all rows, because a table that was given away
        cannot be taken back. Keep the blocks if they fit into memory.

        Columns whose first block does not tell their type are texts.
        """
        for encoding in dict.fromkeys((self.encoding, WESTERN)):
            text = replace(self, encoding=encoding)
            try:
                with text._opened([]) as reader:
                    shown = reader.schema
            except pa.ArrowInvalid:
                continue
            columns = find_columns(shown.names, self.given)
            # Columns that look like dates and have no usual name. Whether one does depends on all values, so it says
            # nothing.
            known = columns.used | {START}
            dated = tuple(
                one.name for one in shown if pa.types.is_timestamp(one.type) and one.name not in known
            )
            for kinds in _likely(shown, columns, dated):
                with suppress(pa.ArrowInvalid):
                    return replace(text, schema=pa.schema(kinds), dated=dated)._counted(keep=keep)
        if self.bare:
            raise NothingUsable("there are no trajectories in it")
        raise FormatError("the rows cannot be read as a table")

    def _counted(self, *, keep: bool) -> Text:
        """Read all rows with these types, and note how many there are and how many are broken."""
        rows, broken, kept = 0, list[pacsv.InvalidRow](), list[pa.RecordBatch]()
        with self._opened(broken) as reader:
            for batch in reader:
                rows += batch.num_rows
                if keep:
                    kept.append(batch)
        self._refuse_joined(rows + len(broken))
        if len(broken) > rows:
            row = broken[0]
            raise NothingUsable(
                f"line {row.number}: {row.actual_columns} columns where the first line has {row.expected_columns}"
            )
        if not broken:
            return replace(self, rows=rows, kept=tuple(kept))
        # Broken rows stand between the others, so the file is read again.
        number = len(broken)
        return replace(self, rows=rows + number, broken={"rows with a wrong number of columns": number})

    def _refuse_joined(self, rows: int) -> None:
        """Raise an error if a quotation mark made one row of several lines: it would take away the rows of others."""
        if not any(b'"' in block for block in line_blocks(self.path, self.encoding)):
            return
        lines, after = -1, True
        for block in line_blocks(self.path, self.encoding):
            data = np.frombuffer(block, dtype=np.uint8)
            ends = (data == ord("\n")) | (data == ord("\r"))
            lines += int(np.count_nonzero(~ends & np.append(after, ends[:-1])))
            after = ends[-1]
        if lines <= rows:
            return
        all_lines = (line for block in line_blocks(self.path, self.encoding) for line in block.splitlines())
        number = next((number for number, line in enumerate(all_lines, 1) if not self._is_whole(line)), None)
        place = "" if number is None else f"line {number}: "
        raise NothingUsable(f"{place}a quotation mark begins a value that does not end in the same line")

    def _is_whole(self, line: bytes) -> bool:
        """Whether each value that a quotation mark begins ends in this line."""
        if b'"' not in line:
            return True
        try:
            next(csv.reader([line.decode(errors="replace")], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            return "unexpected end" not in str(error)
        return True

    def tables(self, *_: int | None) -> Iterator[pa.Table]:
        """Yield tables of the file, block by block, whatever size is asked for."""
        assert self.schema is not None
        columns = find_columns(self.schema.names, self.given)
        return (named(table, columns, known) for table in self._blocks())

    def _blocks(self) -> Iterator[pa.Table]:
        if self.kept:
            yield pa.Table.from_batches(self.kept)
            return
        broken: list[pacsv.InvalidRow] = []
        with self._opened(broken) as reader:
            row = 2
            for batch in reader:
                start = 0
                while broken and broken[0].number < row + batch.num_rows - start:
                    end = start + max(broken[0].number - row, 0)
                    yield pa.Table.from_batches([batch.slice(start, end - start)])
                    yield self._repaired(broken.pop(0), reader.schema)
                    row, start = row + end - start + 1, end
                yield pa.Table.from_batches([batch.slice(start)])
                row += batch.num_rows - start
            for rest in broken:
                yield self._repaired(rest, reader.schema)

    def _opened(self, broken: list[pacsv.InvalidRow]) -> pacsv.CSVStreamingReader:
        """Open the file. Rows with a wrong number of columns are added to a list, and are not in the batches."""

        def skip(row: pacsv.InvalidRow) -> str:
            broken.append(row)
            return "skip"

        parse = pacsv.ParseOptions(delimiter=self.delimiter, invalid_row_handler=skip)
        kinds = {} if self.schema is None else {column.name: column.type for column in self.schema}
        # Only a single thread knows the numbers of the rows.
        options = pacsv.ReadOptions(block_size=BLOCK_BYTES, encoding=self.encoding, use_threads=False)
        return pacsv.open_csv(self.path, options, parse, pacsv.ConvertOptions(column_types=kinds))

    def _repaired(self, row: pacsv.InvalidRow, schema: pa.Schema) -> pa.Table:
        """Return a row with a wrong number of columns: what it says about the trip, but no place and time."""
        cells = next(csv.reader([row.text], delimiter=self.delimiter), [])
        columns = find_columns(schema.names, self.given)
        values = {}
        for place, column in enumerate(schema):
            text = cells[place] if place < len(cells) and column.name not in columns.placing else ""
            values[column.name] = pa.array([text or None], pa.string())
            try:
                values[column.name] = values[column.name].cast(column.type)
            except pa.ArrowInvalid:
                values[column.name] = pa.nulls(1, column.type)
        return pa.table(values)


def _likely(shown: pa.Schema, columns: Columns, dated: Sequence[str]) -> Iterator[list[pa.Field]]:
    """Yield the types that the columns may have, by those of the first block: the likely ones, then texts.

    What a name, a geometry, a cell or a list of times says does not change how another is read, so they are texts.
    """
    texts = {columns.id, columns.user, columns.geometry, columns.cells, columns.cell, *dated}
    if columns.geometry is not None or columns.cells is not None:
        texts |= {columns.t, *LISTS}
    numbers = {columns.x, columns.y, columns.t}

    def kind(column: pa.Field) -> pa.DataType:
        # An empty block says nothing, and whole numbers may be followed by fractions.
        if column.name in texts or pa.types.is_null(column.type) or pa.types.is_binary(column.type):
            return pa.string()
        return pa.float64() if pa.types.is_integer(column.type) and column.name in numbers else column.type

    likely = [column.with_type(kind(column)) for column in shown]
    yield likely
    yield [one.with_type(pa.float64()) if pa.types.is_integer(one.type) else one for one in likely]
    yield [column.with_type(pa.string()) for column in shown]


def named(table: pa.Table, columns: Columns, read: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    """Return the table with its names of trips and users as they are read from texts."""
    for name in {columns.id, columns.user} - {None}:
        table = table.set_column(table.column_names.index(name), name, read(table[name]))
    return table


def known(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return names without the space around them, and null where a text says that there is none.

    >>> known(pa.chunked_array([[" 07", "NA", ""]])).to_pylist()
    ['07', None, None]
    """
    # Names repeat from point to point.
    encoded = pc.dictionary_encode(names)
    parts = []
    for part in encoded.chunks:
        texts = pc.utf8_trim_whitespace(part.dictionary)
        parts.append(pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts).take(part.indices))
    return pa.chunked_array(parts, pa.string())


def numbered(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return names as whole numbers if all are written in the same form, so that different names stay different.

    >>> numbered(pa.chunked_array([["7", "12"]])).to_pylist(), numbered(pa.chunked_array([["7", "07"]])).to_pylist()
    ([7, 12], ['7', '07'])
    """
    fractions = pc.all(pc.ends_with(names, ".0")).as_py()
    numbers = whole_of(pc.utf8_slice_codeunits(names, 0, -2) if fractions else names)
    return names if numbers is None else numbers


@contextmanager
def writer(path: Path) -> Iterator[Write]:
    """Open a new file for sets that are written one after the other, with the columns of the first set."""
    delimiter, begun = "\t" if ".tsv" in path.suffixes else ",", False
    plain = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
    with output(path) as stream:

        def write(trajectories: Trajectories) -> None:
            nonlocal begun
            table = _rows(trajectories)
            if not begun:
                # The writer's own header is always quoted.
                quoted = [
                    '"' + name.replace('"', '""') + '"' if re.search(r'[",\t\r\n]', name) else name
                    for name in table.column_names
                ]
                stream.write(delimiter.join(quoted).encode() + b"\n")
                begun = True
            pacsv.write_csv(table, stream, plain)

        yield write


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
