from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, write
from ldptrace.io.sources import files_of

TABLE = b"trip,x,y\n1,0,0\n1,1,1\n"


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (TABLE, "csv"),
        ('\ufeff"trip";"lon";"lat"\n'.encode(), "csv"),
        ("trip\tx\ty\n".encode("utf-16"), "csv"),
        (b' {"type":"FeatureCollection"}', "geojson"),
        (b'<?xml version="1.0"?><gpx/>', "gpx"),
        (b"#0:\n>0:1,2;\n", "dat"),
        (b"Geolife trajectory\n", "geolife"),
        (b"PAR1\0\0", "parquet"),
    ],
)
def test_the_beginning_shows_the_format(tmp_path: Path, content: bytes, format: str) -> None:
    (tmp_path / "data").write_bytes(content)
    with files_of(tmp_path / "data", None) as (kind, files):
        assert (kind.name, files) == (format, [tmp_path / "data"])


def test_a_packed_file_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "data.gz").write_bytes(gzip.compress(b"#0:\n>0:1,2;\n"))
    with files_of(tmp_path / "data.gz", None) as (kind, _):
        assert kind.name == "dat"


def test_nothing_says_the_format(tmp_path: Path) -> None:
    for content in (b"", b"hello, world\n"):
        (tmp_path / "data").write_bytes(content)
        with pytest.raises(FormatError, match="data: the format is not known; give it with --format"):
            files_of(tmp_path / "data", None).__enter__()


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    content = gzip.compress(TABLE) if packed else TABLE
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with files_of(Path("-"), None) as (kind, (file,)):
        assert kind.name == "csv"
        assert file.read_bytes() == content
    assert not file.exists()


def test_an_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(InputError, match="standard input: there is nothing in it"):
        files_of(Path("-"), "csv").__enter__()


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TABLE,))
    writer.start()
    assert read(pipe).x.tolist() == [0, 1]
    writer.join()


def test_an_archive_is_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, id in (("in/2.csv", 5), ("in/10.csv", 6)):
            write(Trajectories([id], [id], [0, 1], ids=[id]), tmp_path / "one.csv")
            archive.write(tmp_path / "one.csv", name)
    assert read(tmp_path / "a.zip").x.tolist() == [5, 6]


def test_an_archive_never_writes_outside(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../../escaped.csv", TABLE)
    with files_of(tmp_path / "a.zip", None) as (_, (file,)):
        assert "archive" in file.parts
        assert not (file.parents[2] / "escaped.csv").exists()


def test_a_broken_archive(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(FormatError, match=r"a\.zip: this archive cannot be unpacked"):
        read(tmp_path / "a.zip")
