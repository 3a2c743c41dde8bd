from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from markupsafe import Markup

from ldptrace.pages.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Series,
    classes,
    course,
    curves,
    day,
    histogram,
    share_bar,
    strip,
)


def parsed(chart: Markup) -> ET.Element:
    return ET.fromstring(str(chart))


def points(chart: Markup, style: str) -> list[tuple[float, float]]:
    """The corners of the line of a style."""
    line = next(item for item in parsed(chart).iter("polyline") if item.get("class") == f"line {style}")
    pairs = [pair.split(",") for pair in (line.get("points") or "").split()]
    return [(float(x), float(y)) for x, y in pairs]


def labels(chart: Markup) -> list[str]:
    return [item.text or "" for item in parsed(chart).iter("text")]


GROUND = HEIGHT - BOTTOM


def test_a_histogram_has_a_step_for_every_bucket_and_one_for_all_beyond() -> None:
    chart = histogram(
        [0.0, 10.0, 20.0], [Series([0.0, 0.5, 0.25, 0.25], "s0"), Series([0, 1, 0, 0], "s1")], "km"
    )
    steps = points(chart, "s0")
    # The tallest share of all is at the top, an empty one on the ground.
    assert [y for _, y in points(chart, "s1")] == [TOP, TOP, GROUND, GROUND, GROUND, GROUND]
    assert [y for _, y in steps][::2] == pytest.approx(
        [GROUND - (GROUND - TOP) * share for share in (0.5, 0.25, 0.25)]
    )
    assert (steps[0][0], steps[-1][0]) == pytest.approx((LEFT, WIDTH - RIGHT))
    assert "more" in labels(chart)
    assert len(list(parsed(chart).iter("polygon"))) == 1


def test_classes_have_one_below_and_one_above() -> None:
    chart = classes(
        [1.0, 2.0], [Series([0.1, 0.7, 0.2], "s0"), Series([], "s1")], "duration", "{:.0f} min".format
    )
    assert len(points(chart, "s0")) == 6
    assert {"1 min", "2 min"} <= set(labels(chart))
    assert "s1" not in str(chart)


def test_a_day_has_twenty_four_hours() -> None:
    chart = day([Series([1 / 24] * 24, "s0")], "hour")
    assert len(points(chart, "s0")) == 24
    assert labels(chart)[-5:] == ["0", "6", "12", "18", "24"]


def test_gaps_of_a_curve_are_left_out() -> None:
    chart = curves(["a", "b", "c"], [Series([0.1, None, 0.3], "s1")], "x", "y")
    assert len(points(chart, "s1")) == 2
    assert len(list(parsed(chart).iter("circle"))) == 2
    assert "s1" not in curves(["a"], [Series([None], "s1")], "x", "y")


def test_words_are_escaped() -> None:
    for chart in (curves(["<b>"], [Series([1.0], "s1")], "<i>", "a & b"), histogram([0.0, 1.0], [], "<i>")):
        assert "<i>" not in str(chart)
        assert "<i>" in labels(chart)


def test_a_strip_runs_from_nothing_to_perfect() -> None:
    drawn = parsed(strip([0.0, None, 1.0], known_before=0.5))
    dots = [(item.get("class"), float(item.get("cx") or 0)) for item in drawn.iter("circle")]
    assert dots == [("hollow", 80.0), ("fill s1", 6.0), ("fill s3", 154.0)]


def test_a_bar_is_as_long_as_its_share() -> None:
    widths = [
        float(re.findall(r'width="([\d.]+)"', str(share_bar(value, 0.5, "s1")))[0])
        for value in (0.0, 0.25, 0.5)
    ]
    assert widths == [0.5, 60.0, 120.0]
    assert "25.00 %" in share_bar(0.25, 0.5, "s1")
    assert "0.00 %" in share_bar(0.0, 0.0, "s1")


def test_a_course_over_time_is_thinned() -> None:
    drawn = course([Series([0.5] * 1000, "s1"), Series([], "s2")], 100, 1099, "tick", "error")
    assert drawn.count(",") == 143
    assert ">100<" in drawn
    assert ">1099<" in drawn
