"""Legs become points: exactly where they should be without noise, and close to it with noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import floyd_warshall

from ldptrace.core import parallel
from ldptrace.errors import InputError
from ldptrace.generators.legs import (
    GPS_LIMIT,
    Legs,
    Recorder,
    Trees,
    fastest_only,
    grow,
    record,
    travel_seconds,
)
from ldptrace.generators.streets import both_ways, one_way
from ldptrace.roads import RoadNetwork
from statistics_kit import ALPHA

# 0 --100 m-- 1 --100 m-- 2 (then north) --200 m-- 3, at 10 m/s
STREET = ("", "", "", "street")
ENDS = np.array([[0, 1], [1, 2], [2, 3]])
LINE = both_ways(one_way([0, 100, 200, 200], [0, 0, 0, 200], ENDS, [3, 3, 3], 10.0, STREET, "line"))
AHEAD = np.array([[-9999, 0, 1, 2]], dtype=np.int32)
TREES = Trees(AHEAD, AHEAD)


def legs(node: list[int], outward: bool = False, pace: float = 1.0, depart: float = 0.0) -> Legs:
    n = len(node)
    return Legs(
        np.zeros(n, dtype=np.int32),
        np.array(node, dtype=np.int32),
        np.full(n, outward),
        np.full(n, depart),
        np.full(n, pace),
    )


def test_points_without_noise_are_exact(rng: np.random.Generator) -> None:
    tracks = record(LINE, TREES, legs([3], depart=60.0), Recorder(15.0, 0.0), rng)
    np.testing.assert_allclose(tracks.t, [60, 75, 90, 105])
    np.testing.assert_allclose(tracks.x, [200, 200, 100, 0])
    np.testing.assert_allclose(tracks.y, [200, 50, 0, 0], atol=1e-9)


def test_outward_is_the_same_way_back(rng: np.random.Generator) -> None:
    there = record(LINE, TREES, legs([3]), Recorder(10.0, 0.0), rng)
    back = record(LINE, TREES, legs([3], outward=True), Recorder(10.0, 0.0), rng)
    np.testing.assert_allclose(there.x, back.x[::-1])
    np.testing.assert_allclose(there.y, back.y[::-1])


def test_pace_stretches_time(rng: np.random.Generator) -> None:
    tracks = record(LINE, TREES, legs([3], pace=2.0), Recorder(40.0, 0.0), rng)
    np.testing.assert_allclose(tracks.x, [200, 200, 0], atol=1e-9)
    np.testing.assert_allclose(tracks.y, [200, 0, 0], atol=1e-9)


def test_a_leg_to_where_one_is_has_two_points(rng: np.random.Generator) -> None:
    tracks = record(LINE, TREES, legs([0]), Recorder(15.0, 0.0), rng)
    assert tracks.offsets.tolist() == [0, 2]
    assert tracks.x.tolist() == [0, 0]


def test_stops_and_streets_keep_the_points_on_the_line(rng: np.random.Generator) -> None:
    recorder = Recorder(7.0, 0.0, stop_chance=0.5, stop_seconds=20.0, along_street=True)
    tracks = record(LINE, TREES, legs([3] * 500), recorder, rng)
    on_line = (np.abs(tracks.y) < 1e-9) | (np.abs(tracks.x - 200) < 1e-9)
    assert on_line.all()
    starts = tracks.y[tracks.offsets[:-1]]
    ends = tracks.x[tracks.offsets[1:] - 1]
    assert 100 <= starts.min() < 110
    assert 190 < starts.max() <= 200
    assert 0 <= ends.min() < 5
    assert 45 < ends.max() <= 50
    assert len(np.unique(np.diff(tracks.offsets))) > 5


def test_noise_has_the_given_size_and_a_limit(rng: np.random.Generator) -> None:
    quiet = record(LINE, TREES, legs([3] * 20_000), Recorder(10.0, 0.0), np.random.default_rng(1))
    noisy = record(LINE, TREES, legs([3] * 20_000), Recorder(10.0, 5.0), np.random.default_rng(1))
    error = noisy.x - quiet.x
    assert np.abs(error).max() <= GPS_LIMIT * 5.0 + 1e-9
    # One point of each leg: independent, normal but for the cut at four standard deviations.
    for point in (0, 3):
        spread = error[noisy.offsets[:-1] + point].std()
        low, high = 5.0 * np.sqrt(stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], 20_000) / 20_000)
        assert low * 0.995 < spread < high
    # Neighbouring errors are alike.
    first, second = error[noisy.offsets[:-1]], error[noisy.offsets[:-1] + 1]
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(np.exp(-10 / 30), abs=0.05)


def test_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    many = legs([1, 2, 3] * 30_000)
    recorder = Recorder(10.0, 5.0, 0.3, 10.0, True)
    results = []
    for cores in (1, 4):
        monkeypatch.setattr(parallel.os, "cpu_count", lambda cores=cores: cores)
        found = record(LINE, TREES, many, recorder, np.random.default_rng(3))
        results.append((found.x, found.y, found.t, found.offsets))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_travel_seconds_are_those_of_the_tree() -> None:
    seconds = travel_seconds(LINE, TREES, np.arange(4, dtype=np.int32))
    np.testing.assert_allclose(seconds[:, 0], [0, 10, 20, 40])


@pytest.mark.parametrize(("interval", "noise"), [(0, 1), (-1, 1), (np.nan, 1), (1, -1), (1, np.inf)])
def test_a_recorder_must_make_sense(interval: float, noise: float) -> None:
    with pytest.raises(InputError, match=r"interval|noise"):
        Recorder(interval, noise).checked()


def some_network(rng: np.random.Generator, one_way: float) -> RoadNetwork:
    """Forty nodes in a line with sixty shortcuts; a share of the shortcuts leads one way only."""
    line = [(a, a + 1) for a in range(39)]
    far = [tuple(rng.choice(40, 2, replace=False)) for _ in range(60)]
    back = [(b, a) for a, b in line] + [(b, a) for a, b in far if rng.random() >= one_way]
    source, target = np.array([*line, *far, *back]).T
    x, y = rng.uniform(0, 1000, (2, 40))
    roads = RoadNetwork.of(x, y, source, target)
    seconds = roads.length / rng.uniform(5, 20, roads.edges) if one_way else roads.length / 10
    roads = RoadNetwork.of(x, y, source, target, seconds=seconds)
    return roads.take_edges(fastest_only(roads, seconds))


@pytest.mark.parametrize("one_way", [0.0, 0.5])
def test_trees_are_the_shortest_ways_there_and_back(rng: np.random.Generator, one_way: float) -> None:
    roads = some_network(rng, one_way)
    assert roads.seconds is not None
    roots = np.array([0, 7, 31], dtype=np.int32)
    trees, cost = grow(roads, roots, roads.seconds, spread=0.0, rng=rng)
    assert (trees.ahead is trees.behind) == (one_way == 0)
    matrix = csr_array((roads.seconds, (roads.source, roads.target)), shape=(40, 40))
    exact = floyd_warshall(matrix)
    edge = {(int(a), int(b)): s for a, b, s in zip(roads.source, roads.target, roads.seconds, strict=True)}
    np.testing.assert_allclose(cost, exact[:, roots].T, rtol=1e-5)
    for row, root in enumerate(roots.tolist()):
        assert trees.ahead[row, root] < 0
        assert trees.behind[row, root] < 0
        for node in range(roads.nodes):
            for tree, forward in ((trees.ahead, True), (trees.behind, False)):
                here, spent = node, 0.0
                while here != root:
                    there = int(tree[row, here])
                    spent += edge[(here, there) if forward else (there, here)]
                    here = there
                assert spent == pytest.approx(exact[node, root] if forward else exact[root, node])


def test_legs_never_go_against_a_one_way_street(rng: np.random.Generator) -> None:
    # A ring of six nodes, clockwise only.
    angle = np.arange(6) * np.pi / 3
    ring = np.arange(6)
    x, y = 100 * np.cos(angle), 100 * np.sin(angle)
    roads = RoadNetwork.of(x, y, ring, np.roll(ring, -1), seconds=np.full(6, 10.0))
    trees, _ = grow(roads, np.zeros(1, dtype=np.int32), np.full(6, 10.0), spread=0.0, rng=rng)
    for outward, hops in ((True, 2), (False, 4)):
        tracks = record(roads, trees, legs([2], outward=outward), Recorder(10.0, 0.0), rng)
        assert len(tracks.x) == hops + 1
        turned = np.diff(np.unwrap(np.arctan2(tracks.y, tracks.x)))
        np.testing.assert_allclose(turned, np.pi / 3)


def test_ways_differ_when_people_feel_differently(rng: np.random.Generator) -> None:
    roads = some_network(rng, 0.0)
    assert roads.seconds is not None
    trees, _ = grow(roads, np.zeros(200, dtype=np.int32), roads.seconds, spread=0.5, rng=rng)
    assert len(np.unique(trees.ahead, axis=0)) > 3
