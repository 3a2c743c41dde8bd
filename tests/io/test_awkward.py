"""Files as strangers have them: what is read of them, or one sentence that says what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import InputError
from ldptrace.io import read, read_with_account

ROWS = [(k // 3, 13.3 + k / 100, 52.5, 1_700_000_000 + 60 * k) for k in range(12)]
HEAD = "trip_id,lon,lat,time"


def text(rows: list[tuple[object, ...]], head: str = HEAD, separator: str = ",") -> str:
    return "\n".join([head, *(separator.join(map(str, row)) for row in rows)]) + "\n"


def huge(scale: int) -> str:
    return text([(scale + one, x, y, t) for one, x, y, t in ROWS])


READ = {
    "byte order mark": "\ufeff" + text(ROWS),
    "decimal commas": text(ROWS, HEAD.replace(",", ";"), ";").replace(".", ","),
    "seconds with decimal commas": text([(i, x, y, f'"{t},0"') for i, x, y, t in ROWS]),
    "spaces": text(ROWS, HEAD.replace(",", ", "), ", "),
    "carriage returns": text(ROWS).replace("\n", "\r"),
    "ids of 20 digits": huge(10**19),
    "ids of 23 digits": huge(10**22),
    "an index without a name": text([(k, *row) for k, row in enumerate(ROWS)], "," + HEAD),
    "UTC in words": text(
        [(i, x, y, f"{np.datetime64(t, 's')}".replace("T", " ") + " UTC") for i, x, y, t in ROWS]
    ),
    "GMT with fractions": text([(i, x, y, f"{np.datetime64(t, 's')}.000GMT") for i, x, y, t in ROWS]),
}


@pytest.mark.parametrize("name", READ)
def test_it_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(READ[name].encode())
    found, account = read_with_account(path)
    assert found.offsets.tolist() == [0, 3, 6, 9, 12]
    assert found.x.tolist() == [row[1] for row in ROWS]
    assert found.t is not None
    assert found.t.tolist() == [row[3] for row in ROWS]
    assert "(no name)" in account.line() or name != "an index without a name"


@pytest.mark.parametrize("scale", [10**19, 10**22])
def test_ids_that_are_too_large_for_numbers_stay_apart_in_batches(tmp_path: Path, scale: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(huge(scale))
    batches = open_batches(path, Reading(), always=True)
    assert batches is not None
    assert Trajectories.concat(list(batches)).offsets.tolist() == [0, 3, 6, 9, 12]
    batches.close()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", HEAD.encode(), "there are no trajectories in it"),
        ("a.csv", b"a,b\n\x81\x8d,2\n", "its bytes are no text"),
        ("a.csv", b"trip_id,latlon\n1,2\n", r"no column for x \(x, lon, lng, long, \.\.\.\) and y \(y, lat,"),
        ("a.csv", text(ROWS, "trip_id,lon,lat,lat").encode(), "there are several columns named lat"),
        ("a.csv", text(ROWS, "ride,lon,lat,time").encode(), r"--id ride, which repeats in runs"),
        ("a.json", b'[{"x": 1}]', "this is a list; .* --format jsonl"),
        ("a.parquet", b"PAR1" + bytes(50), "not a Parquet or a Feather file, or its end is missing"),
        ("a.feather", b"ARROW1" + bytes(50), "not a Parquet or a Feather file, or its end is missing"),
        ("a.jsonl", b"x,y\n1,2\n", "2 of 2 lines are no JSON object"),
        ("a.gpx", b"<!DOCTYPE html><html></html>", "a document type is declared"),
    ],
)
def test_it_is_one_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as found:
        read(tmp_path / name)
    assert str(found.value).startswith(os.fspath(tmp_path / name))
    assert "\n" not in str(found.value)


def test_files_of_several_coordinate_systems(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text(ROWS))
    (tmp_path / "b.csv").write_text(text(ROWS, "trip_id,x,y,time"))
    with pytest.raises(InputError, match=r"different coordinate systems \(EPSG:4326, none\)"):
        read(tmp_path)
