from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.measured import Measured
from ldptrace.evaluation.metrics import Value
from ldptrace.evaluation.values import SET_METRICS, References, over_seeds
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 10.0, 10.0), 6)


def timed(trips: Trajectories, leave: float = 30_000.0) -> Trajectories:
    """A minute from point to point, from the same hour on."""
    step = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    return replace(trips, t=leave + 60.0 * step + np.repeat(np.arange(len(trips)), trips.sizes))


def test_references_measure_a_set_against_itself_as_perfect() -> None:
    real = timed(drifting_walks(80, 1))
    references = References.of(real, GRID, [80], np.random.default_rng(1))
    found = references.once(references.real)
    assert set(found) == set(SET_METRICS)
    for name in ("density_error", "trip_error", "departure_error", "fine_density_error_96"):
        assert found[name] == pytest.approx(0.0, abs=1e-9)


def test_means_and_spreads_over_repeats() -> None:
    rng = np.random.default_rng(1)
    real, other = drifting_walks(80, 1), drifting_walks(50, 2)
    references = References.of(real, GRID, [50], rng)
    measured = Measured.of(other, GRID)
    blind = Measured.of(drifting_walks(80, 3, pull=-0.5), GRID)
    (values,) = references.values([measured], blind, [{"plain": blind}], 3, rng)
    assert values["density_error"].std == 0.0
    small = values["small_query_error_36"]
    assert small.std is not None
    assert small.std > 0
    assert small.floor_std is not None
    assert small.floor_std > 0
    query = values["query_error"]
    assert query.std is not None
    assert query.std > 0
    assert query.floor is not None
    assert query.uniform is not None
    assert max(query.floor, query.mean) < query.uniform
    assert values["density_error"].uniform == values["density_error"].controls["plain"]  # type: ignore[index]
    (once,) = references.values([measured], blind, [{}], 1, rng)
    assert once["query_error"].std is None


def test_seeds_of_one_method_have_a_mean_and_a_spread() -> None:
    one, two = (
        Value(mean, 0.5, floor, 0.1, 0.9, {"map_alone": mean}) for mean, floor in ((1.0, 0.1), (3.0, 0.3))
    )
    found = over_seeds([{"a": one}, {"a": two}])["a"]
    assert (found.mean, found.std, found.floor) == (2.0, pytest.approx(2**0.5), pytest.approx(0.2))
    assert found.seeds == (1.0, 3.0)
    assert found.controls == {"map_alone": 2.0}
    assert over_seeds([{"a": one}]) == {"a": one}
