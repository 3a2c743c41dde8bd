"""Potentials of pairs of districts, and what is alike among them."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.observation import Observation
from ldptrace.models.pairs import MOST, districts_in, pair_components


@pytest.mark.parametrize("districts", [2, 3, 6])
def test_every_component_is_about_every_pair(districts: int) -> None:
    for part in pair_components(districts):
        assert part.basis.shape[0] == districts**4
        covariance = (part.basis @ part.basis.T).toarray()
        # No pair is left without a part, and they have about the same one on average.
        assert np.diag(covariance).min() > 0.01
        assert np.diag(covariance).mean() == pytest.approx(1, abs=0.15)
        assert part.basis.shape[1] <= max(MOST, districts**4)
        assert not part.fixed


def test_what_is_alike() -> None:
    smooth, both, _ = ((part.basis @ part.basis.T).toarray() for part in pair_components(4))
    there, back, beside, far = 5 * 16 + 10, 10 * 16 + 5, 5 * 16 + 11, 5 * 16 + 0
    assert both[there, back] == both[there, there]
    assert both[there, beside] == 0
    # Districts at distances of sqrt(2) and sqrt(8): what is unknown of a pair grows with the distance.
    across = 0 * 16 + 10
    assert both[across, across] == pytest.approx(4 * both[there, there])
    # A pair is more like the pair beside it than like one whose trips end elsewhere.
    assert 0.4 < smooth[there, beside] < 0.8
    assert abs(smooth[there, far]) < 0.1


def test_districts_are_those_of_the_question() -> None:
    seen = [Observation(name, 1, 9, np.zeros(81), np.ones(81)) for name in ("start", "pairs")]
    assert districts_in(seen) == 3
    assert districts_in(seen[:1]) == 0
