from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from ldptrace.curator.estimates import Estimate
from ldptrace.errors import FitWarning
from ldptrace.models.observation import (
    Match,
    Observation,
    beside_map,
    beyond_noise,
    match_table,
    warn_of_misfit,
)
from ldptrace.protocol.questions import Visits


def estimate(nulls: float | None) -> Estimate:
    error = None if nulls is None else 0.1
    return Estimate(Visits(2, 3), np.array([0.5, 0.2, 0.1, 0.4]), np.full(4, 0.1), 1000, nulls, error)


def test_empty_places_tell_the_mean_number_of_items() -> None:
    seen = Observation.of(estimate(nulls=1.8))
    assert seen.total is not None
    # The sum of the items, variance 0.04, and this one together are known as well as the empty places are.
    assert seen.total == pytest.approx((1.2, 0.01 / (1 - 0.25)))
    assert seen.filled == pytest.approx((1.2, 0.01))
    unsaid = Observation.of(estimate(nulls=None))
    assert unsaid.total is None
    assert unsaid.filled == pytest.approx((1.2, 0.04))


def test_empty_places_that_are_known_less_well_than_the_items_say_nothing() -> None:
    assert Observation.of(replace(estimate(nulls=1.8), nulls_error=0.3)).total is None


def test_a_match_counts_misfits_in_standard_errors() -> None:
    seen = Observation.of(estimate(nulls=None))
    match = Match.of(seen, seen.frequencies + np.array([0.1, -0.2, 0.0, 0.0]))
    assert match.chi2 == pytest.approx(5 / 4)
    assert match.largest == pytest.approx(2.0)
    assert "visits" in "\n".join(match_table([match]))


def test_noise_is_not_told_and_misfit_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_of_misfit([Match("visits", 1000, 100, 1.0, 2.5)], "path")
    with pytest.warns(FitWarning, match="worst 'visits' with 3.00"):
        assert warn_of_misfit([Match("visits", 1000, 100, 3.0, 6.0)], "path")


def test_the_map_alone_stands_beside_the_model_in_table_and_words() -> None:
    model = [Match("visits", 900, 36, 0.97, 2.4), Match("turns", 100, 4, 1.2, 1.5)]
    poor, good = ([replace(match, chi2=chi2) for match in model] for chi2 in (8.4, 1.05))
    lines = match_table(model, poor)
    assert lines[1].split()[-3:] == ["map", "alone", "largest"]
    assert lines[2].split() == ["visits", "900", "36", "0.97", "2.4", "se", "8.40", "2.4", "se"]
    assert "chi2 8.40 per answer; with the reports it is 0.99" in beside_map(model, poor)
    # What noise explains is no merit of the reports.
    assert "do not show that the reports know more" in beside_map(model, good)
    # One question that the map clearly misses is enough, among many answers that say little.
    many = [Match("moves", 100, 2000, 0.95, 3.0)]
    assert not beyond_noise([*many, *poor[1:]])
    assert "with the reports it is" in beside_map([*many, model[1]], [*many, replace(poor[1], chi2=14.0)])
    assert beyond_noise(poor)
    assert not beyond_noise(good)
    assert not beyond_noise([])
