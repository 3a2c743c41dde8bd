"""JSON lines: every line is an object, whose members are columns. A line is a trajectory if they are lists, otherwise
a point.

A line that is no object stays a row, without any value. Members that say when, where and whose must be in every other
line or in none, and be lists in all of them or in none, so that one line never changes how others are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldptrace.core.columns import Columns, find_columns
from ldptrace.core.positions import LISTS
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import START
from ldptrace.core.values import is_list, names_of, values_of, whole_of, without_rows
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Account, Parsed, each, of_table
from ldptrace.io.text import line_blocks

BROKEN = "lines that are no JSON object"


@each
def read(path: Path, reading: Reading) -> Parsed:
    """Read the lines as a table."""
    lines = Lines.of(path, reading.names)
    table = pa.concat_tables([without_rows(lines.schema), *lines.tables()])
    for name in lines.names:
        if (numbers := whole_of(table[name])) is not None:
            table = table.set_column(table.column_names.index(name), name, numbers)
    trajectories, account = of_table(table, reading, place="line")
    return trajectories, account + Account(doubts=lines.broken)


@dataclass(frozen=True)
class Lines:
    """The lines of a file: the columns of all of them with their types, and how many lines there are."""

    path: Path
    schema: pa.Schema
    rows: int
    broken: dict[str, int]
    # The columns of names.
    names: frozenset[str] = frozenset()

    @staticmethod
    def of(path: Path, given: Names | None = None) -> Lines:
        """Read the names and types of the columns. Columns of several types are texts."""
        kinds: dict[str, pa.DataType] = {}
        rows = broken = features = 0
        shapes: Counter[tuple[str, object]] = Counter()
        for records in _blocks(path):
            rows, broken = rows + len(records), broken + sum(not record for record in records)
            features += sum(record.get("type") == "Feature" for record in records)
            for name, column in _columns(records).items():
                kinds[name] = _common(kinds.get(name, column.type), column.type)
                shapes.update(
                    (name, shape) for record in records if name in record for shape in _shapes(record[name])
                )
        if 2 * broken > rows:
            raise NothingUsable(f"{broken:,} of {rows:,} lines are no JSON object")
        if features:
            raise FormatError(
                "its lines are GeoJSON features; read them with format geojsonl (--format geojsonl)"
            )
        columns = find_columns(list(kinds), given)
        _check(columns, shapes, rows - broken)
        schema = pa.schema([(name, _settled(name, kind, columns, kinds)) for name, kind in kinds.items()])
        names = frozenset(name for name in (columns.id, columns.user) if name is not None)
        return Lines(path, schema, rows, {BROKEN: broken} if broken else {}, names)

    def tables(self, *_: int | None) -> Iterator[pa.Table]:
        """Yield tables of the lines, block by block, whatever size is asked for."""
        for records in _blocks(self.path):
            columns = _columns(records, self.names)
            nothing = pa.nulls(len(records))
            yield pa.table(
                [_cast(columns.get(field.name, nothing), field.type) for field in self.schema], self.schema
            )


def records_of(data: bytes) -> list[dict[str, Any]]:
    """Return the objects of lines. A line that is none becomes an empty object."""
    return [_record(line) for line in data.splitlines() if line.strip()]


def _blocks(path: Path) -> Iterable[list[dict[str, Any]]]:
    return filter(None, map(records_of, line_blocks(path)))


def _record(line: bytes) -> dict[str, Any]:
    try:
        # Sequences of GeoJSON have a sign before each line.
        record = json.loads(line.strip(b"\x1e \t\r").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _columns(records: list[dict[str, Any]], named: frozenset[str] = frozenset()) -> dict[str, pa.Array]:
    names = dict.fromkeys(name for record in records for name in record)
    return {
        name: (names_of if name in named else values_of)([record.get(name) for record in records])
        for name in names
    }


def _settled(name: str, kind: pa.DataType, columns: Columns, kinds: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return the type of a member whose values must not say how those of other lines are read."""
    lists = columns.geometry is not None or columns.cells is not None
    if name in (columns.id, columns.user):
        return pa.string()
    if name not in (columns.t, columns.date, START) and not (lists and name in LISTS):
        return kind
    if is_list(kind) or (name == columns.t and columns.x is not None and is_list(kinds[columns.x])):
        return pa.list_(pa.string())
    return pa.string()


def _shapes(value: Any) -> Iterator[object]:
    """Yield what is seen of the value of a member: True, because it is there; "list" or "value", unless it is null; and
    the names in each kind of object of a list.
    """
    yield True
    if value is not None:
        yield "list" if isinstance(value, list) else "value"
    if isinstance(value, list):
        yield from {tuple(sorted(place)) for place in value if isinstance(place, dict)}


def _check(columns: Columns, shapes: Counter[tuple[str, object]], lines: int) -> None:
    """Raise an error if lines disagree about a member that says when, where or whose."""
    names = {*columns.used, columns.user, START, *(LISTS if columns.geometry or columns.cells else ())}
    for name in sorted({member for member, _ in shapes} & names):
        forms = {shape: number for (member, shape), number in shapes.items() if member == name}
        if forms.pop(True) < lines:
            raise NothingUsable(f"some lines have no member {name!r}; write null where there is no value")
        if len(forms) > 1 + ("list" in forms) or len(forms.keys() & {"list", "value"}) > 1:
            raise NothingUsable(
                f"member {name!r} is not of one form in all lines: a value, a list, or a list of objects"
            )


def _common(one: pa.DataType, two: pa.DataType) -> pa.DataType:
    """Return a type for the values of both types."""
    try:
        schemas = [pa.schema([("", kind)]) for kind in (one, two)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return pa.list_(pa.string()) if is_list(one) and is_list(two) else pa.string()


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return column.cast(kind)
    except pa.ArrowException:
        return values_of(column.to_pylist(), texts=True)
