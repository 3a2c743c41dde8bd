from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, write
from ldptrace.io.formats import EXTENSIONS, FORMATS, Format, files_of, for_writing, locate, named, of_path


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.PARQUET", "parquet"),
        ("a.csv.gz", "csv"),
        ("a.tsv", "csv"),
        ("a.trips.geojson", "trips"),
        ("a.geojson", "geojson"),
        ("a.mf.json", "mfjson"),
        ("a.json", "geojson"),
        ("a.plt", "geolife"),
        ("a", None),
        ("a.gz", None),
        ("csv", None),
    ],
)
def test_the_extension_says_the_format(name: str, format: str | None) -> None:
    found = of_path(Path(name))
    assert (found and found.name) == format


def test_every_format_is_found_by_its_extensions_and_its_name() -> None:
    for extension, kind in EXTENSIONS.items():
        assert of_path(Path(f"a{extension}")) is kind
    assert all(named(name).name == name for name in FORMATS)
    with pytest.raises(InputError, match="unknown format 'shp'; the formats are parquet, csv"):
        named("shp")


def test_a_name_wins_over_the_extension_and_a_pipe_gets_csv() -> None:
    assert for_writing(Path("a.csv"), "parquet").name == "parquet"
    assert for_writing(Path("-"), None).name == "csv"
    with pytest.raises(InputError, match="porto is only read; what can be written is parquet"):
        for_writing(Path("a.csv"), "porto")
    with pytest.raises(InputError, match=r"the extension of a\.xyz is not known"):
        for_writing(Path("a.xyz"), None)


def test_a_folder_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    for name in ("10.csv", "9.csv", ".hidden.csv", "9.csv.promise.json", "notes.md"):
        (tmp_path / name).touch()
    kind, files = locate(tmp_path, None)
    assert kind.name == "csv"
    assert [file.name for file in files] == ["9.csv", "10.csv"]
    assert locate(tmp_path / "1*.csv", None)[1] == [tmp_path / "10.csv"]


def test_the_labels_of_geolife_are_no_trajectories(tmp_path: Path) -> None:
    for name in ("labels.txt", "Trajectory/1.plt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    kind, files = locate(tmp_path, None)
    assert (kind.name, [file.name for file in files]) == ("geolife", ["1.plt"])


def test_what_is_said_about_a_folder_is_no_trajectory(tmp_path: Path) -> None:
    for name in ("readme.txt", "metadata.json", "a.csv", "LICENSE.txt", "fields.txt", "README.csv"):
        (tmp_path / name).touch()
    kind, files = locate(tmp_path, None)
    assert (kind.name, [file.name for file in files]) == ("csv", ["a.csv"])
    assert [file.name for file in locate(tmp_path, "tdrive")[1]] == ["fields.txt"]
    (tmp_path / "a.csv").unlink()
    assert locate(tmp_path, None)[0].name == "tdrive"


def test_what_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    for name in ("a.csv", "b.dat", "c.xyz"):
        (tmp_path / name).touch()
    with pytest.raises(FormatError, match=r"files of several formats in it: csv \(.*\), dat"):
        locate(tmp_path, None)
    assert locate(tmp_path, "dat")[1] == [tmp_path / "b.dat"]
    with pytest.raises(FormatError, match="there are no gpx files in it"):
        locate(tmp_path, "gpx")
    with pytest.raises(FormatError, match="the format is not known from the extension"):
        locate(tmp_path / "c.xyz", None)
    with pytest.raises(InputError, match="there is no such file or folder"):
        locate(tmp_path / "nothing*", None)


@pytest.mark.parametrize(
    "kind", [kind for kind in FORMATS.values() if kind.writer], ids=lambda kind: kind.name
)
@pytest.mark.parametrize("cuts", [(0, 3), (0, 0, 1, 3), (0, 2, 2, 3), (0, 0)])
def test_a_file_that_grows_is_the_file_of_all_at_once(
    tmp_path: Path, kind: Format, cuts: tuple[int, ...]
) -> None:
    lines = [[(13.4, 52.5)], [(13.4, 52.5), (13.5, 52.6)], [(13.0, 52.0), (13.1, 52.1), (13.2, 52.2)]]
    trips = Trajectories.from_lists(lines)
    t = 1.7e9 + np.arange(trips.points)
    trips = replace(trips, t=t, ids=np.array([7, 8, 9]), crs="EPSG:4326", provenance={"epsilon": "1"})
    trips = trips.part(0, cuts[-1])
    path = tmp_path / f"trips{kind.extensions[0]}"
    with kind.open(path) as write_set:
        for start, stop in pairwise(cuts):
            write_set(trips.part(start, stop))
    found, whole = tmp_path / f"grown{kind.extensions[0]}", tmp_path / f"whole{kind.extensions[0]}"
    path.rename(found)
    write(trips, whole)
    if kind.name not in ("parquet", "geopackage"):  # it has a row group for each set, or the time of writing
        assert found.read_bytes() == whole.read_bytes()
    again = read(found) if len(trips) else trips
    assert again.x.tolist() == trips.x.tolist()
    assert again.numbers.tolist() == trips.numbers.tolist()


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
        (b"ARROW1\0\0", "feather"),
        (b'{"x": 1, "y": 2}\n{"x": 1, "y": 2}\n', "jsonl"),
        (b'{"type": "Feature"}\n{"type": "Feature"}\n', "geojsonl"),
        (b'{"type": "FeatureCollection"}\n', "geojson"),
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
