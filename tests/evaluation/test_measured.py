from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from evaluation_data import drifting_walks, values_of
from ldptrace.core.reading import Outside
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.measured import Measured, chosen, sampled, timed_walks
from ldptrace.evaluation.sets import (
    Census,
    Side,
    align,
    choose_area,
    measured,
    on_local_clocks,
    stay_inside,
)
from ldptrace.evaluation.traces import Traces
from ldptrace.protocol.grid import Grid
from statistics_kit import assert_same_law

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
        Census.of(area, trajectories.crs, outside, part) for part in (trajectories[:1], trajectories[1:])
    )
    return one + other


def inside(trajectories: Trajectories, outside: Outside | None) -> Trajectories:
    return stay_inside(AREA, outside, True, {}, trajectories)


def test_what_leaves_is_cut_dropped_or_clamped() -> None:
    both = trips([(1, 1), (11, 5)], [(2, 2)], [])
    assert inside(both, "cut").x.tolist() == [1, 2]
    assert inside(both, "drop").x.tolist() == [2]
    assert census(both, outside="drop").notes(AREA, "it") == [
        "it: 1 of 3 trajectories have no points and are omitted",
        "it: 1 trip leaves the bounds and is omitted (of 2 trajectories)",
    ]
    sizes = {"cut": (2, 2), "drop": (1, 1), "clamp": (2, 3)}
    for policy in get_args(Outside):
        found = census(both, outside=policy)
        assert (found.kept, found.kept_points) == sizes[policy]
    clamped = inside(both, "clamp")
    assert (clamped.x.tolist(), clamped.y.tolist()) == ([1, 10, 2], [1, 5, 2])
    assert "1 point of 1 trip moved to the border" in census(both, outside="clamp").notes(AREA, "it")[1]
    assert both.x.tolist() == [1, 11, 2]


def test_what_is_inside_passes_untouched() -> None:
    all_in = trips([(0, 0), (10, 10)])
    assert np.shares_memory(inside(all_in, "cut").x, all_in.x)
    assert census(all_in).notes(AREA, "it") == []
    assert inside(trips([(11, 0)], []), None).x.tolist() == [11]


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
    for outside in get_args(Outside):
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


GRID = Grid((0.0, 0.0, 10.0, 10.0), 6)


def timed(trips: Trajectories, leave: float = 30_000.0) -> Trajectories:
    """A minute from point to point, from the same hour on."""
    step = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    return replace(trips, t=leave + 60.0 * step + np.repeat(np.arange(len(trips)), trips.sizes))


def test_blocks_are_measured_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = timed(drifting_walks(60, 1))
    once = measured(whole, GRID)
    monkeypatch.setattr("ldptrace.engines.base.POINTS", 50)
    parts = measured(whole, GRID)
    assert len(parts.summary.tables.blocks) > 5
    np.testing.assert_array_equal(parts.summary.tables.density, once.summary.tables.density)
    np.testing.assert_allclose(parts.traces.presence, once.traces.presence)
    assert np.array_equal(parts.trajectories.x, whole.x)


def test_a_sample_and_bootstraps_of_lines() -> None:
    """A tenth of 2000 trajectories, and weights that add up to sizes: within six standard deviations, or 1e-9."""
    whole = timed(drifting_walks(2000, 1))
    rng = np.random.default_rng(3)
    side = Side.of(whole, GRID)
    found, again = side.measured(rng, few=200, sizes=[500, 6000])
    assert abs(len(found.trajectories) - 200) < 6 * np.sqrt(180)
    assert len(found.summary) == 2000
    for size, other in again.items():
        assert abs(other.traces.trajectories - size) < 6 * np.sqrt(size)
    assert len(side.sample(rng)) == 2000


def test_what_a_cluster_runs_does_not_hold_the_set() -> None:
    held: list[object] = []

    class Watched(Memory):
        def put_aside(self, work: Any, nothing: Any) -> Any:
            held.extend(cell.cell_contents for cell in work.__closure__)
            return super().put_aside(work, nothing)

        def add_up(self, work: Any, nothing: Any) -> Any:
            held.extend(cell.cell_contents for cell in work.__closure__)
            return super().add_up(work, nothing)

    whole = drifting_walks(60, 1)
    side = replace(Side.of(whole, GRID), crowd=Watched(whole))
    side.measured(np.random.default_rng(1), few=20, sizes=[30])
    side.sample(np.random.default_rng(1))
    held.append(side.kept.args)  # type: ignore[attr-defined]
    assert len(held) > 5
    assert not any(isinstance(each, Side | Memory) for each in held)


def test_another_size_of_the_same_set() -> None:
    whole = measured(drifting_walks(40, 1), GRID)
    larger = whole.resized(500)
    assert len(larger.summary) == 500
    assert larger.traces is whole.traces


def test_random_trips_are_few_and_all_different() -> None:
    trips = Trajectories.from_lists([[(float(k), 0.0)] for k in range(50)])
    few = chosen(trips, 20, np.random.default_rng(1))
    assert len(few) == 20
    assert np.all(np.diff(few.x) > 0)
    assert chosen(trips, 50, np.random.default_rng(1)) is trips


def test_dates_are_put_on_the_clocks_of_their_zone() -> None:
    trip = Trajectories([0], [0], [0, 1], t=[1.7e9], timezone="Asia/Tokyo")
    local = on_local_clocks(trip)
    assert local.t is not None
    assert local.t.tolist() == [1.7e9 + 9 * 3600]
    plain = replace(trip, timezone=None)
    assert on_local_clocks(plain) is plain


def test_walks_without_knowledge_leave_at_any_time() -> None:
    real = Traces.of(timed(drifting_walks(60, 1)), GRID)
    walks = drifting_walks(2000, 2)
    rng = np.random.default_rng(3)
    found = timed_walks(walks, real, rng)
    assert found.t is not None
    leave = found.t[found.offsets[:-1]]
    assert_same_law(leave, rng.random(2000) * 86_400)
    inner = np.ones(found.points - 1, dtype=bool)
    inner[found.offsets[1:-1] - 1] = False
    assert np.diff(found.t)[inner].min() > 0
    assert timed_walks(walks, Traces.of(walks, GRID), rng) is walks


SQUARE = (0.0, 0.0, 10.0, 10.0)


def test_fewer_than_a_hundred_patterns_are_divided_by_a_hundred_and_it_is_said() -> None:
    real = Trajectories.from_lists([[(1, 1), (9, 1)], [(1, 1), (1, 9)]])
    card = evaluate(real, real, bounds=SQUARE, seed=1, repeat=1)
    assert 0 < card["pattern_f1"] < 1
    assert card["pattern_f1_available"] == 1.0
    assert "divided by 100" in " ".join(card.remarks())


def test_sets_of_different_sizes() -> None:
    card = evaluate(drifting_walks(200, 1), drifting_walks(60, 2), bounds=SQUARE, seed=1)
    assert "200 trajectories, this one 60" in " ".join(card.remarks())
    # The floor is what a perfect set of sixty would score.
    floor = values_of(card)["pattern_error"]["floor"]
    assert floor > 0.5
    assert card["pattern_error_scaled"] < card["pattern_error"]


def test_a_sample_that_stands_for_all_is_named() -> None:
    trips = drifting_walks(30, 1)
    whole = measured(trips, Grid(SQUARE, 6))
    assert sampled("the real set", whole, attacks=True, streets=True) == []
    few = Measured(trips.take(np.arange(10)), whole.summary, whole.traces)
    (said,) = sampled("the set", few, attacks=True, streets=False)
    assert said.startswith(
        "the set: 10 of its 30 trajectories, drawn at random, stand for all in the attacks"
    )
