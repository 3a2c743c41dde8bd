"""Walks on a campus: every visit open, reachable and in order, and the points between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildings_kit import BUILDINGS, campus_trips, write_geojson, write_table
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace_lab.campus.pois import HOUR, Visits
from ldptrace_lab.campus.walks import MOST_HASTE, PRESETS, WALKING, Walks, campus_walks

NOISE = 4.0
TOP_SPEED = WALKING / MOST_HASTE


@pytest.fixture(scope="module")
def walks() -> Walks:
    return campus_walks(1)


@pytest.fixture(scope="module")
def trips(walks: Walks) -> Trajectories:
    return walks.trips(4000, np.random.default_rng(2))


def inner(offsets: np.ndarray) -> np.ndarray:
    """Which consecutive entries belong to one trajectory."""
    same = np.ones(offsets[-1] - 1, dtype=bool)
    same[offsets[1:-1] - 1] = False
    return same


def test_visits_are_open_and_in_order_and_reachable(walks: Walks, trips: Trajectories) -> None:
    visits, pois = Visits.of(trips), walks.pois
    assert len(visits) == len(trips)
    assert np.diff(visits.offsets).min() >= 2
    assert np.diff(visits.offsets).max() <= 8
    assert pois.is_open(visits.poi, visits.t).all()
    same = inner(visits.offsets)
    took = np.diff(visits.t)[same]
    assert took.min() > 0
    away = np.hypot(np.diff(pois.x[visits.poi]), np.diff(pois.y[visits.poi]))[same]
    assert np.all(away <= TOP_SPEED * took + 1.0)
    assert np.all(np.diff(visits.poi)[same] != 0)
    assert visits.t.max() < 24 * HOUR


def test_time_increases_and_walkers_walk(trips: Trajectories) -> None:
    assert trips.t is not None
    same = inner(trips.offsets)
    took, moved = np.diff(trips.t)[same], np.hypot(np.diff(trips.x), np.diff(trips.y))[same]
    assert took.min() >= 25.0 - 1e-6
    walking = took < 25.0 + 1e-6
    assert moved[walking].max() <= TOP_SPEED * 25 + 2 * 4 * NOISE * np.sqrt(2)
    assert 20 < np.median(moved[walking]) < 40
    # Indoors nothing is recorded, and a walker comes out where he went in.
    assert moved[~walking].max() <= 2 * 4 * NOISE * np.sqrt(2) + 1e-6


def test_walks_begin_and_end_at_their_buildings(walks: Walks, trips: Trajectories) -> None:
    visits, pois = Visits.of(trips), walks.pois
    for points, stops in (
        (trips.offsets[:-1], visits.offsets[:-1]),
        (trips.offsets[1:] - 1, visits.offsets[1:] - 1),
    ):
        poi = visits.poi[stops]
        away = np.hypot(trips.x[points] - pois.x[poi], trips.y[points] - pois.y[poi])
        assert away.max() <= 4 * NOISE * np.sqrt(2) + 1e-6


def test_points_stay_in_the_public_bounds(walks: Walks, trips: Trajectories) -> None:
    x0, y0, x1, y1 = trips.bounds()
    assert walks.bounds[0] <= x0 < x1 <= walks.bounds[2]
    assert walks.bounds[1] <= y0 < y1 <= walks.bounds[3]


def test_events_draw_a_crowd(walks: Walks) -> None:
    visits = Visits.of(walks.trips(20_000, np.random.default_rng(5)))
    for poi, t in zip(walks.campus.event_poi, walks.campus.event_t, strict=True):
        came = np.count_nonzero((visits.poi == poi) & (np.abs(visits.t - t) < 1200))
        # Two in a hundred go to an event, 400 of 20,000; a fifth of them may be late or find it closed.
        assert came > 250


@pytest.mark.slow
def test_the_seed_decides_everything() -> None:
    one, same, other = (campus_trips(50, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.x, same.x)
    np.testing.assert_array_equal(Visits.of(one).poi, Visits.of(same).poi)
    assert one.points != other.points or not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("count", [0, 1])
def test_few_walks(walks: Walks, count: int) -> None:
    trips = walks.trips(count, np.random.default_rng(1))
    assert len(trips) == len(Visits.of(trips)) == count


def test_batches_have_all_the_walks(walks: Walks) -> None:
    assert [len(part) for part in walks.batches(25, np.random.default_rng(1), size=10)] == [10, 10, 5]


def test_opening_hours_can_be_given(tmp_path: Path) -> None:
    file = write_geojson(tmp_path / "b.geojson", BUILDINGS)
    walks = campus_walks(1, buildings=file, hours={"Observatory": (20, 28), "study/academic": (9, 12)})
    dome, hall = 3, 0
    assert (walks.pois.opens[dome], walks.pois.closes[dome]) == (20, 28)
    assert (walks.pois.opens[hall], walks.pois.closes[hall]) == (9, 12)
    visits = Visits.of(walks.trips(500, np.random.default_rng(1)))
    assert walks.pois.is_open(visits.poi, visits.t).all()
    with pytest.raises(InputError, match=r"no building has the category 'Zoo'; there are .*study/academic"):
        campus_walks(1, buildings=file, hours={"Zoo": (9, 12)})


def test_planar_buildings_stay_planar(tmp_path: Path) -> None:
    rows = [("A", "Academic", 0.0, 0.0), ("B", "Housing", 300.0, 50.0)]
    trips = campus_trips(50, 1, buildings=write_table(tmp_path / "b.csv", rows, "name,usage,x,y"), noise=0.0)
    assert trips.crs is None
    assert np.diff(Visits.of(trips).offsets).min() >= 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"visits": (1, 3)}, "two numbers from 2 to 100"),
        ({"visits": (5, 3)}, "the smaller first"),
        ({"minutes": 0.0}, "positive number of minutes"),
        ({"interval": -5.0}, "interval must be"),
        ({"hours": {"Academic": (8, 9)}}, "buildings of a file only"),
        ({"trajectories": -1}, "whole number"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        campus_trips(**{"trajectories": 1, "seed": 1, **wrong})  # type: ignore[arg-type]


@pytest.mark.slow
def test_mean_points_are_those_of_the_paper() -> None:
    trips = campus_walks(1, **PRESETS["campus"]).trips(3000, np.random.default_rng(1))
    assert trips.sizes.mean() == pytest.approx(35.98, rel=0.06)
    assert trips.t is not None
    assert np.median(np.diff(trips.t)) == pytest.approx(PRESETS["campus"]["interval"])
