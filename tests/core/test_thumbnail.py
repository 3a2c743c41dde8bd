from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from ldptrace.core.thumbnail import MOST_LINES, MOST_POINTS, WIDTH, thumbnail


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
