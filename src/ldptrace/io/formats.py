"""All formats, and the sources of data: a file, a folder, a pattern, a pipe, standard input or an archive."""

from __future__ import annotations

import glob
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ldptrace import plugins
from ldptrace.core.atomic import is_stream
from ldptrace.core.columns import find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.errors import FormatError, InputError
from ldptrace.io.account import Parsed
from ldptrace.io.provenance import BESIDE
from ldptrace.io.text import Write, encoding_of, natural, read_head


@dataclass(frozen=True)
class Format:
    """How one format is read and written, by functions of this folder (`module.function`) or of another package
    (`package.module:function`).

    The module is imported with the first file, because most runs use one or two formats. If the format
    `holds_promise`, the privacy promise is stored in the file, otherwise beside it.
    """

    name: str
    extensions: tuple[str, ...]
    reader: str
    # None: it is only read.
    writer: str | None = None
    holds_promise: bool = False
    # Whether it is a table, whose columns can be named.
    tabular: bool = False
    # Whether its trajectories have properties, of which one may be named for the user, the id or the times.
    described: bool = False
    # Whether a trajectory without points has a place in it.
    holds_empty: bool = True
    # Whether it always has longitudes and latitudes, also when a file is empty.
    geographic: bool = False

    def read(self, paths: Sequence[Path], reading: Reading) -> Parsed:
        """Read the trajectories of files."""
        parsed: Parsed = _function(self.reader)(paths, reading)
        return parsed

    def open(self, path: Path) -> AbstractContextManager[Write]:
        """Open a new file, and give a function that writes sets to it, one after the other."""
        assert self.writer is not None
        opened: AbstractContextManager[Write] = _function(self.writer)(path)
        return opened

    def stated_crs(self, path: Path) -> str | None:
        """Return the coordinate system that a file states, whatever its points are: WGS 84, or what `stated_crs` of the
        reader's module finds."""
        if self.geographic:
            return WGS84
        return _function(self.reader, "stated_crs", lambda _: None)(path)


def _function(name: str, other: str | None = None, *default: object) -> Any:
    """Return the function with this name, or another one of its module."""
    module, _, function = name.partition(":") if ":" in name else f"ldptrace.io.{name}".rpartition(".")
    return getattr(import_module(module), other or function, *default)


FORMATS = {
    kind.name: kind
    for kind in (
        Format(
            *("parquet", (".parquet", ".pq", ".geoparquet"), "parquet.read", "parquet.writer"),
            holds_promise=True,
            tabular=True,
        ),
        Format("csv", (".csv", ".tsv"), "csv.read", "csv.writer", tabular=True, holds_empty=False),
        Format("feather", (".feather", ".arrow", ".ipc"), "parquet.read", holds_promise=True, tabular=True),
        Format("jsonl", (".jsonl", ".ndjson"), "jsonl.read", tabular=True),
        Format("porto", (), "published.read_porto", described=True, geographic=True),
        Format("dat", (".dat",), "published.read_dat", "published.dat_writer"),
        Format("geolife", (".plt",), "published.read_geolife", geographic=True),
        Format("tdrive", (".txt",), "published.read_tdrive", geographic=True),
        Format("gpx", (".gpx",), "xml.read_gpx", "xml.gpx_writer", described=True, geographic=True),
        Format("kml", (".kml", ".kmz"), "xml.read_kml", described=True, geographic=True),
        Format("geopackage", (".gpkg",), "vector.read", "vector.writer", tabular=True),
        Format("shapefile", (".shp",), "vector.read", tabular=True),
        Format(
            "geojsonl",
            (".geojsonl", ".geojsons", ".ndgeojson"),
            "geojson.read_sequence",
            described=True,
            geographic=True,
        ),
        Format("google", (), "google.read", geographic=True),
        *(
            Format(name, extensions, "geojson.read", writer, holds_promise=True, described=True)
            for name, extensions, writer in (
                ("trips", (".trips.geojson",), "geojson.trips_writer"),
                ("mfjson", (".mfjson", ".mf.json"), "geojson.moving_writer"),
                ("geojson", (".geojson", ".json"), "geojson.writer"),
            )
        ),
    )
}
EXTENSIONS = {extension: kind for kind in FORMATS.values() for extension in kind.extensions}


def named(name: str) -> Format:
    """Return the format with this name, of this package or of another."""
    if name in FORMATS:
        return FORMATS[name]
    point = plugins.find(plugins.FORMATS, name)
    if point is None:
        others = plugins.installed(plugins.FORMATS)
        raise InputError(f"unknown format {name!r}; the formats are {', '.join([*FORMATS, *others])}")
    return plugins.load(point)


def of_path(path: Path) -> Format | None:
    """Return the format of a file extension. The extension .gz is ignored.

    >>> of_path(Path("trips.csv.gz")).name
    'csv'
    """
    name = path.name.lower().removesuffix(".gz")
    return next((kind for extension, kind in EXTENSIONS.items() if name.endswith(extension)), None)


def for_writing(path: Path, name: str | None) -> Format:
    """Return the format to write, by name or extension."""
    chosen = of_path(path) if name is None else named(name)
    if chosen is None and is_stream(path):
        chosen = FORMATS["csv"]
    writable = [kind for kind in FORMATS.values() if kind.writer is not None]
    if chosen is None or chosen.writer is None:
        what = f"the extension of {path} is not known" if chosen is None else f"{chosen.name} is only read"
        known = ", ".join(f"{kind.name} ({', '.join(kind.extensions)})" for kind in writable)
        raise InputError(f"{what}; what can be written is {known}")
    return chosen


def locate(path: Path, name: str | None) -> tuple[Format, list[Path]]:
    """Return the format of a file, a folder or a pattern, and its files in the order of their names."""
    chosen = None if name is None else named(name)
    if path.is_dir():
        files = [entry for entry in path.rglob("*") if entry.is_file() and _is_data(entry)]
        return _of_files(path, files, chosen)
    if path.exists():
        kind = chosen or of_path(path)
        if kind is None:
            raise FormatError(
                f"{path}: the format is not known from the extension; give format as one of {', '.join(FORMATS)}"
            )
        return kind, [path]
    matches = [Path(match) for match in glob.glob(str(path)) if _is_data(Path(match))]
    if not matches:
        raise InputError(f"{path}: there is no such file or folder")
    return _of_files(path, matches, chosen)


def _is_data(entry: Path) -> bool:
    hidden = entry.name.startswith(".") or entry.name.endswith(BESIDE)
    return not hidden and not entry.name.lower().startswith(ABOUT)


def _of_files(path: Path, files: list[Path], chosen: Format | None) -> tuple[Format, list[Path]]:
    """Return the format of several files, which must be the same. Files with an unknown extension are ignored."""
    examples = {kind.name: file for file in sorted(files, reverse=True) if (kind := of_path(file))}
    if len(examples) > 1:
        # Logs of T-Drive are in folders of their own; any other text says something about its folder.
        examples.pop("tdrive", None)
    if chosen is None:
        if len(examples) != 1:
            listed = [f"{name} ({file.name})" for name, file in sorted(examples.items())]
            several = f"files of several formats in it: {', '.join(listed)}; which one is decided by --format"
            none = f"no trajectory files in it; --format is one of {', '.join(FORMATS)}"
            raise FormatError(f"{path}: there are {several if examples else none}")
        (chosen,) = map(named, examples)
    own = [file for file in files if of_path(file) is chosen or not chosen.extensions]
    if not own:
        raise FormatError(f"{path}: there are no {chosen.name} files in it ({', '.join(chosen.extensions)})")
    return chosen, sorted(own, key=natural)


# How the names of files begin that say something about a folder.
ABOUT = (
    "readme",
    "license",
    "licence",
    "copying",
    "citation",
    "notice",
    "changelog",
    "metadata",
    "datapackage",
)
STDIN = "-"
# An object in each of the first two lines.
LINES = re.compile(r"\{.*\}\s*?\n\s*\{")
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"


@contextmanager
def files_of(path: Path, format: str | None) -> Iterator[tuple[Format, list[Path]]]:
    """Return the format and the files at `path`. Data from a pipe is stored in a temporary file."""
    standard = str(path) == STDIN
    name = "standard input" if standard else str(path)
    archive = path.suffix.lower() == ".zip" and path.is_file()
    # A pipe, a terminal or a device cannot be read twice.
    stream = standard or (path.exists() and not path.is_file() and not path.is_dir())
    if not stream and not archive:
        known = not path.is_file() or format is not None or of_path(path) is not None
        yield locate(path, format) if known else (_sniffed(path, name), [path])
        return
    with tempfile.TemporaryDirectory(prefix="ldptrace-") as folder:
        kept = path
        if stream:
            kept = Path(folder, "input")
            with (
                nullcontext(sys.stdin.buffer) if standard else path.open("rb") as source,
                kept.open("wb") as target,
            ):
                shutil.copyfileobj(source, target)
            if kept.stat().st_size == 0:
                raise InputError(f"{name}: there is nothing in it")
        with kept.open("rb") as file:
            start = file.read(4)
        if start == ZIP:
            inside = Path(folder, "archive")
            _unpack(kept, inside, name)
            yield locate(inside, format)
            return
        if start.startswith(GZIP):
            kept = kept.rename(kept.with_name("input.gz"))
        yield (named(format) if format is not None else _sniffed(kept, name)), [kept]


def _unpack(archive: Path, folder: Path, name: str) -> None:
    # Few inputs are archives.
    import zipfile

    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"{name}: this archive cannot be unpacked: {error}") from None


def _sniffed(path: Path, name: str) -> Format:
    """Return the format that the beginning of a file shows."""
    head = read_head(path) if path.stat().st_size else b""
    text = head.decode(encoding_of(head), errors="replace").lstrip("\ufeff").lstrip()
    if head.startswith(b"PAR1"):
        return FORMATS["parquet"]
    if head.startswith(b"ARROW1"):
        return FORMATS["feather"]
    if LINES.match(text):
        return FORMATS["geojsonl" if '"Feature"' in text.partition("\n")[0] else "jsonl"]
    if head.startswith(b"SQLite format 3"):
        return FORMATS["geopackage"]
    if text.startswith("<") and "<kml" in text:
        return FORMATS["kml"]
    for start, kind in (("{", "geojson"), ("<", "gpx"), ("#0:", "dat"), ("Geolife", "geolife")):
        if text.startswith(start):
            return FORMATS[kind]
    line = text.partition("\n")[0]
    try:
        find_columns([part.strip().strip('"') for part in line.split(max(",;\t|", key=line.count))])
    except FormatError:
        raise FormatError(
            f"{name}: the format is not known; give it with --format as one of {', '.join(FORMATS)}"
        ) from None
    return FORMATS["csv"]
