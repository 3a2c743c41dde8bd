"""Areas are read from any GeoJSON with polygons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ldptrace.errors import InputError
from ldptrace.io.area import read_area

SQUARE = [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]
FAR = [[[5, 5], [6, 5, 99], [6, 6], [5, 5]]]


@pytest.mark.parametrize(
    "document",
    [
        {"type": "MultiPolygon", "coordinates": [SQUARE, FAR]},
        {
            "type": "FeatureCollection",
            "features": [
                {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": SQUARE}, "properties": {}},
                {"type": "Feature", "geometry": None},
                {
                    "type": "Feature",
                    "geometry": {
                        "type": "GeometryCollection",
                        "geometries": [
                            {"type": "Point", "coordinates": [0, 0]},
                            {"type": "Polygon", "coordinates": FAR},
                        ],
                    },
                },
            ],
        },
    ],
)
def test_polygons_are_found_wherever_they_are(tmp_path: Path, document: Any) -> None:
    (tmp_path / "land.geojson").write_text(json.dumps(document))
    area = read_area(tmp_path / "land.geojson")
    assert area.contains([0.5, 5.9, 3], [0.5, 5.5, 3]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "this is not GeoJSON"),
        ('{"type": "Point", "coordinates": [1, 2]}', "there are no polygons in it"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}', "at least three points"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], "x", [1, 1]]]}', "a polygon is broken"),
        ("[]", "a polygon is broken"),
    ],
)
def test_bad_areas_get_one_sentence(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "land.geojson"
    path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_area(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_area(tmp_path / "nothing.geojson")
