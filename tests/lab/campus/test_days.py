from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildings_kit import campus_trips, write_table
from ldptrace.core import parallel
from ldptrace.errors import InputError
from ldptrace_lab.campus.pois import HOUR, Pois, Visits
from ldptrace_lab.campus.walks import (
    MOST_HASTE,
    MOST_LEISURE,
    Campus,
    Habits,
    campus_knowledge,
    campus_walks,
    schedules,
)


def test_one_waits_for_the_only_other_building_to_open(tmp_path: Path) -> None:
    rows = [("A", "Housing", 0.0, 0.0), ("B", "Shop", 300.0, 50.0)]
    file = write_table(tmp_path / "b.csv", rows, "name,usage,x,y")
    walks = campus_walks(1, buildings=file, hours={"Shop": (23, 23.5)})
    visits = Visits.of(walks.trips(100, np.random.default_rng(1)))
    assert walks.pois.is_open(visits.poi, visits.t).all()
    assert np.all(visits.poi[visits.offsets[:-1]] == 0)


def test_walks_that_cannot_be_are_told(tmp_path: Path) -> None:
    rows = [("A", "One", 0.0, 0.0), ("B", "Two", 30_000.0, 0.0)]
    file = write_table(tmp_path / "b.csv", rows, "name,usage,x,y")
    with pytest.raises(InputError, match="no two buildings that are open one after the other"):
        campus_trips(10, 1, buildings=file, hours={"One": (20, 20.5), "Two": (21, 21.5)})


def campus(events: int = 0) -> Campus:
    """Four places in a row, ten minutes apart; the last one opens in the evening only."""
    pois = Pois.build(
        np.arange(4) * 800.0,
        np.zeros(4),
        ["study/academic", "living/housing", "service/services", "leisure/athletics"],
        {"study/academic": (7.0, 22.0), "service/services": (8.0, 20.0), "leisure/athletics": (18.0, 23.0)},
        ["Hall", "Home", "Shop", "Pool"],
    )
    walk = 600.0 * np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    return campus_knowledge(pois, walk, np.exp(-walk / 600), events, np.random.default_rng(1))


def test_a_day_is_possible() -> None:
    known, habits = campus(), Habits(2, 5, 300.0, 0.0)
    day = schedules(known, habits, 500, np.random.default_rng(2))
    sizes = np.diff(day.offsets)
    assert sizes.min() >= 2
    assert sizes.max() <= 5
    assert np.all((day.pace >= MOST_HASTE) & (day.pace <= MOST_LEISURE))
    hour = day.arrive / HOUR
    assert np.all((known.opens[day.poi] <= hour) & (hour < known.closes[day.poi]))
    inner = np.ones(len(day.poi) - 1, dtype=bool)
    inner[day.offsets[1:-1] - 1] = False
    way = known.walk[day.poi[:-1], day.poi[1:]] * np.repeat(day.pace, sizes)[:-1]
    np.testing.assert_allclose((day.arrive[1:] - day.leave[:-1])[inner], way[inner])
    assert np.all((day.leave - day.arrive)[:-1][inner] >= 300.0 - 1e-6)
    assert np.all(np.diff(day.poi)[inner] != 0)


def test_nobody_wants_what_is_closed() -> None:
    known = campus()
    pool = 0  # categories are sorted by name, and leisure comes first
    assert known.demand[12, pool] == 0
    assert known.demand[19, pool] > 0


def test_events_lie_within_opening_hours() -> None:
    known = campus(events=50)
    hour = known.event_t / HOUR
    assert np.all((known.opens[known.event_poi] < hour) & (hour < known.closes[known.event_poi]))
    # Events are where people study and play.
    assert set(known.event_poi.tolist()) == {0, 3}


@pytest.mark.slow
def test_threads_do_not_change_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    days = []
    for cores in (1, 4):
        monkeypatch.setattr(parallel.os, "cpu_count", lambda cores=cores: cores)
        days.append(schedules(campus(), Habits(2, 5, 300.0, 0.0), 70_000, np.random.default_rng(2)))
    for one, other in zip(*days, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_walkers_no_visits() -> None:
    assert schedules(campus(), Habits(2, 5, 300.0, 0.0), 0, np.random.default_rng(2)).offsets.tolist() == [0]
