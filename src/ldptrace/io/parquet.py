"""Read Parquet and Feather with one row per trajectory or one row per point, and write Parquet. The metadata hold the
coordinate system.

If the coordinate system is geographic, the file is also GeoParquet 1.1, so that GIS tools can open it: it has a column
`geometry` of lines in the native encoding beside `x` and `y`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ldptrace.core.columns import find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import stated_timezone
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import common, is_list, pc, without_rows
from ldptrace.errors import FormatError
from ldptrace.io.account import Account, Parsed, naming, of_table, unique_ids
from ldptrace.io.provenance import KEY, from_document, from_text, to_text
from ldptrace.io.text import Write
from ldptrace.protocol.grid import Bounds
from ldptrace.protocol.units import crs_named

OWN_KEY, GEO_KEY = "ldptrace:trajectories", "geo"
VERSION = 1
GEOMETRY = "geometry"
FEATHER = b"ARROW1"
SPARK_KEY = "org.apache.spark.sql.parquet.row.metadata"


def labels(schema: pa.Schema, names: Names | None = None) -> dict[str, str | None]:
    """Return the coordinate system, the column of users and the time zone, as far as a file states them."""
    own = _metadata(schema.metadata or {}, OWN_KEY)
    columns = find_columns(wanted(schema)[1].names, names)
    user = own.get("user") or columns.user
    return {
        "crs": _crs(schema.metadata or {}) or columns.crs,
        "user": user if user in schema.names else None,
        "timezone": own.get("timezone") or stated_timezone(schema, names),
    }


def lists_of(path: Path, names: Names) -> tuple[str, str] | None:
    """Return the columns of x and y if they hold lists, so that a row is a trajectory."""
    schema = schema_of(path)
    x, y = (columns := find_columns(wanted(schema)[1].names, names)).x, columns.y
    if x is None or y is None or x not in schema.names:
        return None
    return (x, y) if is_list(schema.field(x).type) else None


def stated_crs(path: Path) -> str | None:
    """Return the coordinate system of a file, also if it has no rows."""
    return labels(schema_of(path))["crs"]


def promise(paths: Sequence[Path]) -> dict[str, Any] | None:
    """Return the privacy promise of the files, if all files state the same promise."""
    return common([_promise(schema_of(path).metadata or {}) for path in paths])


def is_feather(path: Path) -> bool:
    """Whether a file is Feather (a file of Arrow), by its first bytes."""
    with path.open("rb") as file:
        return file.read(len(FEATHER)) == FEATHER


@contextmanager
def _feather(path: Path) -> Iterator[pa.RecordBatchFileReader]:
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
        yield reader


def schema_of(path: Path) -> pa.Schema:
    """Return the names and types of the columns of a file, with its metadata."""
    try:
        if not is_feather(path):
            return pq.read_schema(path)
        with _feather(path) as reader:
            return reader.schema
    except pa.ArrowInvalid:
        raise FormatError("this is not a Parquet or a Feather file, or its end is missing") from None


def size(path: Path) -> tuple[int, int]:
    """Return the number of rows of a file, and the bytes of its columns when they are unpacked."""
    with naming(path):
        if is_feather(path):
            with _feather(path) as reader:
                parts = [reader.get_batch(number) for number in range(reader.num_record_batches)]
                return sum(part.num_rows for part in parts), sum(part.nbytes for part in parts)
        schema_of(path)
        footer = pq.read_metadata(path)
    return footer.num_rows, sum(
        _unpacked(footer.row_group(number)) for number in range(footer.num_row_groups)
    )


def extent(paths: Sequence[Path], x: str, y: str) -> Bounds | None:
    """Return the rectangle around the points of lists in files by their statistics, or None if a file has none."""
    boxes = []
    for path in paths:
        if is_feather(path):
            return None
        footer = pq.read_metadata(path)
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            columns = [group.column(index) for index in range(group.num_columns)]
            known = {column.path_in_schema.partition(".")[0]: column.statistics for column in columns}
            ends = [end for end in (known.get(x), known.get(y)) if end is not None and end.has_min_max]
            if len(ends) < 2:
                return None
            boxes.append([end.min for end in ends] + [end.max for end in ends])
    if not boxes:
        return None
    lows, highs = np.array(boxes)[:, :2].min(axis=0), np.array(boxes)[:, 2:].max(axis=0)
    return float(lows[0]), float(lows[1]), float(highs[0]), float(highs[1])


def _unpacked(group: pq.RowGroupMetaData) -> int:
    """Return the bytes of a row group in memory, where repeated values take more space than in the file."""
    columns = (group.column(number) for number in range(group.num_columns))
    return sum(max(column.total_uncompressed_size, 8 * column.num_values) for column in columns)


def batches(
    path: Path, rows: int, most: int | None = None, piece: Sequence[int] = (0, 1)
) -> Iterator[pa.Table]:
    """Yield tables of limited size, without the geometry, which repeats x and y. If several readers share a file,
    `piece` (k, n) selects the k-th of n groups of row groups.
    """
    names, schema = wanted(schema_of(path))
    if is_feather(path):
        with _feather(path) as reader:
            for number in range(reader.num_record_batches):
                table = pa.Table.from_batches([reader.get_batch(number)])
                yield table.select(names).rename_columns(schema.names)
        return
    # Without a buffer a whole column of a row group would be read at once.
    with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
        first, last = (file.num_row_groups * (piece[0] + end) // piece[1] for end in (0, 1))
        for number in range(first, last):
            group = file.metadata.row_group(number)
            # Long trajectories may be together: each group has its own measure.
            fit = rows if most is None else int(most * group.num_rows / max(_unpacked(group), 1))
            for batch in file.iter_batches(min(rows, max(fit, 1)), row_groups=[number], columns=names):
                yield pa.Table.from_batches([batch]).rename_columns(schema.names)


def wanted(schema: pa.Schema) -> tuple[list[str], pa.Schema]:
    """Return the columns to read, without a geometry that repeats x and y, and their schema when they are read: a
    geometry has a usual name."""
    geometry = _metadata(schema.metadata or {}, GEO_KEY).get("primary_column")
    kept = [column for column in schema if column.name != geometry or not {"x", "y"} <= set(schema.names)]
    read = [column.with_name(GEOMETRY) if column.name == geometry else column for column in kept]
    return [column.name for column in kept], pa.schema(read, schema.metadata)


def read(paths: Sequence[Path], reading: Reading) -> Parsed:
    """Read all files as one table, with the coordinate system of the first file."""
    tables = []
    for path in paths:
        with naming(path):
            empty = without_rows(wanted(schema_of(path))[1])
            tables.append(pa.concat_tables([empty, *batches(path, 1 << 62)]))
    with naming(paths[0]):
        table = pa.concat_tables(tables, promote_options="permissive")
        said = labels(tables[0].schema, reading.names)
        promised = common([_promise(part.schema.metadata or {}) for part in tables])
        trajectories, account = of_table(table, reading)
    trajectories, notes = unique_ids(trajectories, len(paths))
    has_users = trajectories.extra is not None and said["user"] in trajectories.extra.column_names
    trajectories = replace(
        trajectories,
        crs=said["crs"] or trajectories.crs,
        timezone=reading.timezone or said["timezone"] or trajectories.timezone,
        user=said["user"] if has_users and not reading.names.user else trajectories.user,
        provenance=promised,
    )
    return trajectories, account + Account(notes=notes)


@contextmanager
def writer(path: Path) -> Iterator[Write]:
    """Open a new file for sets with the same columns, which are written one after the other. The labels of the first
    set hold for all."""
    file: pq.ParquetWriter | None = None
    with ExitStack() as opened:

        def write(trajectories: Trajectories) -> None:
            nonlocal file
            table, options = laid_out(trajectories)
            if file is None:
                file = opened.enter_context(pq.ParquetWriter(path, table.schema, **options))
            file.write_table(table.replace_schema_metadata(file.schema.metadata), row_group_size=1 << 17)

        yield write


def metadata_of(
    crs: str | None,
    timezone: str | None,
    provenance: Mapping[str, Any] | None,
    user: str | None = None,
) -> dict[str, str]:
    """Return the metadata that holds for all trajectories of a file."""
    own = {
        "format": "ldptrace-trajectories",
        "version": VERSION,
        "crs": crs,
        "user": user,
        "timezone": timezone,
    }
    promised = {} if provenance is None else {KEY: to_text(provenance)}
    return {OWN_KEY: json.dumps(own)} | promised


def laid_out(trajectories: Trajectories) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table of a file with its metadata, and the options to write its columns."""
    table = trajectories.to_arrow()
    about = metadata_of(
        trajectories.crs, trajectories.timezone, trajectories.provenance, user=trajectories.user
    )
    if trajectories.is_geographic and GEOMETRY not in table.column_names:
        table = table.append_column(GEOMETRY, _lines(table))
        # Without "crs" a geometry is in OGC:CRS84: longitude and latitude.
        lines = {"encoding": "linestring", "geometry_types": ["LineString"]}
        geo = {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: lines}}
        about[GEO_KEY] = json.dumps(geo)
    # On Oldenburg a third smaller than plain values and read four times as fast; on random points little changes.
    split = [f"{axis}.list.element" for axis in ("x", "y", "t") if getattr(trajectories, axis) is not None]
    if GEO_KEY in about:
        split += [f"{GEOMETRY}.list.element.{axis}" for axis in ("x", "y")]
    return table.replace_schema_metadata(about), {
        "compression": "zstd",
        "use_dictionary": [] if trajectories.extra is None else trajectories.extra.column_names,
        "column_encoding": dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
    }


def _lines(table: pa.Table) -> pa.Array:
    """Return native GeoParquet lines that share the points. A trajectory with fewer than two points has no line."""
    x, y = (table[axis].combine_chunks() for axis in ("x", "y"))
    points = pa.StructArray.from_arrays([x.values, y.values], names=["x", "y"])
    short = pc.less(x.value_lengths(), 2)
    return type(x).from_arrays(x.offsets, points, mask=short)


def _crs(metadata: Mapping[bytes, bytes]) -> str | None:
    """Return the coordinate system, from our own metadata or from the GeoParquet geometry."""
    own = _metadata(metadata, OWN_KEY).get("crs")
    if own is not None:
        return str(own)
    geo = _metadata(metadata, GEO_KEY)
    column = geo.get("columns", {}).get(geo.get("primary_column"))
    if column is None:
        return None
    if "crs" not in column:
        return WGS84
    identity = (column["crs"] or {}).get("id")
    if identity is None:
        return None
    return crs_named(f"{identity['authority']}:{identity['code']}")


def _promise(metadata: Mapping[bytes, bytes]) -> dict[str, Any] | None:
    """Return the privacy promise in the metadata of a file, also if Spark or a data frame wrote the file."""
    stated = {**_spark(metadata), **metadata}.get(KEY.encode())
    if stated is not None:
        return from_text(stated)
    # A data frame's own words about itself, as pandas writes them.
    attrs = _metadata(metadata, "PANDAS_ATTRS")
    return from_document(attrs.get(KEY))


def _metadata(metadata: Mapping[bytes, bytes], key: str) -> dict[str, Any]:
    metadata = {**_spark(metadata), **metadata}
    try:
        value = json.loads(metadata.get(key.encode(), b"{}"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _spark(metadata: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the part of our metadata that Spark keeps in its own schema."""
    try:
        fields = json.loads(metadata.get(SPARK_KEY.encode(), b"{}")).get("fields", [])
        said = {name: text for field in fields for name, text in field["metadata"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name.encode(): text.encode() for name, text in said.items() if isinstance(text, str)}
