from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import FormatError, InputError
from ldptrace.io.formats import EXTENSIONS, FORMATS, for_writing, locate, named, of_path


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


def test_what_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    for name in ("a.csv", "b.dat", "c.xyz"):
        (tmp_path / name).touch()
    with pytest.raises(FormatError, match="files of several formats: csv, dat in it"):
        locate(tmp_path, None)
    assert locate(tmp_path, "dat")[1] == [tmp_path / "b.dat"]
    with pytest.raises(FormatError, match="there are no gpx files in it"):
        locate(tmp_path, "gpx")
    with pytest.raises(FormatError, match="the extension does not say the format"):
        locate(tmp_path / "c.xyz", None)
    with pytest.raises(InputError, match="there is no such file or folder"):
        locate(tmp_path / "nothing*", None)
