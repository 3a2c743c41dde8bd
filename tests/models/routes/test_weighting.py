"""Expected answers of weighted routes, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.models.observation import Observation
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.routes.answers import PathTables
from ldptrace.models.routes.strides import STRIDES
from ldptrace.models.routes.weighting import Weighting, route_prior
from ldptrace.protocol.grid import Grid

CAPACITIES = {
    "length": 1,
    "start": 1,
    "end": 1,
    "terminals": 2,
    "visits": 3,
    "moves": 3,
    "links": 2,
    "turns": 1,
}
LENGTHS = 6


@pytest.fixture
def drawn(rng: np.random.Generator) -> tuple[Weighting, np.ndarray, np.ndarray, object]:
    paths = random_paths(300, Grid((0, 0, 1, 1), 3), rng, longest=7)
    paths = paths.take(paths.sizes > 0)
    kinds = rng.integers(0, len(STRIDES), len(paths)).astype(np.int8)
    weights = rng.random(len(paths))
    weights /= weights.sum()
    seen = [Observation(name, most, 1, np.zeros(1), np.ones(1)) for name, most in CAPACITIES.items()]
    weighting, group = Weighting.of(paths, kinds, weights, LENGTHS, seen)
    return weighting.moved(rng.normal(0, 0.5, len(weighting.potentials))), group, weights, (paths, kinds)


def test_groups_weigh_as_their_routes_would_alone(
    drawn: tuple[Weighting, np.ndarray, np.ndarray, object],
) -> None:
    weighting, group, weights, (paths, kinds) = drawn  # type: ignore[misc]
    built = PathTables(paths, LENGTHS)
    stride = np.eye(len(STRIDES))[kinds]
    exponents = np.hstack([built.features.toarray(), stride]) @ weighting.potentials
    alone = weights * np.exp(exponents)
    alone /= alone.sum()
    np.testing.assert_allclose(
        weights * weighting.tilt[group] / (weights * weighting.tilt[group]).sum(), alone
    )
    for name, answer in weighting.answers(CAPACITIES).items():
        np.testing.assert_allclose(answer, built.answers(name, CAPACITIES[name]).T @ alone, atol=1e-12)


def test_derivatives_agree_with_finite_differences(
    drawn: tuple[Weighting, np.ndarray, np.ndarray, object], rng: np.random.Generator
) -> None:
    weighting = drawn[0]
    rows, left = weighting.jacobian(CAPACITIES)
    for _ in range(5):
        step = rng.normal(0, 1e-5, len(weighting.potentials))
        up, down = weighting.moved(step).answers(CAPACITIES), weighting.moved(-step).answers(CAPACITIES)
        for name in CAPACITIES:
            np.testing.assert_allclose(rows[name] @ step, (up[name] - down[name]) / 2, atol=1e-12, rtol=1e-5)
            assert np.all(left[name] == 1)


def test_the_prior_covers_every_potential(drawn: tuple[Weighting, np.ndarray, np.ndarray, object]) -> None:
    prior = route_prior(MoveGraph(Grid((0, 0, 1, 1), 3)), LENGTHS)
    precision = prior.precision(np.array([part.variance for part in prior.components]))
    assert precision.shape == (len(drawn[0].potentials),) * 2
    assert prior.components[-1].name == "stride"
