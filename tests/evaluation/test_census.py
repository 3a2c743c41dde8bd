from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.outside import POLICIES, Outside
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.census import Census, align, choose_area, stay_inside
from ldptrace.protocol.grid import Grid

AREA = Grid((0.0, 0.0, 10.0, 10.0), 5)


def trips(*lines: list[tuple[float, float]], crs: str | None = None) -> Trajectories:
    return Trajectories.from_lists(lines, crs=crs)


@pytest.mark.parametrize(
    ("points", "bounds"),
    [
        ([(1, 2), (5, 4)], (1, 2, 5, 4)),
        ([(1, 2), (5, 2)], (1, 0, 5, 4)),
        ([(1, 2), (1, 6)], (-1, 2, 3, 6)),
        ([(1, 2)], (0.9995, 1.9995, 1.0005, 2.0005)),
    ],
)
def test_an_area_of_its_own_even_for_a_line(
    points: list[tuple[float, float]], bounds: tuple[float, float, float, float]
) -> None:
    area, origin = choose_area(census(trips(points), None), 4, None)
    assert area.bounds == pytest.approx(bounds)
    assert (area.n, origin) == (4, "the real set")


def test_an_area_that_is_given_is_taken() -> None:
    nothing = Census()
    assert choose_area(nothing, AREA, None) == (AREA, "given")
    assert choose_area(nothing, 5, AREA.bounds) == (AREA, "given")
    with pytest.raises(InputError, match="were given as well"):
        choose_area(nothing, AREA, (0, 0, 1, 1))
    with pytest.raises(InputError, match="the real set has no points"):
        choose_area(nothing, 5, None)


def census(trajectories: Trajectories, area: Grid | None = AREA, outside: Outside = "cut") -> Census:
    """Of two blocks."""
    one, other = (
        Census.of(part, area, trajectories.crs, outside) for part in (trajectories[:1], trajectories[1:])
    )
    return one + other


def test_what_leaves_is_cut_dropped_or_clamped() -> None:
    both = trips([(1, 1), (11, 5)], [(2, 2)], [])
    assert stay_inside(both, AREA, "cut").x.tolist() == [1, 2]
    assert stay_inside(both, AREA, "drop").x.tolist() == [2]
    assert census(both, outside="drop").notes(AREA, "it") == [
        "it: 1 of 3 trajectories have no points and are omitted",
        "it: 1 trip leaves the bounds and is omitted (of 2 trajectories)",
    ]
    sizes = {"cut": (2, 2), "drop": (1, 1), "clamp": (2, 3)}
    for policy in POLICIES:
        found = census(both, outside=policy)
        assert (found.kept, found.kept_points) == sizes[policy]
    clamped = stay_inside(both, AREA, "clamp")
    assert (clamped.x.tolist(), clamped.y.tolist()) == ([1, 10, 2], [1, 5, 2])
    assert "1 point of 1 trip moved to the border" in census(both, outside="clamp").notes(AREA, "it")[1]
    assert both.x.tolist() == [1, 11, 2]


def test_what_is_inside_passes_untouched() -> None:
    inside = trips([(0, 0), (10, 10)])
    assert np.shares_memory(stay_inside(inside, AREA, "cut").x, inside.x)
    assert census(inside).notes(AREA, "it") == []
    assert stay_inside(trips([(11, 0)], []), AREA, None).x.tolist() == [11]


def test_times_are_those_of_all_blocks() -> None:
    timed = Trajectories([1, 2], [1, 2], [0, 1, 2], t=[0, 1])
    assert census(timed).has_times
    assert not (census(timed) + census(trips([(1, 1)]))).has_times


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "it has no trajectories"),
        ([[(np.nan, 1.0)]], "it has coordinates that are not finite numbers"),
        ([[(50, 50)]], r"none of the 1 trajectories of it stays in the bounds \(0, 0, 10, 10\): they span"),
    ],
)
def test_nothing_left_is_an_error(lines: list[list[tuple[float, float]]], words: str) -> None:
    for outside in POLICIES:
        with pytest.raises(InputError, match=words):
            census(trips(*lines), outside=outside).notes(AREA, "it")


@pytest.mark.parametrize(
    ("real", "synthetic", "note"),
    [
        ("EPSG:4326", "OGC:CRS84", []),
        (None, None, []),
        ("EPSG:3857", None, ["it names no coordinate system and was taken as EPSG:3857"]),
        (None, "EPSG:3857", ["the real set names no coordinate system and was taken as EPSG:3857"]),
    ],
)
def test_systems_that_agree(real: str | None, synthetic: str | None, note: list[str]) -> None:
    assert align(real, synthetic, "it") == note


def test_systems_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match="the real set EPSG:4326, it EPSG:3857; convert one of them"):
        align("EPSG:4326", "EPSG:3857", "it")
