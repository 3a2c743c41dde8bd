"""Metrics made of traces: independent of how densely lines are sampled, right by hand."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import densified, drifting_walks, points_in, timed, values_of
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.divergence import log_divergence
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.line_metrics import LINE_METRICS, LinePair
from ldptrace.evaluation.queries import SquareQueries
from ldptrace.evaluation.sets import measured
from ldptrace.evaluation.traces import FINE, HOURS, Traces
from ldptrace.evaluation.values import LINES
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)
GRID = Grid(SQUARE, 6)
TABLES = [column.name for column in fields(Traces) if column.name not in {"grid", "fixes"}]
POINTS = {"fix_density_error_24", "fix_density_error_96", "fix_density_error_192", "query_error_raw_points"}


def pair_of(real: Trajectories, synthetic: Trajectories) -> LinePair:
    perfect = LinePair.draw(measured(real, GRID), np.random.default_rng(1))
    return replace(perfect, synthetic=measured(synthetic, GRID))


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(2, 9))
def test_no_further_metric_depends_on_how_densely_a_trip_is_sampled(seed: int, more: int) -> None:
    real, synthetic = timed(drifting_walks(40, seed), 1), timed(drifting_walks(30, seed + 1), 2, peak=17)
    once, again = pair_of(real, synthetic), pair_of(real, densified(synthetic, more))
    for name, metric in LINES.items():
        assert metric.of(again) == pytest.approx(metric.of(once), abs=1e-6, nan_ok=True), name
    # The same of the real side, but for what is measured against its fixes as they are.
    other = pair_of(densified(real, more), synthetic)
    for name in LINES.keys() - POINTS:
        assert LINES[name].of(other) == pytest.approx(LINES[name].of(once), abs=1e-6, nan_ok=True), name


def test_divergences_by_hand() -> None:
    east, north = [(0.1, 0.1), (9.9, 0.1)], [(0.1, 0.1), (0.1, 9.9)]
    pair = pair_of(Trajectories.from_lists([east]), Trajectories.from_lists([north]))
    # Two lines that meet in one corner of many cells.
    assert LINE_METRICS["fine_density_error_192"].of(pair) > 0.98 * math.log(2)
    assert LINE_METRICS["od_error_12"].of(pair) == pytest.approx(math.log(2), abs=1e-6)
    same = pair_of(Trajectories.from_lists([east]), Trajectories.from_lists([east]))
    for name in ("fine_density_error_24", "small_query_error_900", "od_error_12"):
        assert LINE_METRICS[name].of(same) == pytest.approx(0, abs=1e-9)


def test_departures_by_hand() -> None:
    def leaving(*hours: float) -> Trajectories:
        n = len(hours)
        t = np.column_stack((np.array(hours) * 3600, np.array(hours) * 3600 + 600)).ravel()
        return Trajectories([1.0, 2.0] * n, [1.0, 2.0] * n, np.arange(0, 2 * n + 1, 2), t=t)

    pair = pair_of(leaving(8.0, 8.5), leaving(8.2, 17.0))
    expected = 0.5 * math.log(1 / 0.75) + 0.25 * math.log(0.5 / 0.75) + 0.25 * math.log(2)
    assert LINE_METRICS["departure_error"].of(pair) == pytest.approx(expected, abs=1e-6)
    assert LINE_METRICS["duration_error"].of(pair) == pytest.approx(0, abs=1e-9)
    assert LINE_METRICS["speed_error"].of(pair) == pytest.approx(0, abs=1e-9)


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
    counted = points_in(queries, x, y) / len(x)
    assert np.allclose(queries.shares(table, GRID), counted, atol=5e-4)


@pytest.mark.slow
def test_times_of_a_set_make_the_time_metrics() -> None:
    real, near, far = (
        timed(drifting_walks(400, 1), 1),
        timed(drifting_walks(400, 2), 2),
        timed(drifting_walks(400, 3), 3, peak=18),
    )
    card = evaluate(real, near, far, drifting_walks(100, 4), bounds=SQUARE, seed=1, repeat=1, attacks=False)
    document = card.document()
    for name in ("departure_error", "spacetime_query_error", "period_origin_error"):
        good, bad, without = (item["metrics"][name] for item in card.sets)
        assert good["value"] < bad["value"], name
        assert without["value"] is None
        assert good["floor"] < bad["value"]
        assert name in document["metrics"]
    assert values_of(card)["duration_error"]["value"] < values_of(card)["duration_error"]["uniform"]
    assert set(document["metrics"]["period_origin_error"]["controls"]) == {"independent"}
    assert document["metrics"]["departure_error"]["controls"]["public_profile"] > 0.02
    assert "controls" not in document["metrics"]["duration_error"]
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
    perfect = LinePair.draw(measured(both, GRID), np.random.default_rng(1))
    pair = replace(perfect, synthetic=replace(perfect.real, traces=apart))
    assert LINE_METRICS["period_origin_error"].of(pair) > 0.02
    assert LINE_METRICS["spacetime_query_error"].of(pair) > 0.1
    assert LINE_METRICS["departure_error"].of(pair) == 0


@pytest.mark.slow
def test_hours_are_those_of_the_zone() -> None:
    base = timed(drifting_walks(200, 1), 1)
    day = 20_000 * 86_400.0
    utc = replace(base, t=base.t + day)  # type: ignore[operator]
    tokyo = replace(base, t=base.t + day - 9 * 3600)  # type: ignore[operator]

    def error(real: Trajectories, synthetic: Trajectories, zone: str | None = None) -> float:
        card = evaluate(real, synthetic, bounds=SQUARE, seed=1, repeat=1, attacks=False, timezone=zone)
        return card["departure_error"]

    assert error(utc, base) == 0.0
    assert error(tokyo, base) > 0.1
    # Times of the day are local already; dates are put on the clocks of the zone.
    assert error(tokyo, base, "Asia/Tokyo") == 0.0
    assert error(replace(tokyo, timezone="Asia/Tokyo"), base) == 0.0
    # A zone that is given goes before the one that a set states, as --timezone does for files.
    assert error(replace(tokyo, timezone="Europe/Berlin"), base, "Asia/Tokyo") == 0.0


def test_trips_that_all_begin_at_zero_have_no_hour() -> None:
    trips = timed(drifting_walks(50, 1), 1)
    since = replace(trips, t=trips.t - np.repeat(trips.t[trips.offsets[:-1]], trips.sizes))  # type: ignore[index, operator]
    card = evaluate(since, since, bounds=SQUARE, seed=1, repeat=1, attacks=False)
    assert "departure_error" not in card.measured
    assert card["duration_error"] == 0.0
