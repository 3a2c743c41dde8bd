from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from markupsafe import Markup

from ldptrace.pages.drawings import (
    ARROWS,
    WIDTH,
    Frame,
    density_map,
    flow_gaps,
    flow_map,
    pattern_path,
    scale_bar,
    street_symbol,
    trip_map,
    trip_matrix,
    zone_map,
)

SQUARE = Frame(1.0)


def shapes(picture: Markup, tag: str, kind: str) -> list[ET.Element]:
    found = ET.fromstring(str(picture)).iter(tag)
    return [item for item in found if (item.get("class") or "").split()[:1] == [kind]]


def numbers(text: str | None) -> list[float]:
    return [float(value) for value in re.findall(r"-?\d+\.?\d*", text or "")]


def test_the_first_block_is_in_the_south_west() -> None:
    # Blocks are counted up the columns: 1 lies north of 0.
    (south,) = shapes(density_map([1.0, 0, 0, 0], SQUARE, 1.0), "rect", "heat")
    (north,) = shapes(density_map([0, 1.0, 0, 0], SQUARE, 1.0), "rect", "heat")
    assert (float(south.get("x") or 0), float(south.get("y") or 0)) == (0, WIDTH / 2)
    assert (float(north.get("x") or 0), float(north.get("y") or 0)) == (0, 0)
    assert south[0].text == "100.00 %"


def test_colour_grows_with_the_root_of_the_share() -> None:
    blocks = shapes(density_map([0.04, 0.01, 0, 0.5], SQUARE, 0.04), "rect", "heat")
    assert [float(block.get("fill-opacity") or 0) for block in blocks] == [1.0, 0.5, 1.0]


def test_more_and_less_have_their_own_colours() -> None:
    picture = density_map([0.1, -0.025, 0, 0], SQUARE, 0.1, signed=True)
    (more,), (less,) = shapes(picture, "rect", "more"), shapes(picture, "rect", "less")
    assert (more.get("fill-opacity"), less.get("fill-opacity")) == ("1.000", "0.500")
    assert less[0].text == "-2.50 points"
    trips = trip_matrix([[0.1, -0.1, 0, 0], *[[0.0] * 4] * 3], 0.1, signed=True)
    assert len(shapes(trips, "path", "more")) == len(shapes(trips, "path", "less")) == 1


def test_arrows_keep_to_their_right() -> None:
    there, back = (
        numbers(shapes(flow_map([flow], 2, SQUARE, 1.0), "polygon", "heat")[0].get("points"))
        for flow in ((0, 2, 1.0), (2, 0, 1.0))
    )
    # Eastwards along the lower row the arrow lies south of the way back.
    assert sum(there[1::2]) / len(there[1::2]) > 225 > sum(back[1::2]) / len(back[1::2])


def test_only_the_strongest_arrows_are_drawn() -> None:
    faint = [(0, 1, 0.04), (1, 0, 1.0)]
    assert len(shapes(flow_map(faint, 2, SQUARE, 1.0), "polygon", "heat")) == 1
    many = [(block, block + 1, 1.0) for block in range(20 * 20 - 1)]
    assert len(shapes(flow_map(many, 20, SQUARE, 1.0), "polygon", "heat")) == ARROWS
    gaps = flow_gaps([(0, 1, 0.5)], [(1, 0, 0.5)])
    picture = flow_map(gaps, 2, SQUARE, 0.5, signed=True)
    assert len(shapes(picture, "polygon", "less")) == len(shapes(picture, "polygon", "more")) == 1


def test_zones_have_the_names_of_a_chessboard() -> None:
    names = [item.text for item in shapes(zone_map(2, SQUARE), "text", "zone")]
    assert names == ["A1", "A2", "B1", "B2"]


@pytest.mark.parametrize(
    ("metres", "label"), [(30_000, "10 km"), (7_000, "2 km"), (1_000, "200 m"), (2, "0.5 m")]
)
def test_the_ruler_is_round_and_at_most_a_third(metres: float, label: str) -> None:
    picture = zone_map(2, Frame(0.5, metres))
    assert f">{label}<" in picture
    (ruler,) = shapes(picture, "path", "ruler")
    left, _, _, right, _ = numbers(ruler.get("d"))
    assert right - left <= WIDTH / 3 + 0.1
    assert "ruler" not in zone_map(2, SQUARE)


def test_streets_lie_under_the_map_once() -> None:
    symbol = street_symbol([[0, 0, 1000, 1000]], 0.5)
    assert 'd="M0 500L1000 0"' in symbol
    assert 'href="#streets"' in zone_map(2, Frame(0.5, streets=True))
    assert 'href="#streets"' not in zone_map(2, Frame(0.5))


def test_a_pattern_begins_with_a_dot_and_returns_beside_its_way() -> None:
    picture = pattern_path([0, 1, 0], 2, 1.0)
    assert len(shapes(picture, "circle", "dot")) == len(shapes(picture, "polygon", "dot")) == 1
    (path,) = shapes(picture, "polyline", "path")
    x = numbers(path.get("points"))[::2]
    # Up on the right-hand side, down on the other.
    assert x[0] == x[1] > x[2] == x[3]


def test_trips_are_drawn_in_units_of_the_map() -> None:
    picture = trip_map([[(0.0, 0.0), (1.0, 1.0)], [(0.5, 0.5)]], Frame(0.5), "s1")
    (strokes,) = shapes(picture, "path", "trip")
    # From the lower left to the upper right, and a dot in the middle.
    assert strokes.get("d") == "M0.0 150.0L300.0 0.0M150.0 75.0L150.0 75.0"


def test_the_legend_shows_its_ends() -> None:
    assert [item.text for item in shapes(scale_bar(0.1), "text", "tick")][::4] == ["0 %", "10 %"]
    assert [item.text for item in shapes(scale_bar(0.1, signed=True), "text", "tick")][::4] == [
        "−10 %",
        "+10 %",
    ]
