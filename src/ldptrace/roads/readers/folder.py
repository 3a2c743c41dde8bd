"""Read a folder with a table of nodes and a table of edges, and other small text tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from ldptrace.core.arrays import Flags, Floats
from ldptrace.core.columns import GEOGRAPHIC, PLANAR, key_of
from ldptrace.core.crs import WGS84
from ldptrace.core.values import pc
from ldptrace.core.words import count
from ldptrace.errors import FormatError, InputError
from ldptrace.roads.classes import BACKWARD, BOTH, FORWARD, limit_kmh
from ldptrace.roads.network import Nodes
from ldptrace.roads.readers.lines import from_wkt
from ldptrace.roads.readers.streets import Streets, coded


def read_table(path: str | Path, *, text: Sequence[str] = ()) -> pa.Table:
    """Read a text table with a header. The header shows whether columns are separated by comma, semicolon or tab.

    The file may be compressed with gzip. Columns with one of the names in `text` are read as text, even if they look
    like numbers.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    try:
        with pa.input_stream(str(source), compression="detect") as stream:
            header = stream.read(65536).decode("utf-8-sig", errors="replace").partition("\n")[0].rstrip("\r")
        delimiter = max(",;\t", key=header.count)
        names = [name.strip('" ') for name in header.split(delimiter)]
        wanted = {key_of(name) for name in text}
        as_text = {name: pa.string() for name in names if key_of(name) in wanted}
        return csv.read_csv(
            source,
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(column_types=as_text, strings_can_be_null=True),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as error:
        raise FormatError(f"{source} is not a table of text columns: {str(error).splitlines()[0]}") from None


def find(table: pa.Table, names: Sequence[str]) -> str | None:
    """Return the first column that has one of the names. Case and punctuation do not matter.

    >>> find(pa.table({"Node-ID": [1]}), ("id", "node_id"))
    'Node-ID'
    """
    known = {key_of(name): name for name in reversed(table.column_names)}
    return next((known[key_of(name)] for name in names if key_of(name) in known), None)


def need(table: pa.Table, names: Sequence[str], path: str | Path) -> str:
    """Do the same as `find`, but raise an error if there is no such column."""
    name = find(table, names)
    if name is None:
        raise FormatError(
            f"{path} has no column {' or '.join(names)}; its columns are {', '.join(table.column_names)}"
        )
    return name


def numbers(table: pa.Table, name: str, path: str | Path) -> Floats:
    """Return a column of finite numbers."""
    values = optional_numbers(table, name, path)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise FormatError(f"column {name} of {path} has no finite number in line {bad[0] + 2}")
    return values


def optional_numbers(table: pa.Table, name: str, path: str | Path) -> Floats:
    """Return a column of numbers, with NaN for missing values."""
    try:
        values = pc.cast(table[name], pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FormatError(f"column {name} of {path} holds values that are not numbers") from None
    return np.asarray(values, dtype=np.float64)


def positions(table: pa.Table, path: str | Path) -> tuple[Floats, Floats, bool]:
    """Return the coordinates of the rows, and whether they are longitude and latitude in degrees."""
    x, y = (find(table, names) for names in PLANAR)
    if x is not None and y is not None:
        return numbers(table, x, path), numbers(table, y, path), False
    lon, lat = (find(table, names) for names in GEOGRAPHIC)
    if lon is None or lat is None:
        raise FormatError(
            f"{path} has no columns x and y or lon and lat; its columns are {', '.join(table.column_names)}"
        )
    return numbers(table, lon, path), numbers(table, lat, path), True


NODE = ("node_id", "id", "osmid", "node", "nid")
FROM = ("from", "u", "node1", "source", "start", "start_node", "from_node", "from_id")
TO = ("to", "v", "node2", "target", "end", "end_node", "to_node", "to_id")
LENGTH = ("length_m", "length")
SECONDS = ("seconds", "travel_time", "time_s", "duration_s")
SPEED = ("speed_kmh", "speed_kph", "speed_km_h")
LIMIT = ("maxspeed", "max_speed", "speed_limit")
CLASS = ("highway", "class", "edge_class", "road_class", "fclass", "kind")
ONEWAY = ("oneway", "one_way")
GEOMETRY = ("geometry", "wkt", "geom")
EDGE = ("edge_id",)
NAME = ("name", "street_name", "street")


def tables_in(folder: Path) -> tuple[Path, Path]:
    """Return the table of nodes and the table of edges of a folder; both may be compressed."""
    tables = []
    for stem in ("nodes", "edges"):
        exact = [
            folder / f"{stem}.csv{end}" for end in ("", ".gz") if (folder / f"{stem}.csv{end}").is_file()
        ]
        loose = sorted(p for p in folder.glob(f"*{stem}.csv*") if p.name.endswith((".csv", ".csv.gz")))
        if not exact and len(loose) != 1:
            seen = f"{len(loose)} of them" if loose else "there is none"
            raise InputError(
                f"a road network is a folder with nodes.csv and edges.csv (or .csv.gz); of *{stem}.csv {seen}"
            )
        tables.append((exact or loose)[0])
    return tables[0], tables[1]


def read_pair(nodes: Path, edges: Path) -> Streets:
    """Read the streets of a table of nodes and a table of edges.

    Nodes have an id with x, y or lon, lat. Edges have the ids of two nodes, and optional columns.
    """
    node_table = read_table(nodes, text=NODE)
    edge_table = read_table(edges, text=(*FROM, *TO, *LIMIT, *CLASS, *ONEWAY, *GEOMETRY, *EDGE, *NAME))
    x, y, in_degrees = positions(node_table, nodes)
    ids = node_table[need(node_table, NODE, nodes)].combine_chunks()
    if len(pc.unique(ids)) < len(ids):
        counts = pc.value_counts(ids)
        twice = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
        raise FormatError(f"{nodes} names a node twice: {twice!r}")
    start, end = (_places(edge_table, names, ids, edges, nodes) for names in (FROM, TO))
    lines = find(edge_table, GEOMETRY)
    rows = edge_table.num_rows
    words, row = _each_word(edge_table, CLASS)
    kind, kinds = coded([(word or "").strip().lower() for word in words])
    signs, sign = _each_word(edge_table, ONEWAY)
    forward, backward = directions(signs, str(edges))
    limits, limit = _each_word(edge_table, LIMIT)
    return Streets(
        x,
        y,
        start,
        end,
        forward[sign],
        backward[sign],
        kind[row],
        kinds,
        length=_measure(edge_table, LENGTH, edges),
        seconds=_measure(edge_table, SECONDS, edges),
        speed=_measure(edge_table, SPEED, edges),
        limit=np.array([limit_kmh(word or "") for word in limits])[limit],
        shape=None if lines is None or rows == 0 else from_wkt(edge_table[lines].to_pylist()),
        crs=WGS84 if in_degrees else None,
        format="nodes and edges",
        ids=_texts(edge_table, EDGE),
        names=_texts(edge_table, NAME),
    )


def _texts(table: pa.Table, names: Sequence[str]) -> NDArray[np.str_] | None:
    name = find(table, names)
    return None if name is None else np.array(table[name].fill_null("").to_pylist()).astype(np.str_)


def directions(words: list[str | None], where: str) -> tuple[Flags, Flags]:
    """Return in which directions streets may be used, by the column `oneway`.

    >>> [flags.tolist() for flags in directions(["1", None, "-1", "no"], "edges.csv")]
    [[True, True, False, True], [False, True, True, True]]
    """
    said = [(word or "").strip().lower() for word in words]
    unknown = next((word for word in said if word not in FORWARD | BACKWARD | BOTH), None)
    if unknown is not None:
        raise FormatError(f"{where}: oneway is 1 or yes, 0 or no, -1 or empty, not {unknown!r}")
    forward = np.array([word not in BACKWARD for word in said], dtype=bool)
    backward = np.array([word not in FORWARD for word in said], dtype=bool)
    return forward, backward


def _places(table: pa.Table, names: tuple[str, ...], ids: pa.Array, edges: Path, nodes: Path) -> Nodes:
    """Return the rows of the nodes that a column of the edges names."""
    name = need(table, names, edges)
    rows = pc.index_in(table[name], value_set=ids)
    missing = pc.is_null(rows).to_numpy(zero_copy_only=False)
    if missing.any():
        line = int(missing.argmax())
        raise FormatError(
            f"line {line + 2} of {edges} leads to the node {table[name][line].as_py()!r}, "
            f"which {nodes.name} does not have ({count(int(missing.sum()), 'row')} like this)"
        )
    return np.asarray(rows.to_numpy(zero_copy_only=False), dtype=np.int32)


def _measure(table: pa.Table, names: tuple[str, ...], path: Path) -> Floats | None:
    name = find(table, names)
    if name is None:
        return None
    values = optional_numbers(table, name, path)
    if np.any(values < 0):
        line = int(np.argmax(values < 0))
        raise FormatError(f"column {name} of {path} is negative in line {line + 2}: {values[line]:g}")
    return values


def _each_word(table: pa.Table, names: tuple[str, ...]) -> tuple[list[str | None], NDArray[np.intp]]:
    """Return the different values of a column, with None at the end, and the number of the value of each row. Without
    the column, all rows have none."""
    name = find(table, names)
    if name is None:
        return [None], np.zeros(table.num_rows, dtype=np.intp)
    words = table[name].combine_chunks().dictionary_encode()
    rows = words.indices.fill_null(len(words.dictionary)).to_numpy(zero_copy_only=False)
    return [*words.dictionary.to_pylist(), None], rows
