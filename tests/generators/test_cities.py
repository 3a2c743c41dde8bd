"""Trips in a city: on the roads, forward in time, at the speed of cars, when and where people drive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace import generators
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.cities import PRESETS
from ldptrace.generators.streets import SPEED
from ldptrace.generators.traffic import Traffic
from ldptrace.roads import RoadNetwork, read_roads, write_roads

NOISE = 8.0


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    return generators.city_traffic(1)


@pytest.fixture(scope="module")
def trips(traffic: Traffic) -> Trajectories:
    return traffic.trips(4000, np.random.default_rng(2))


def steps(trips: Trajectories) -> np.ndarray:
    """Which consecutive points belong to one trajectory."""
    inner = np.ones(trips.points - 1, dtype=bool)
    inner[trips.offsets[1:-1] - 1] = False
    return inner


def distance_to_roads(roads: RoadNetwork, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Exact distance of every point to the nearest edge."""
    ax, ay = roads.x[roads.source], roads.y[roads.source]
    dx, dy = roads.x[roads.target] - ax, roads.y[roads.target] - ay
    nearest = np.empty(len(x))
    for k in range(len(x)):
        share = np.clip(((x[k] - ax) * dx + (y[k] - ay) * dy) / (dx**2 + dy**2), 0, 1)
        nearest[k] = np.hypot(x[k] - ax - share * dx, y[k] - ay - share * dy).min()
    return nearest


@pytest.mark.slow
def test_points_lie_on_roads_but_for_the_noise(traffic: Traffic) -> None:
    quiet = replace(traffic, recorder=traffic.recorder._replace(noise=0.0))
    for drawn, limit in ((quiet, 0.0), (traffic, 4 * NOISE * np.sqrt(2))):
        trips = drawn.trips(60, np.random.default_rng(2))
        assert distance_to_roads(traffic.roads, trips.x, trips.y).max() <= limit + 1e-6


def test_the_network_written_is_the_one_that_is_driven_on(traffic: Traffic, tmp_path: Path) -> None:
    write_roads(traffic.network, tmp_path / "roads")
    again = read_roads(tmp_path / "roads")
    for column in ("x", "y", "source", "target", "length", "seconds"):
        np.testing.assert_array_equal(getattr(again, column), getattr(traffic.roads, column))
    assert again.classes == ("motorway", "primary", "residential", "tertiary")
    assert not again.account.dropped


def test_time_moves_by_the_interval(trips: Trajectories) -> None:
    assert trips.t is not None
    np.testing.assert_allclose(np.diff(trips.t)[steps(trips)], 15.0)
    assert trips.t.min() >= 0
    assert trips.sizes.min() >= 2


def test_nobody_is_faster_than_the_motorway(trips: Trajectories) -> None:
    moved = np.hypot(np.diff(trips.x), np.diff(trips.y))[steps(trips)]
    assert moved.max() / 15 < SPEED[0] / 0.8 + 2 * 4 * NOISE * np.sqrt(2) / 15
    assert 6 < np.median(moved) / 15 < 16


def test_points_stay_in_the_public_bounds(traffic: Traffic, trips: Trajectories) -> None:
    assert traffic.bounds == (0.0, 0.0, 20_000.0, 20_000.0)
    x0, y0, x1, y1 = trips.bounds()
    assert min(x0, y0) >= 0
    assert max(x1, y1) <= 20_000


@pytest.mark.slow
def test_the_seed_decides_everything() -> None:
    small = {"size": 5000.0, "minutes": 4.0}
    one, other = (generators.city(200, seed, **small) for seed in (5, 6))
    same = generators.city(200, np.random.default_rng(5), **small)
    for column in ("x", "y", "t", "offsets"):
        np.testing.assert_array_equal(getattr(one, column), getattr(same, column))
    assert one.points != other.points or not np.array_equal(one.x, other.x)


def test_batches_have_all_the_trips(traffic: Traffic) -> None:
    parts = list(traffic.batches(250, np.random.default_rng(1), size=100))
    assert [len(part) for part in parts] == [100, 100, 50]
    assert not np.array_equal(parts[0].x[:20], parts[1].x[:20])


def test_people_drive_by_day_and_to_the_centre_in_the_morning(traffic: Traffic) -> None:
    trips = traffic.trips(20_000, np.random.default_rng(3))
    assert trips.t is not None
    hour = trips.t[trips.offsets[:-1]] / 3600
    assert np.mean((hour > 7) & (hour < 9)) > 10 * np.mean((hour > 2) & (hour < 4))
    ends = trips.offsets[1:] - 1
    away = np.hypot(trips.x[ends] - 10_000, trips.y[ends] - 10_000)
    # Means of about 5,000 trips each, with a spread of 4 km: ten standard errors are 800 m.
    assert away[hour < 9].mean() + 400 < away[(hour > 16) & (hour < 19)].mean()


@pytest.mark.slow
def test_trips_take_as_long_as_asked() -> None:
    trips = generators.city(4000, 3, minutes=6.0)
    assert (trips.sizes.mean() - 1.5) * 15 / 60 == pytest.approx(6.0, rel=0.08)


@pytest.mark.parametrize("count", [0, 1])
def test_few_trips(traffic: Traffic, count: int) -> None:
    trips = traffic.trips(count, np.random.default_rng(1))
    assert len(trips) == count
    assert trips.crs is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"trajectories": -1}, "whole number from 0 to 1,000,000,000, got -1"),
        ({"trajectories": 2.5}, "whole number"),
        ({"size": 10.0}, "a side of 3,000 to 200,000 metres"),
        ({"interval": 0.0}, "interval must be a positive"),
        ({"noise": -1.0}, "noise must be"),
        ({"noise": 1000.0}, "noise may be up to 150 metres"),
        ({"minutes": -2.0}, "positive number of minutes"),
        pytest.param({"minutes": 500.0}, "minutes on average, not 500", marks=pytest.mark.slow),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generators.city(**{"trajectories": 1, "seed": 1, **wrong})  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_mean_points_are_those_of_the_paper(name: str) -> None:
    trips = generators.city_traffic(1, **PRESETS[name]).trips(5000, np.random.default_rng(1))
    # The spread of sizes is about half of the mean, so five thousand trips tell the mean to 0.7 %.
    assert trips.sizes.mean() == pytest.approx({"oldenburg": 69.75, "porto": 34.13}[name], rel=0.06)
    assert trips.t is not None
    assert np.median(np.diff(trips.t)) == pytest.approx(PRESETS[name]["interval"])
