from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import read, write
from trajectory_kit import assert_same, trajectory_sets

TRIP = Trajectories(
    [13.4, 13.5],
    [52.4, 52.5],
    [0, 2],
    t=[0, 90.5],
    ids=[7],
    crs="EPSG:4326",
    extra=pa.table({"mode": ["bus"]}),
)


def document(trips: Trajectories, folder: Path) -> dict[str, object]:
    write(trips, folder / "a.mfjson")
    found: dict[str, object] = json.loads((folder / "a.mfjson").read_text())
    return found


def test_the_text_that_is_written(tmp_path: Path) -> None:
    written = document(TRIP, tmp_path)
    assert written["features"] == [
        {
            "type": "Feature",
            "properties": {"traj_id": 7, "mode": "bus"},
            "temporalGeometry": {
                "type": "MovingPoint",
                "interpolation": "Linear",
                "datetimes": ["1970-01-01T00:00:00.000000Z", "1970-01-01T00:01:30.500000Z"],
                "coordinates": [[13.4, 52.4], [13.5, 52.5]],
            },
        }
    ]
    assert written["crs"] == {"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}


@given(trajectory_sets(extra=True))
@settings(max_examples=30)
def test_there_and_back(trips: Trajectories) -> None:
    if trips.t is None:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.mfjson")
        write(trips, path)
        assert_same(read(path), trips)


def test_the_promise_and_other_systems_are_in_the_file(tmp_path: Path) -> None:
    synthetic = replace(TRIP, crs="EPSG:25833", provenance={"epsilon": "1"})
    document(synthetic, tmp_path)
    found = read(tmp_path / "a.mfjson")
    assert (found.crs, found.provenance) == ("EPSG:25833", {"epsilon": "1"})
    assert document(replace(TRIP, crs=None), tmp_path)["crs"] is None


def test_points_that_do_not_move_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="these trajectories have no times"):
        write(replace(TRIP, t=None), tmp_path / "a.mfjson")
    assert list(tmp_path.iterdir()) == []
