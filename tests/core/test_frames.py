from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings

from ldptrace.core.frames import MOST_LINES, MOST_POINTS, WIDTH, table_of, thumbnail
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from trajectory_kit import assert_same, trajectory_sets


@given(trajectory_sets(min_points=0, extra=True))
@settings(max_examples=30)
def test_there_and_back(trajectories: Trajectories) -> None:
    pytest.importorskip("geopandas")
    if trajectories.sizes.max() < 2:
        return
    assert_same(Trajectories.from_geopandas(trajectories.to_geopandas()), trajectories)


def test_parts_of_lines_are_trajectories() -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    lines = shapely.MultiLineString([[(0, 0), (1, 1)], [(2, 2), (3, 3), (4, 4)]])
    found = Trajectories.from_geopandas(
        geopandas.GeoDataFrame({"mode": ["bus"]}, geometry=[lines], crs="EPSG:3857")
    )
    assert found.sizes.tolist() == [2, 3]
    assert found.crs == "EPSG:3857"
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus", "bus"]}


def test_a_frame_of_points_needs_to_say_which_trip_they_are_of() -> None:
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy([1, 2], [1, 2]))
    with pytest.raises(InputError, match="no column says which trajectory"):
        Trajectories.from_geopandas(frame)


def test_a_column_of_texts_and_numbers_is_refused_in_one_sentence() -> None:
    mixed = {"trip": [1, 1], "x": [0.0, 1.0], "y": [0.0, 1.0], "t": [60.0, "noon"]}
    with pytest.raises(FormatError, match=r"this data frame cannot be read: .* column t"):
        table_of(pytest.importorskip("pandas").DataFrame(mixed))


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    lines = Trajectories.from_lists([[(1, 2), (3, 4)]], crs="EPSG:4326")
    with pytest.raises(
        InputError, match=r"geopandas is needed for this; install it with: pip install 'ldptrace\[geo\]'"
    ):
        lines.to_geopandas()


def drawn(lines: list[list[tuple[float, float]]], geographic: bool = False) -> str:
    x, y = np.array([point for line in lines for point in line], dtype=float).reshape(-1, 2).T
    offsets = np.cumsum([0, *map(len, lines)])
    return thumbnail(x, y, offsets, geographic=geographic, caption="<a> & b")


def test_a_line_from_corner_to_corner_with_north_up() -> None:
    picture = drawn([[(0, 0), (2, 1)]])
    assert f'd="M0 {WIDTH // 2}L{WIDTH} 0"' in picture
    figure = ET.fromstring(picture)
    assert "".join(figure.itertext()) == "<a> & b"


def test_degrees_are_stretched() -> None:
    # At sixty degrees north a degree of longitude is half as long as one of latitude.
    flat, high = (
        int(re.findall(r'height="(\d+)"', drawn([[(0, 59.5), (2, 60.5)]], geographic))[0])
        for geographic in (False, True)
    )
    assert (flat, high) == pytest.approx((WIDTH // 2, WIDTH), abs=1)


def test_few_lines_of_few_points() -> None:
    many = drawn([[(k, step % 2) for step in range(500)] for k in range(1000)])
    assert many.count("M") == MOST_LINES
    assert many.count("L") <= MOST_LINES * MOST_POINTS


def test_nothing_to_draw_is_words_alone() -> None:
    for lines in ([], [[(1.0, 1.0)]]):
        assert "<svg" not in drawn(lines)
        assert "&lt;a&gt; &amp; b" in drawn(lines)
    # All points above each other, and all in one place.
    for lines in ([[(1.0, 0.0), (1.0, 5.0)]], [[(1.0, 1.0), (1.0, 1.0)]]):
        assert "nan" not in drawn(lines)
