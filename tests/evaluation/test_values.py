from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.line_metrics import LinePair
from ldptrace.evaluation.metrics import Reference
from ldptrace.evaluation.sets import Side, measured
from ldptrace.evaluation.values import SET_METRICS, entries, once, over_seeds
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 10.0, 10.0), 6)


def timed(trips: Trajectories, leave: float = 30_000.0) -> Trajectories:
    """A minute from point to point, from the same hour on."""
    step = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    return replace(trips, t=leave + 60.0 * step + np.repeat(np.arange(len(trips)), trips.sizes))


def test_a_set_against_itself_is_perfect() -> None:
    real, rng = measured(timed(drifting_walks(80, 1)), GRID), np.random.default_rng(1)
    found = once(Reference.of(real.summary, GRID, rng), LinePair.draw(real, rng), real)
    assert set(found) == set(SET_METRICS)
    for name in ("density_error", "trip_error", "departure_error", "fine_density_error_96"):
        assert found[name] == pytest.approx(0.0, abs=1e-9)


def test_means_and_spreads_over_repeats() -> None:
    rng = np.random.default_rng(1)
    real, again = Side.of(drifting_walks(80, 1), GRID).measured(rng, sizes=[50])
    cells, perfect = Reference.of(real.summary, GRID, rng), LinePair.draw(real, rng)
    other, blind = (
        measured(walks, GRID) for walks in (drifting_walks(50, 2), drifting_walks(80, 3, pull=-0.5))
    )
    (values,) = entries(cells, perfect, again, [other], blind, [{"plain": blind}], 3, rng)
    assert values["density_error"]["std"] == 0.0
    assert values["small_query_error_36"]["std"] > 0
    assert values["small_query_error_36"]["floor_std"] > 0
    query = values["query_error"]
    assert query["std"] > 0
    assert max(query["floor"], query["value"]) < query["uniform"]
    assert values["density_error"]["uniform"] == values["density_error"]["controls"]["plain"]
    (single,) = entries(cells, perfect, again, [other], blind, [{}], 1, rng)
    assert single["query_error"]["std"] is None


def test_seeds_of_one_method_have_a_mean_and_a_spread() -> None:
    metric = SET_METRICS["trip_error"]
    one, two = (
        metric.entry(mean, 0.5, floor, 0.1, 0.9, {"map_alone": mean, "plain_routing": routed})
        for mean, floor, routed in ((1.0, 0.1, 1.0), (3.0, 0.3, np.nan))
    )
    found = over_seeds([one, two])
    assert (found["value"], found["std"], found["floor"]) == (2.0, pytest.approx(2**0.5), pytest.approx(0.2))
    assert found["seeds"] == [1.0, 3.0]
    assert found["controls"] == {"map_alone": 2.0}
    assert "controls" not in over_seeds([one, metric.entry(1.0)])
