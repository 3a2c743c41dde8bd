"""Metrics of planners: by hand, and by the formulas that scikit-mobility documents."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from evaluation_data import drifting_walks, timed, values_of
from ldptrace.core.crs import scale_of
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.distances import travel_distances
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.line_metrics import LinePair
from ldptrace.evaluation.mobility import (
    CLASS_VALUES,
    MOBILITY,
    around_the_clock,
    common_part,
    deciles,
    earth_movers,
    moved_between,
    smape,
)
from ldptrace.evaluation.sets import measured
from ldptrace.evaluation.traces import Traces, habits_of
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 12.0, 12.0)
GRID = Grid(SQUARE, 6)
Points = list[tuple[float, float]]


def of(name: str, real: list[Points], synthetic: list[Points]) -> float:
    a, b = (measured(Trajectories.from_lists(lines), GRID) for lines in (real, synthetic))
    return MOBILITY[name].of(replace(LinePair.draw(a, np.random.default_rng(1)), synthetic=b))


def test_equal_sets_are_perfect() -> None:
    walks = timed(drifting_walks(60, 1), 1)
    card = evaluate(walks, walks, bounds=SQUARE, seed=1, attacks=False)
    for name in MOBILITY.keys() & card.measured.keys():
        assert card[name] == pytest.approx(float(MOBILITY[name].goal == "max"), abs=1e-9), name
    assert card.measured.keys() >= MOBILITY.keys() - {name for name in MOBILITY if name.startswith("user_")}


def test_rounding_does_not_add_up_over_the_widest_classes() -> None:
    """The last classes are 2^43 metres wide, so shares that differ by a rounding error must not count there."""
    real = np.zeros(len(CLASS_VALUES))
    real[400:420] = np.arange(1.0, 21.0)
    moved = np.roll(real, 1)
    by_hand = float(np.sum(real / real.sum() * (np.roll(CLASS_VALUES, -1) - CLASS_VALUES)))
    assert earth_movers(CLASS_VALUES, real, moved / 3) == pytest.approx(by_hand, rel=1e-9)


def test_common_part_of_commuters_as_in_scikit_mobility() -> None:
    """2 sum(min) / (sum + sum), for flows with equal totals."""
    real, synthetic = np.array([[5.0, 3], [2, 0]]), np.array([[4.0, 4], [0, 2]])
    assert common_part(real, synthetic) == pytest.approx(2 * (4 + 3 + 0 + 0) / (10 + 10))
    # Twice as many trips with the same pattern.
    assert common_part(real, 2 * real) == pytest.approx(1)
    assert math.isnan(common_part(real, 0 * real))
    # Three of four trips lead from zone to zone as real ones.
    there, back = [(0.5, 0.5), (6.5, 6.5)], [(6.5, 6.5), (0.5, 0.5)]
    assert of("common_part_of_commuters", [there] * 2, [there, back]) == 0.5


def test_golden_numbers_of_scikit_mobility() -> None:
    """Every visit of its users is a trip with one point; jumps are trips from each visit to the next."""
    golden = json.loads(Path(__file__).with_name("scikit_mobility.json").read_text())
    for case in golden["common_part_of_commuters"]:
        assert common_part(*(np.array(flows, float) for flows in case["flows"])) == pytest.approx(
            case["value"]
        )
    grid = Grid((10.2, 43.4, 11.4, 44.0), 6)
    for user, visits in golden["visits"].items():
        places = [tuple(golden["places"][name]) for name in visits]
        stays = Trajectories.from_lists([[place] for place in places], crs="EPSG:4326")
        habits = habits_of(stays, np.zeros(len(places), dtype=np.int64), grid)
        assert habits["places"].tolist() == [golden["number_of_locations"][user]]
        assert habits["radii"][0] / 1000 == pytest.approx(golden["radius_of_gyration"][user], rel=0.002)
        jumps = Trajectories.from_lists(list(pairwise(places)), crs="EPSG:4326")
        lengths = travel_distances(jumps, scale_of(grid.bounds, "EPSG:4326")) / 1000
        assert lengths.sum() == pytest.approx(golden["distance_straight_line"][user], rel=0.002)
        assert lengths.max() == pytest.approx(golden["maximum_distance"][user], rel=0.002)
        counted = Traces.of(jumps, grid).jumps
        assert CLASS_VALUES[np.flatnonzero(counted)[-1]] / 1000 == pytest.approx(lengths.max(), rel=0.025)


def haversine(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The distance on a sphere in metres, of longitudes and latitudes."""
    (lon, lat), (lon2, lat2) = (tuple(map(math.radians, place)) for place in (a, b))
    half = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return 2 * 6_371_008.8 * math.asin(math.sqrt(half))


def test_jumps_and_radii_of_gyration_as_in_scikit_mobility() -> None:
    """Distances on the sphere from visit to visit, and from the mean point; a line is its points, evenly dense."""
    line = [(11.10, 46.02), (11.18, 46.02), (11.18, 46.10)]
    dense = [
        (a[0] + (b[0] - a[0]) * k / 2000, a[1] + (b[1] - a[1]) * k / 2000)
        # The way east is shorter in metres than the way north.
        for a, b, many in ((line[0], line[1], 1389), (line[1], line[2], 2000))
        for k in np.linspace(0, 2000, many)
    ]
    middle = (float(np.mean([x for x, _ in dense])), float(np.mean([y for _, y in dense])))
    radius = math.sqrt(np.mean([haversine(place, middle) ** 2 for place in dense]))
    grid = Grid((11.0, 45.95, 11.3, 46.2), 6)
    found = Traces.of(Trajectories.from_lists([line], crs="EPSG:4326"), grid)
    # The middle of a class of 4.4 %.
    for table, expected in ((found.jumps, haversine(line[0], line[2])), (found.radii, radius)):
        assert CLASS_VALUES[table.argmax()] == pytest.approx(expected, rel=0.025)
        assert table.sum() == 1


def test_a_trip_that_stays_has_no_jump_and_no_radius() -> None:
    found = Traces.of(Trajectories.from_lists([[(1.0, 1.0)], [(2.0, 2.0), (2.0, 2.0)]]), GRID)
    assert found.jumps[0] == found.radii[0] == found.lengths[0] == 2


def test_the_radius_of_a_straight_line() -> None:
    found = Traces.of(Trajectories.from_lists([[(1.0, 2.0), (4.0, 6.0)]]), GRID)
    assert CLASS_VALUES[found.radii.argmax()] == pytest.approx(5 / math.sqrt(12), rel=0.025)


def test_a_radius_counts_the_whole_way_and_not_only_the_ends() -> None:
    around = [(1.0, 1.0), (11.0, 1.0), (11.0, 11.0), (1.0, 11.0), (1.0, 1.0)]
    found = Traces.of(Trajectories.from_lists([around]), GRID)
    assert found.jumps[0] == 1
    # Of a square line with sides 10: a twelfth and a fourth of the squared side, in the mean of both axes.
    assert CLASS_VALUES[found.radii.argmax()] == pytest.approx(math.sqrt(100 / 12 + 100 / 4), rel=0.025)


def test_earth_movers_by_hand() -> None:
    values = np.array([0.0, 2.0, 10.0])
    assert earth_movers(values, np.array([1.0, 0, 0]), np.array([0.0, 0, 5])) == 10
    assert earth_movers(values, np.array([2.0, 2, 0]), np.array([1.0, 2, 1])) == pytest.approx(2.5)
    assert math.isnan(earth_movers(values, np.zeros(3), np.ones(3)))
    # From 23 to 1 o'clock it is two hours, not 22.
    assert around_the_clock(np.eye(24)[23] + 0, np.eye(24)[1]) == 2
    assert around_the_clock(np.eye(1440)[0], np.eye(1440)[90]) == 1.5


def test_visits_are_moved_the_shortest_way() -> None:
    real, synthetic = np.zeros((4, 4)), np.zeros((4, 4))
    real[0, 0], real[3, 3] = 1, 1
    synthetic[0, 1], synthetic[3, 0] = 1, 1
    # One half moves by 2 to the north, the other by 6 to the south; crossing over would be farther.
    assert moved_between(real, synthetic, (5.0, 2.0)) == pytest.approx((2 + 6) / 2)
    assert moved_between(real, 7 * real, (5.0, 2.0)) == 0
    table = np.random.default_rng(1).random((12, 12))
    assert moved_between(table, table[::-1], (1.0, 1.0)) > 0


def test_smape_and_deciles_by_hand() -> None:
    assert smape(np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])) == 1
    assert deciles(np.arange(10.0), np.ones(10)).tolist() == list(range(9))
    assert math.isnan(smape(np.zeros(2), np.zeros(2)))


def test_visit_ranks_forget_which_place_it_is() -> None:
    often, seldom = [(0.5, 0.5), (0.6, 0.6)], [(9.5, 9.5), (9.6, 9.6)]
    assert of("visit_rank_error", [often, often, seldom], [seldom, seldom, often]) == 0
    assert of("visits_smape", [often, often, seldom], [seldom, seldom, often]) == pytest.approx(2 / 3)
    assert of("visit_rank_smape", [often] * 3 + [seldom], [often, seldom]) == pytest.approx(
        (0.25 / 0.625 + 0.25 / 0.375) / 2
    )


def test_the_four_metrics_of_difftraj_by_hand() -> None:
    east, north = [(0.1, 0.1), (11.9, 0.1)], [(0.1, 0.1), (0.1, 11.9)]
    assert of("difftraj_trip_error", [east, north], [east]) == pytest.approx(
        0.5 * (0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(2) + math.log(1 / 0.75)), abs=1e-6
    )
    # Both pass the corner cell, for 0.65 of 11.8.
    assert of("difftraj_density_error", [east], [north]) == pytest.approx(
        (1 - 0.65 / 11.8) * math.log(2), abs=1e-4
    )
    assert of("difftraj_length_error", [east], [north]) == 0
    # Each has line in 16 of 256 cells, one of them the same; the rest of the fifty are the first empty ones.
    rows = [[(0.1, 0.75 * k + 0.1), (11.9, 0.75 * k + 0.1)] for k in range(16)]
    assert of("difftraj_pattern_score", rows[:4], rows[:4]) == 1
    assert of("difftraj_pattern_score", rows[:4], rows[12:]) <= 0.3


def test_users_are_compared_where_both_sets_name_them() -> None:
    def with_users(walks: Trajectories, each: int) -> Trajectories:
        names = pa.table({"user": pa.array((np.arange(len(walks)) // each).astype(str))})
        return replace(walks, extra=names, user="user")

    one, two = drifting_walks(120, 1), drifting_walks(120, 2)
    card = evaluate(with_users(one, 3), with_users(two, 4), bounds=SQUARE, seed=1, attacks=False)
    assert card["user_trips_emd"] == pytest.approx(1)
    assert card["user_trips_error"] == pytest.approx(math.log(2), abs=1e-6)
    assert card["user_trips_smape"] == pytest.approx(2 / 7)
    assert card["user_places_emd"] > 0
    assert card["user_gyration_emd"] > 0
    assert values_of(card)["user_trips_emd"]["floor"] == 0
    alone = evaluate(with_users(one, 3), two, bounds=SQUARE, seed=1, attacks=False)
    assert not any(name.startswith("user_") for name in alone.measured)


def test_every_property_has_words_and_every_metric_a_page() -> None:
    assert len(MOBILITY) == 28
    for metric in MOBILITY.values():
        assert metric.level in ("mobility", "difftraj")
        assert metric.meaning
        assert "{" not in metric.meaning
