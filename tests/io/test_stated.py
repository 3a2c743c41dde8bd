"""What the kind of a file says of its coordinates."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.io.stated import stated_crs


@pytest.mark.parametrize(
    ("name", "text", "crs"),
    [
        ("a.gpx", "", "EPSG:4326"),
        ("a.plt", "", "EPSG:4326"),
        ("a.geojson", "{", "EPSG:4326"),
        ("a.geojson", "[]", "EPSG:4326"),
        ("a.geojson", '{"crs":null}', None),
        ("a.csv", "", None),
        ("a.csv", "traj,longitude,latitude\n", "EPSG:4326"),
        ("a.csv", "id;x;y\n", None),
        ("a.csv", "TRIP_ID,POLYLINE\n", "EPSG:4326"),
        ("a.dat", "", None),
        ("a.parquet", "no parquet", None),
    ],
)
def test_without_a_single_point(tmp_path: Path, name: str, text: str, crs: str | None) -> None:
    (tmp_path / name).write_text(text)
    assert stated_crs(tmp_path / name) == crs
