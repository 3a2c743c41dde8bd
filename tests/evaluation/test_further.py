"""Traces and the metrics made of them: independent of how densely lines are sampled, additive, right by hand."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import densified, drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import Bench, Measured, evaluate, judge
from ldptrace.evaluation.extents import travel_distances
from ldptrace.evaluation.further import FURTHER, Questions, Sight, log_divergence
from ldptrace.evaluation.queries import SquareQueries
from ldptrace.evaluation.traces import FINE, HOURS, Traces, coarser
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)
GRID = Grid(SQUARE, 6)
TABLES = [column.name for column in fields(Traces) if column.name not in {"grid", "fixes"}]
POINTS = {"fix_density_error_24", "fix_density_error_96", "fix_density_error_192", "query_error_raw_points"}


def timed(trajectories: Trajectories, seed: int, peak: float = 8.0) -> Trajectories:
    """Trips that leave around an hour and take a few minutes per step."""
    rng = np.random.default_rng(seed)
    leave = np.repeat((rng.normal(peak, 2.0, len(trajectories)) % 24) * 3600, trajectories.sizes)
    pace = np.repeat(rng.uniform(60, 900, len(trajectories)), trajectories.sizes)
    step = np.arange(trajectories.points) - np.repeat(trajectories.offsets[:-1], trajectories.sizes)
    return replace(trajectories, t=leave + step * pace)


def sight(real: Trajectories, synthetic: Trajectories) -> Sight:
    a, b = Traces.of(real, GRID), Traces.of(synthetic, GRID)
    return Sight(a, b, Questions.draw(np.random.default_rng(1), a, (1.0, 1.0)))


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(2, 9))
def test_no_further_metric_depends_on_how_densely_a_trip_is_sampled(seed: int, more: int) -> None:
    real, synthetic = timed(drifting_walks(40, seed), 1), timed(drifting_walks(30, seed + 1), 2, peak=17)
    once, again = sight(real, synthetic), sight(real, densified(synthetic, more))
    for name, metric in FURTHER.items():
        assert metric.of(again) == pytest.approx(metric.of(once), abs=1e-6, nan_ok=True), name
    # The same of the real side, but for what is measured against its fixes as they are.
    other = sight(densified(real, more), synthetic)
    for name in FURTHER.keys() - POINTS:
        assert FURTHER[name].of(other) == pytest.approx(FURTHER[name].of(once), abs=1e-6, nan_ok=True), name


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 39))
def test_traces_of_batches_add_up(seed: int, cut: int) -> None:
    whole = timed(drifting_walks(40, seed), seed)
    parts = [whole.take(np.arange(cut)), whole.take(np.arange(cut, 40))]
    total, expected = Traces.zero(GRID), Traces.of(whole, GRID)
    for part in parts:
        total = total + Traces.of(part, GRID)
    for name in (*TABLES, "fixes"):
        assert np.allclose(getattr(total, name), getattr(expected, name), rtol=1e-12, atol=1e-9)
    merged = Measured.merged([Measured.of(part, GRID) for part in parts])
    once = Measured.of(whole, GRID)
    assert np.array_equal(merged.summary.paths.cells, once.summary.paths.cells)
    assert np.array_equal(merged.summary.density, once.summary.density)
    assert merged.summary.points == once.summary.points


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_lengths_and_times_are_all_there(seed: int) -> None:
    trips = timed(drifting_walks(30, seed), seed)
    traces = Traces.of(trips, GRID)
    spent = trips.t[trips.offsets[1:] - 1] - trips.t[trips.offsets[:-1]]  # type: ignore[index]
    assert traces.way.sum() == pytest.approx(travel_distances(trips).sum())
    assert traces.stay.sum() == pytest.approx(spent.sum())
    assert traces.presence.sum() == pytest.approx(spent.sum())
    assert traces.fixes.sum() == trips.points
    assert traces.departures.sum() == traces.trips.sum() == traces.durations.sum() == 30


def test_weights_count_a_trip_several_times() -> None:
    trips = timed(drifting_walks(20, 1), 1)
    times = np.arange(20) % 3
    weighted, repeated = (
        Traces.of(trips, GRID, times),
        Traces.of(trips.take(np.repeat(np.arange(20), times)), GRID),
    )
    for name in (*TABLES, "fixes"):
        assert np.allclose(getattr(weighted, name), getattr(repeated, name))


def test_a_line_by_hand() -> None:
    # Along the bottom of the map, for half an hour around nine: half of it before, half after.
    line = Trajectories([0.0, 10.0], [0.1, 0.1], [0, 2], t=[8.75 * 3600, 9.25 * 3600])
    traces = Traces.of(line, GRID)
    assert np.allclose(traces.way[:, 1], 10 / FINE, rtol=1e-3)
    assert traces.way.sum() == pytest.approx(10.0)
    hours = traces.presence.sum(axis=(0, 1))
    assert hours[8] == pytest.approx(900)
    assert hours[9] == pytest.approx(900)
    assert traces.departures[8 * 60 + 45] == 1
    # The western half of the map was left by nine.
    assert traces.presence[:12, :, 8].sum() == pytest.approx(900, rel=1e-3)
    assert coarser(traces.way, 24).shape == (24, 24)


def test_midnight_is_passed_hour_by_hour() -> None:
    still = Trajectories([5.0, 5.0], [5.0, 5.0], [0, 2], t=[23 * 3600.0, 26 * 3600.0])
    hours = Traces.of(still, GRID).presence.sum(axis=(0, 1))
    assert hours[[23, 0, 1]].tolist() == [3600, 3600, 3600]
    assert hours.sum() == 3 * 3600


def test_divergences_by_hand() -> None:
    east, north = [(0.1, 0.1), (9.9, 0.1)], [(0.1, 0.1), (0.1, 9.9)]
    pair = sight(Trajectories.from_lists([east]), Trajectories.from_lists([north]))
    # Two lines that meet in one corner of many cells.
    assert FURTHER["fine_density_error_192"].of(pair) > 0.98 * math.log(2)
    assert FURTHER["od_error_12"].of(pair) == pytest.approx(math.log(2), abs=1e-6)
    same = sight(Trajectories.from_lists([east]), Trajectories.from_lists([east]))
    for name in ("fine_density_error_24", "small_query_error_900", "od_error_12"):
        assert FURTHER[name].of(same) == pytest.approx(0, abs=1e-9)


def test_departures_by_hand() -> None:
    def leaving(*hours: float) -> Trajectories:
        n = len(hours)
        t = np.column_stack((np.array(hours) * 3600, np.array(hours) * 3600 + 600)).ravel()
        return Trajectories([1.0, 2.0] * n, [1.0, 2.0] * n, np.arange(0, 2 * n + 1, 2), t=t)

    pair = sight(leaving(8.0, 8.5), leaving(8.2, 17.0))
    expected = 0.5 * math.log(1 / 0.75) + 0.25 * math.log(0.5 / 0.75) + 0.25 * math.log(2)
    assert FURTHER["departure_error"].of(pair) == pytest.approx(expected, abs=1e-6)
    assert FURTHER["duration_error"].of(pair) == pytest.approx(0, abs=1e-9)
    assert FURTHER["speed_error"].of(pair) == pytest.approx(0, abs=1e-9)


def test_values_beyond_the_real_classes_are_kept() -> None:
    real, beyond = np.zeros(1024), np.zeros(1024)
    real[500:520] = 10
    beyond[500:520] = 5
    beyond[900] = 100
    assert log_divergence(real, real) == 0
    # Half of the second lies above everything real: half of ln 2 and a bit.
    assert log_divergence(real, beyond) > 0.2


def test_shares_of_squares_are_those_of_the_points() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.random(400_000) * 10, rng.random(400_000) ** 2 * 10
    table = np.histogram2d(x, y, bins=FINE, range=[[0, 10], [0, 10]])[0]
    queries = SquareQueries.draw(rng, GRID, fraction=1 / 100)
    counted = queries.count(x, y) / len(x)
    assert np.allclose(queries.shares(table, GRID), counted, atol=5e-4)


def test_times_of_a_set_make_the_time_metrics() -> None:
    real, near, far = (
        timed(drifting_walks(400, 1), 1),
        timed(drifting_walks(400, 2), 2),
        timed(drifting_walks(400, 3), 3, peak=18),
    )
    card = evaluate(real, near, far, drifting_walks(100, 4), bounds=SQUARE, seed=1, repeat=1, attacks=False)
    document = card.document()
    for name in ("departure_error", "spacetime_query_error", "period_origin_error"):
        good, bad, without = (item.values[name] for item in card.sets)
        assert good.mean < bad.mean, name
        assert math.isnan(without.mean)
        assert good.floor is not None
        assert good.uniform is not None
        assert good.floor < bad.mean
        assert name in document["metrics"]
    assert card.sets[0].values["duration_error"].mean < card.sets[0].values["duration_error"].uniform  # type: ignore[operator]
    assert set(document["metrics"]["period_origin_error"]["controls"]) == {"independent"}
    assert "controls" not in document["metrics"]["departure_error"]
    assert len(document["real"]["hours"]) == HOURS
    assert sum(document["real"]["hours"]) == pytest.approx(1, abs=1e-5)
    assert "has no times" in " ".join(card.remarks())


def test_drawing_places_and_hours_apart_loses_how_they_go_together() -> None:
    west, east = drifting_walks(300, 1), drifting_walks(300, 2)
    east = replace(east, x=10 - east.x)
    both = Trajectories.concat([timed(west, 1, peak=8), timed(east, 2, peak=17)])
    traces = Traces.of(both, GRID)
    apart = traces.unlinked()
    assert apart.origins.sum() == pytest.approx(traces.origins.sum())
    assert np.allclose(apart.presence.sum(axis=2), traces.presence.sum(axis=2))
    pair = Sight(traces, apart, Questions.draw(np.random.default_rng(1), traces, (1.0, 1.0)))
    assert FURTHER["period_origin_error"].of(pair) > 0.02
    assert FURTHER["spacetime_query_error"].of(pair) > 0.1
    assert FURTHER["departure_error"].of(pair) == 0


def test_hours_are_those_of_the_zone() -> None:
    base = timed(drifting_walks(200, 1), 1)
    day = 20_000 * 86_400.0
    utc = replace(base, t=base.t + day)  # type: ignore[operator]
    tokyo = replace(base, t=base.t + day - 9 * 3600)  # type: ignore[operator]

    def error(real: Trajectories, synthetic: Trajectories, zone: str | None = None) -> float:
        card = evaluate(real, synthetic, bounds=SQUARE, seed=1, repeat=1, attacks=False, timezone=zone)
        return card.sets[0].values["departure_error"].mean

    assert error(utc, base) == 0.0
    assert error(tokyo, base) > 0.1
    # Times of the day are local already; dates are put on the clocks of the zone.
    assert error(tokyo, base, "Asia/Tokyo") == 0.0
    assert error(replace(tokyo, timezone="Asia/Tokyo"), base) == 0.0


def test_trips_that_all_begin_at_zero_have_no_hour() -> None:
    trips = timed(drifting_walks(50, 1), 1)
    since = replace(trips, t=trips.t - np.repeat(trips.t[trips.offsets[:-1]], trips.sizes))  # type: ignore[index, operator]
    found = evaluate(since, since, bounds=SQUARE, seed=1, repeat=1, attacks=False).sets[0].values
    assert math.isnan(found["departure_error"].mean)
    assert found["duration_error"].mean == 0.0


def test_sets_added_up_in_batches_are_judged_like_whole_ones() -> None:
    real, synthetic = timed(drifting_walks(300, 1), 1), timed(drifting_walks(200, 2), 2)
    cuts = [slice(0, 120), slice(120, 121), slice(121, 300)]
    rng = np.random.default_rng(3)
    whole = Measured.merged([Measured.of(real[cut], GRID).drawn(50, rng) for cut in cuts])
    again = Measured.merged([Measured.again(real[cut], GRID, 200 / 300, rng) for cut in cuts])
    bench = Bench.between(whole, {200: again}, rng)
    parts = Measured.merged([Measured.of(synthetic[:90], GRID), Measured.of(synthetic[90:], GRID)])
    card = judge(bench, {"ours": parts}, rng, repeat=1)
    expected = evaluate(real, synthetic, grid=GRID, seed=1, repeat=1, attacks=False)
    for name in ("density_error", "trip_error", "pattern_f1", "fine_density_error_96", "departure_error"):
        assert card.sets[0].values[name].mean == pytest.approx(expected.sets[0].values[name].mean, abs=1e-9)
    # Bootstraps differ by chance: of the divergences of 300 trips by about a tenth.
    for name in ("od_error_12", "fine_density_error_24"):
        floors = [found.sets[0].values[name].floor for found in (card, expected)]
        assert floors[0] == pytest.approx(floors[1], rel=0.5)
    assert len(card.real.samples) == 50 + 1 + 50
    assert "<svg" in card.to_html()
