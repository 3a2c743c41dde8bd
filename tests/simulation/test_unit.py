from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import ldptrace as lt
from evaluation_data import drifting_walks
from ldptrace.core.outside import within
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.device import trip_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.questions import Pace
from ldptrace.simulation.unit import TRIPS as COLUMN
from ldptrace.simulation.unit import Trips, one_each, play_devices, trip_counts, with_counts
from statistics_kit import ALPHA
from synthesis_kit import run_method

TRIPS = Trajectories.from_lists([[(k / 10, 0.5), (0.5, k / 10)] for k in range(10)])
OWNED = replace(TRIPS, extra=pa.table({"who": list("aaaaabbbcc")}), user="who")


def test_every_trip_of_a_user_is_equally_likely(rng: np.random.Generator) -> None:
    users = np.array([7, 7, 7, 7, 3])
    drawn = np.array([one_each(users, None, rng) for _ in range(4000)])
    assert set(drawn[:, 1]) == {4}
    counts = np.bincount(drawn[:, 0], minlength=4)
    assert chisquare(counts).pvalue > ALPHA


def test_a_user_with_several_trips_answers_about_one(rng: np.random.Generator) -> None:
    drawn, unit = play_devices(OWNED, "user", rng)
    assert len(drawn) == 3
    assert drawn.users.tolist() == [0, 1, 2]
    assert (unit.name, "column who" in unit.sentence) == ("user", True)


def test_every_trip_counts_when_asked_and_the_weaker_promise_is_stated(rng: np.random.Generator) -> None:
    drawn, unit = play_devices(OWNED, "trip", rng)
    assert drawn is OWNED
    assert "k epsilon only" in unit.sentence
    assert play_devices(TRIPS, "user", rng)[1].name == "trajectory"


@pytest.mark.slow
def test_the_unit_is_part_of_the_promise() -> None:
    run = run_method(OWNED, 1.0, bounds=(0, 0, 1, 1), grid=4, seed=1)
    assert (run.users, run.privacy()["unit"]) == (3, "user")
    assert any("one trajectory of each" in said for said in run.privacy()["notes"])
    synthetic = lt.synthesize(OWNED, 1.0, bounds=(0, 0, 1, 1), grid=4, seed=1, unit="trip")
    assert synthetic.provenance is not None
    assert synthetic.provenance["unit"] == "trip"
    assert len(synthetic) == 10


def test_of_a_trip_that_was_cut_one_piece_answers_each_equally_likely(rng: np.random.Generator) -> None:
    trips = np.array([4, 4, 4, 7, 9, 9])
    drawn = np.array([one_each(None, trips, rng) for _ in range(4000)])
    assert drawn.shape == (4000, 3)
    assert set(drawn[:, 1]) == {3}
    assert chisquare(np.bincount(drawn[:, 0])).pvalue > ALPHA
    assert chisquare(np.bincount(drawn[:, 2])[4:]).pvalue > ALPHA


def test_a_user_draws_the_trip_first_and_then_the_piece(rng: np.random.Generator) -> None:
    # Three pieces of one trip and one whole trip of the same user: a half for the whole one, a sixth for each piece.
    users, trips = np.array([5, 5, 5, 5]), np.array([0, 0, 0, 1])
    drawn = np.array([one_each(users, trips, rng) for _ in range(6000)])
    assert drawn.shape == (6000, 1)
    assert chisquare(np.bincount(drawn[:, 0]), [1000, 1000, 1000, 3000]).pvalue > ALPHA


def test_cutting_changes_nobody_elses_draw() -> None:
    users = np.array([1, 1, 2, 2, 2])
    whole = one_each(users, None, np.random.default_rng(3))
    pieces = one_each(np.repeat(users, 2), np.repeat(np.arange(5), 2), np.random.default_rng(3))
    assert whole is not None
    assert pieces is not None
    np.testing.assert_array_equal(pieces // 2, whole)


def test_one_device_for_the_pieces_of_a_trip(rng: np.random.Generator) -> None:
    trips = Trajectories.from_lists([[(1, 1), (20, 1), (21, 1), (2, 1)], [(3, 3)], [(30, 30)]])
    pieces, _ = within(trips, (0, 0, 10, 10))
    assert (len(pieces), pieces.trip_count) == (4, 3)
    for unit in ("user", "trip"):
        devices, whose = play_devices(pieces, unit, rng)
        assert (len(devices), devices.trips, whose.name) == (3, None, "trajectory")
        assert devices.sizes.tolist() == [1, 1, 0]
    # A trip of nobody in particular is one user's, however many pieces it has.
    unnamed = replace(pieces, extra=pa.table({"who": [None, None, "a", "a"]}), user="who")
    assert len(play_devices(unnamed, "user", rng)[0]) == 2


def test_a_trajectory_without_points_is_no_trip(rng: np.random.Generator) -> None:
    """It is drawn only where a user has nothing else, and it does not count."""
    users, filled = np.array([1, 1, 1, 2, 3]), np.array([True, False, True, False, True])
    drawn = np.array([one_each(users, None, rng, filled) for _ in range(400)])
    assert set(drawn[:, 0]) == {0, 2}
    assert set(drawn[:, 1]) == {3}
    assert trip_counts(users, None, filled).tolist() == [2, 2, 2, 0, 1]
    pieces = np.array([0, 0, 1, 2, 3])
    assert trip_counts(users, pieces, np.ones(5, dtype=bool)).tolist() == [2, 2, 2, 1, 1]


def test_devices_know_how_many_trips_there_were(rng: np.random.Generator) -> None:
    trips = Trajectories.from_lists([[(0, 0)], [], [(1, 1)], [], [(2, 2)]])
    trips = replace(trips, extra=pa.table({"who": ["a", "a", "a", "b", "c"]}), user="who")
    devices, _ = play_devices(trips, "user", rng)
    assert devices.extra is not None
    assert dict(zip(devices.extra["who"].to_pylist(), devices.extra[COLUMN].to_pylist(), strict=True)) == {
        "a": 2,
        "b": 0,
        "c": 1,
    }


GRID = Grid((0, 0, 10, 10), 4)
WALKS = drifting_walks(30, 1)
TIMED = replace(WALKS, t=np.arange(WALKS.points) * 60.0)


def assert_same(found: Trips, expected: Trajectories) -> None:
    paths = CellPaths.from_trajectories(expected, GRID)
    np.testing.assert_array_equal(found.paths.cells, paths.cells)
    np.testing.assert_array_equal(found.paths.offsets, paths.offsets)
    np.testing.assert_array_equal(np.diff(found.offsets), expected.sizes)
    assert (len(found), found.points) == (len(expected), expected.points)
    assert (found.timing is None) == (expected.t is None)
    if found.timing is not None:
        timing = Timing.of(expected)
        np.testing.assert_array_equal(found.timing.departure, timing.departure)
        np.testing.assert_array_equal(found.timing.arrival, timing.arrival)
        np.testing.assert_array_equal(found.timing.ways(1, 2), timing.ways(1, 2))


@pytest.mark.parametrize("trips", [WALKS, TIMED], ids=["no times", "times"])
def test_parts_of_trips_are_walks_of_parts(trips: Trajectories) -> None:
    walks = Trips.of(trips, GRID)
    assert_same(walks, trips)
    assert_same(walks.part(3, 17), trips.part(3, 17))
    assert_same(walks.part(3, 17).part(2, 5), trips.part(5, 8))
    assert_same(walks.take([4, 2, 9]), trips.take([4, 2, 9]))
    assert_same(walks.take(trips.sizes > 4), trips.take(trips.sizes > 4))
    cuts = [walks.part(0, 7), walks.part(7, 7), walks.part(7, 30)]
    assert_same(Trips.concat(cuts), trips)


def test_some_without_times_make_all_without() -> None:
    mixed = Trips.concat([Trips.of(WALKS, GRID), Trips.of(TIMED, GRID)])
    assert mixed.timing is None
    assert len(mixed) == 60


def test_devices_keep_4096_points() -> None:
    """The same points as the device keeps, of long trajectories only; blocks are cut by what was there."""
    rng = np.random.default_rng(4)
    sizes = np.array([5, 4096, 4097, 0, 9001])
    x, y, t = (rng.random(sizes.sum()) * 10 for _ in range(3))
    trips = Trajectories(x, y, np.concatenate(([0], np.cumsum(sizes))), t=t)
    found = Trips.of(trips, GRID)
    np.testing.assert_array_equal(np.diff(found.offsets), sizes)
    assert found.timing is not None
    for number, (start, stop) in enumerate(zip(trips.offsets[:-1], trips.offsets[1:], strict=True)):
        points = list(zip(x[start:stop], y[start:stop], t[start:stop], strict=True))
        device = trip_of(points, GRID)
        path = found.paths.cells[found.paths.offsets[number] : found.paths.offsets[number + 1]]
        assert path.tolist() == device.path
        assert len(device.points) == min(stop - start, 4096)
        if points:
            assert (found.timing.departure[number], found.timing.arrival[number]) == (t[start], t[stop - 1])
            assert found.timing.ways(1, 2)[number] == pytest.approx(Pace(4, 1, 2, 1, 2, 0).way(device))


def test_counts_go_with_their_trips() -> None:
    trips = with_counts(WALKS, np.arange(30))
    whole = Trips.of(trips, GRID)
    assert whole.counts is not None
    assert whole.part(3, 9).counts.tolist() == list(range(3, 9))  # type: ignore[union-attr]
    assert whole.take([7, 2]).counts.tolist() == [7, 2]  # type: ignore[union-attr]
    assert Trips.concat([whole.part(0, 4), whole.part(4, 30)]).counts.tolist() == list(range(30))  # type: ignore[union-attr]
    assert Trips.concat([whole, Trips.of(WALKS, GRID)]).counts is None
