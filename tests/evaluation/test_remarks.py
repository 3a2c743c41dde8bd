"""What a scorecard says about its sets."""

from __future__ import annotations

import numpy as np

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import Measured, evaluate
from ldptrace.evaluation.remarks import sampled
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)


def test_fewer_than_a_hundred_patterns_are_divided_by_a_hundred_and_it_is_said() -> None:
    real = Trajectories.from_lists([[(1, 1), (9, 1)], [(1, 1), (1, 9)]])
    card = evaluate(real, real, bounds=SQUARE, seed=1, repeat=1)
    assert 0 < card["pattern_f1"] < 1
    assert card["pattern_f1_available"] == 1.0
    assert "divided by 100" in " ".join(card.remarks())


def test_sets_of_different_sizes() -> None:
    card = evaluate(drifting_walks(200, 1), drifting_walks(60, 2), bounds=SQUARE, seed=1)
    assert "200 trajectories, this one 60" in " ".join(card.remarks())
    # The floor is what a perfect set of sixty would score.
    floor = card.sets[0].values["pattern_error"].floor
    assert floor is not None
    assert floor > 0.5
    assert card["pattern_error_scaled"] < card["pattern_error"]


def test_a_sample_that_stands_for_all_is_named() -> None:
    trips = drifting_walks(30, 1)
    whole = Measured.of(trips, Grid(SQUARE, 6))
    assert sampled("the real set", whole, attacks=True, streets=True) == []
    few = Measured(trips.take(np.arange(10)), whole.summary, whole.traces)
    (said,) = sampled("the set", few, attacks=True, streets=False)
    assert said.startswith(
        "the set: 10 of its 30 trajectories, drawn at random, stand for all in the attacks"
    )
