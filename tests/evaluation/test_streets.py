"""Matching to streets, on a chessboard of streets where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation_data import CITY, SIDE, chessboard, legs
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.line_metrics import turn_divergence
from ldptrace.evaluation.measured import StreetUse, affordable
from ldptrace.evaluation.traces import LOWEST, PER_DOUBLING
from ldptrace.roads.matching import StreetIndex


@pytest.fixture(scope="module")
def streets() -> StreetIndex:
    return StreetIndex.of(chessboard())


def test_on_streets_and_beside_them(streets: StreetIndex) -> None:
    assert len(streets.length) == 2 * SIDE * (SIDE - 1)
    assert streets.tolerance == 25.0
    assert affordable(streets, 1000.0, 9000) == 5000
    assert affordable(streets, 1e6, 9000) == 100
    on, near, off = (StreetUse.of(streets, legs(100, 1, off=away)) for away in (0.0, 15.0, 90.0))
    assert on.on_streets == pytest.approx(1.0)
    assert near.on_streets > 0.95
    # Half a block away only the crossings are near.
    assert off.on_streets < 0.35
    assert on.fixes_on_streets == 1.0


def test_a_turn_and_a_length_by_hand(streets: StreetIndex) -> None:
    one = StreetUse.of(streets, Trajectories.from_lists([[(0.0, 400.0), (600.0, 400.0), (600.0, 1000.0)]]))
    # Two crossings on the way east, the corner, two on the way north.
    assert len(one.turns) == 5
    assert one.passed.tolist() == [1.0] * 5
    size = 2 ** (np.flatnonzero(one.lengths)[0] / PER_DOUBLING + LOWEST)
    assert size == pytest.approx(1200, rel=0.06)


@pytest.mark.parametrize("more", [2, 7])
def test_matching_does_not_depend_on_how_densely_a_trip_is_sampled(streets: StreetIndex, more: int) -> None:
    sparse = legs(100, 3, off=4.0)
    at = np.concatenate([np.arange(2 * more + 1) / more + 3 * k for k in range(100)])
    dense = Trajectories(
        np.interp(at, np.arange(300), sparse.x),
        np.interp(at, np.arange(300), sparse.y),
        np.arange(0, 100 * (2 * more + 1) + 1, 2 * more + 1),
    )
    a, b = StreetUse.of(streets, sparse), StreetUse.of(streets, dense)
    assert streets.follow(dense).way == pytest.approx(streets.follow(sparse).way)
    assert b.on_streets == pytest.approx(a.on_streets, abs=0.01)
    assert turn_divergence(a, b) < 0.01


def test_turns_tell_who_turns_where(streets: StreetIndex) -> None:
    real, same, other = (
        StreetUse.of(streets, legs(2000, seed, east_first=share))
        for seed, share in ((1, 0.9), (2, 0.9), (3, 0.1))
    )
    assert turn_divergence(real, real) == 0.0
    assert turn_divergence(real, same) < 0.1
    assert turn_divergence(real, other) > 2 * turn_divergence(real, same)


@pytest.mark.slow
def test_a_scorecard_with_a_road_network() -> None:
    real = legs(600, 1, east_first=0.9)
    strokes = Trajectories(real.x, real.y, real.offsets).take(np.arange(600))
    strokes = Trajectories.from_lists(
        [[(line.x[0], line.y[0]), (line.x[-1], line.y[-1])] for line in strokes]
    )
    card = evaluate(
        real,
        legs(600, 2, east_first=0.9),
        strokes,
        bounds=CITY,
        roads=chessboard(),
        names=["streets", "strokes"],
        seed=1,
        repeat=1,
        attacks=False,
    )
    good, bad = (item["metrics"] for item in card.sets)
    assert good["street_share"]["value"] > 0.99 > 0.6 > bad["street_share"]["value"]
    assert good["street_share"]["floor"] == pytest.approx(1.0)
    for name in ("turn_error", "junction_flow_error", "fine_density_error_96"):
        assert good[name]["value"] < bad[name]["value"]
    document = card.document()
    entry = document["metrics"]["turn_error"]
    assert set(entry["controls"]) == {"map_alone", "plain_routing"}
    assert entry["controls"]["plain_routing"] > 0
    assert [item["name"] for item in document["controls"]] == [
        "the map alone",
        "plain routing, streets",
        "plain routing, strokes",
    ]
    assert len(document["streets"]) > 100
    assert document["evaluation"]["street_tolerance"] == 25.0
    assert "Control: the map alone" in card.to_html()


@pytest.mark.slow
def test_fixes_that_are_far_apart_do_not_tell_turns() -> None:
    roads = chessboard()
    # Fixes 1 km apart: lines between them cut through blocks.
    real = legs(200, 1)
    ends = Trajectories.from_lists([[(t.x[0], t.y[0]), (t.x[-1], t.y[-1])] for t in real])
    card = evaluate(ends, real, bounds=CITY, roads=roads, seed=1, repeat=1, attacks=False)
    assert "turn_error" not in card.measured
    assert "turns and lengths on streets are not compared" in " ".join(card.remarks())
    assert card["street_share"] == pytest.approx(1.0)
