from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldptrace.core.reading import Reading
from ldptrace.engines.files import open_batches
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account

POINTS = [{"user": "a", "trip": k // 2, "x": k, "y": 9 - k, "t": 60 * k} for k in range(6)]
TRIPS = [{"user": "a", "x": [0, 1], "y": [2, 3.5]}, {"user": "b", "x": [], "y": []}]


def saved(folder: Path, *lines: Any) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_a_line_is_a_point(tmp_path: Path) -> None:
    found = read(saved(tmp_path, *POINTS))
    assert found.offsets.tolist() == [0, 2, 4, 6]
    assert found.x.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.t is not None
    assert found.t.tolist() == [0, 60, 120, 180, 240, 300]
    assert found.user == "user"


def test_a_line_is_a_trajectory(tmp_path: Path) -> None:
    found = read(saved(tmp_path, *TRIPS))
    assert (found.offsets.tolist(), found.y.tolist()) == ([0, 2, 2], [2, 3.5])
    places = [{"id": 5, "points": [{"lat": 1, "lng": 2, "time": "1970-01-05T00:00:00Z"}]}]
    found = read(saved(tmp_path, *places))
    assert (found.x.tolist(), found.crs, found.numbers.tolist()) == ([2], "EPSG:4326", [5])
    assert found.t is not None
    assert found.t.tolist() == [345600]


def test_broken_lines_stay_rows_and_are_counted(tmp_path: Path) -> None:
    found, account = read_with_account(saved(tmp_path, *TRIPS, '{"user": "c", "x": [0', "[1]", TRIPS[0]))
    assert found.sizes.tolist() == [2, 0, 0, 0, 2]
    assert "2 lines that are no JSON object" in account.line()
    with pytest.raises(InputError, match="2 of 3 lines are no JSON object"):
        read(saved(tmp_path, TRIPS[0], "{", "1"))


def test_broken_values_keep_their_row(tmp_path: Path) -> None:
    broken = [{"user": "c", "x": [1, "east"], "y": [1, True]}, {"user": "d", "x": None, "y": None}]
    found = read(saved(tmp_path, *TRIPS, *broken))
    assert found.sizes.tolist() == [2, 0, 1, 0]
    found = read(saved(tmp_path, *POINTS, {"user": 7, "trip": "z", "x": "east", "y": 1, "t": "noon"}))
    assert found.sizes.tolist() == [2, 2, 2, 0]


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ({**POINTS[0], "taxi": 5} | {"date": "x"}, None),
        ({name: value for name, value in POINTS[0].items() if name != "t"}, "some lines have no member 't'"),
        ({**POINTS[0], "user_id": 4}, "some lines have no member 'user_id'"),
        ({**POINTS[0], "t0": 4}, "some lines have no member 't0'"),
        ({**POINTS[0], "x": [1], "y": [1]}, "member 'x' is not of one form"),
    ],
)
def test_one_line_does_not_change_how_others_are_read(
    tmp_path: Path, odd: dict[str, Any], message: str | None
) -> None:
    path = saved(tmp_path, *POINTS, odd)
    if message is None:
        assert read(path).points == 7
        return
    with pytest.raises(InputError, match=message):
        read(path)
    with pytest.raises(InputError, match=message):
        open_batches(path, Reading(), always=True)


def test_places_have_the_same_members(tmp_path: Path) -> None:
    lines = [{"points": [{"x": 0, "y": 1}]}, {"points": [{"x": 0, "y": 1, "t": 3}]}]
    with pytest.raises(InputError, match="member 'points' is not of one form"):
        read(saved(tmp_path, *lines))


def test_features_have_a_format_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="--format geojsonl"):
        read(saved(tmp_path, {"type": "Feature", "geometry": None}))


@pytest.mark.parametrize("lines", [POINTS, TRIPS])
def test_blocks_are_the_file(tmp_path: Path, lines: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldptrace.io.text.BLOCK_BYTES", 100)
    path = saved(tmp_path, *lines, "{")
    whole, account = read_with_account(path)
    batches = open_batches(path, always=True)
    assert batches is not None
    parts = list(batches)
    np.testing.assert_array_equal(np.concatenate([part.x for part in parts]), whole.x)
    assert sum(len(part) for part in parts) == len(whole) == batches.expected
    assert batches.account.doubts == account.doubts
    batches.close()
