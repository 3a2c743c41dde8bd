"""The metrics of streams against RetraSyn's definitions, written down once more in the simplest way."""

from __future__ import annotations

import numpy as np
import pytest

import tick_kit
from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.stream_metrics import (
    STREAM_METRICS,
    StreamReference,
    pattern_matches,
    query_error,
)
from road_kit import lattice_roads
from tick_kit import GRID, ticking

REAL, OTHER = ticking(60, 1), ticking(60, 2)


def same(block: Trajectories) -> Trajectories:
    return block


@pytest.fixture(scope="module")
def reference() -> StreamReference:
    return StreamReference.of(Memory(REAL), same, GRID, 10.0, 0, np.random.default_rng(3))


def test_density_and_transitions_tick_by_tick(reference: StreamReference) -> None:
    values = reference.values(reference.tables(Memory(OTHER), same, "ours"))
    ticks = reference.frame.clock.ticks
    assert values["stream_density_error"] == pytest.approx(tick_kit.density_error(REAL, OTHER, ticks))
    assert values["stream_transition_error"] == pytest.approx(tick_kit.transition_error(REAL, OTHER, ticks))


def test_patterns_of_a_window(reference: StreamReference) -> None:
    tables = reference.tables(Memory(OTHER), same, "ours")
    found = pattern_matches(reference.pair(tables), np.array([3]))[0]
    # All patterns of so few trips are among the hundred most frequent.
    sides = [tick_kit.patterns(trips, 3, 3 + reference.frame.clock.window - 1) for trips in (REAL, OTHER)]
    top = [set(sorted(side, key=lambda key: (-side[key], len(key), key))[:100]) for side in sides]  # type: ignore[arg-type]
    assert found == pytest.approx(len(top[0] & top[1]) / 100)


def test_queries_count_positions_in_boxes_during_windows(reference: StreamReference) -> None:
    tables, frame = reference.tables(Memory(OTHER), same, "ours"), reference.frame
    wide = frame.clock.window

    def answer(trips: Trajectories, k: int) -> int:
        assert trips.t is not None
        tick = np.rint(trips.t / 10)
        left, right, bottom, top = frame.boxes[k]
        inside = (trips.x >= left) & (trips.x <= right)
        inside &= (trips.y >= bottom) & (trips.y <= top)
        return int(np.sum(inside & (tick >= frame.first[k]) & (tick < frame.first[k] + wide)))

    real, other = (np.array([answer(trips, k) for k in range(100)]) for trips in (REAL, OTHER))
    np.testing.assert_allclose(tables.answers, other)
    least = 0.01 * wide * REAL.points / reference.frame.clock.ticks
    expected = np.mean(np.abs(real - other) / np.maximum(real, least))
    assert query_error(reference.pair(tables)) == pytest.approx(expected)


def test_empty_boxes_count_as_one_percent_of_a_window() -> None:
    lonely = ticking(2, 1)
    reference = StreamReference.of(Memory(lonely), same, GRID, 10.0, 0, np.random.default_rng(3))
    clock, tables = reference.frame.clock, reference.tables(Memory(OTHER), same, "ours")
    real = reference.real.answers
    assert real.min() == 0
    least = 0.01 * lonely.points * clock.window / clock.ticks
    expected = np.mean(np.abs(real - tables.answers) / np.maximum(real, least))
    assert query_error(reference.pair(tables)) == pytest.approx(expected)


def test_a_stream_beside_itself_is_perfect_and_its_controls_are_not(reference: StreamReference) -> None:
    values = reference.entries(reference.real)
    assert set(values) == set(STREAM_METRICS)
    for name, value in values.items():
        best = 0.0 if STREAM_METRICS[name].goal == "min" else 1.0
        if name not in ("stream_kendall_tau", "stream_pattern_f1"):
            assert value["value"] == pytest.approx(best, abs=1e-7), name
        assert not STREAM_METRICS[name].better(value["uniform"], value["value"])
    # The same trips at other times: the same history, another course.
    shuffled = {name: value["controls"]["shuffled_times"] for name, value in values.items()}
    assert shuffled["stream_trip_error"] < 0.1 < shuffled["stream_density_error"]


def test_the_course_of_a_stream(reference: StreamReference) -> None:
    course, clock = reference.course(reference.real), reference.frame.clock
    assert sum(course["present"]) == REAL.points
    assert len(course["density_error"]) == clock.ticks
    assert len(course["transition_error"]) == clock.ticks - 1
    assert max(course["density_error"]) == 0.0
    assert [sum(shares) for shares in course["maps"]] == pytest.approx([1.0] * len(reference.moments))
    assert course["hotspot_ndcg"] == [1.0] * (clock.ticks // clock.window)


@pytest.mark.slow
def test_evaluations_with_ticks_and_a_map() -> None:
    roads = lattice_roads(5, 2.0)
    card = evaluate(
        REAL, OTHER, OTHER, bounds=(0, 0, 8, 8), grid=4, seed=1, repeat=1, attacks=False, tick=10.0, from_tick=5,
        roads=roads, names=["a", "a"],
    )  # fmt: skip
    (item,) = card.sets
    assert item["metrics"]["stream_density_error"]["std"] == 0.0
    assert set(item["metrics"]["stream_density_error"]["controls"]) == {"shuffled_times", "map_alone"}
    document = card.document()
    assert document["stream"]["from"] == 5
    assert len(document["sets"][0]["course"]["present"]) == document["stream"]["ticks"] - 5
    assert document["metrics"]["stream_pattern_f1"]["level"] == "stream"
    # What has nothing to do with ticks is the same without them.
    plain = evaluate(REAL, OTHER, bounds=(0, 0, 8, 8), grid=4, seed=1, repeat=1, attacks=False, roads=roads)
    assert plain["query_error"] == card["query_error"]
    assert "stream_density_error" not in plain.measured


def test_streams_need_times_and_a_tick() -> None:
    plain = drifting_walks(10, 1)
    with pytest.raises(InputError, match="streams need times, and the real set has none"):
        StreamReference.of(Memory(plain), same, GRID, 10.0, 0, np.random.default_rng(1))
    with pytest.raises(InputError, match="seconds above 0, got 0"):
        StreamReference.of(Memory(REAL), same, GRID, 0.0, 0, np.random.default_rng(1))
    with pytest.raises(InputError, match="needs the seconds of a tick, got 5 and no tick"):
        evaluate(REAL, OTHER, from_tick=5)
    reference = StreamReference.of(Memory(REAL), same, GRID, 10.0, 0, np.random.default_rng(1))
    with pytest.raises(InputError, match="streams need times, and ours has none"):
        reference.tables(Memory(plain), same, "ours")
