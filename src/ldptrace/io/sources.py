"""Where data comes from: a file, a folder, a pattern, a pipe, standard input, an archive."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ldptrace.core.columns import find_columns
from ldptrace.errors import FormatError, InputError
from ldptrace.io.formats import FORMATS, Format, locate, named, of_path
from ldptrace.io.text import encoding_of, read_head

STDIN = "-"
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"


@contextmanager
def files_of(path: Path, format: str | None) -> Iterator[tuple[Format, list[Path]]]:
    """The format of what is at `path`, and files to read it from; what came through a pipe is kept meanwhile."""
    if str(path) != STDIN and not _is_stream(path) and not _is_archive(path):
        if path.is_file() and format is None and of_path(path) is None:
            yield _sniffed(path, str(path)), [path]
            return
        yield locate(path, format)
        return
    with tempfile.TemporaryDirectory(prefix="ldptrace-") as folder:
        name = "standard input" if str(path) == STDIN else str(path)
        if _is_archive(path):
            kept = path
        else:
            kept = Path(folder, "input")
            with _stream(path) as source, kept.open("wb") as target:
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


def _is_stream(path: Path) -> bool:
    """A pipe, a terminal or a device: what cannot be read twice."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file()


@contextmanager
def _stream(path: Path) -> Iterator[BinaryIO]:
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    with path.open("rb") as file:
        yield file


def _unpack(archive: Path, folder: Path, name: str) -> None:
    # Few inputs are archives.
    import zipfile

    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"{name}: this archive cannot be unpacked: {error}") from None


def _sniffed(path: Path, name: str) -> Format:
    """The format that the beginning of a file shows."""
    head = read_head(path) if path.stat().st_size else b""
    text = head.decode(encoding_of(head), errors="replace").lstrip("\ufeff").lstrip()
    if head.startswith(b"PAR1"):
        return FORMATS["parquet"]
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
