from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from ldptrace.curator.estimates import Estimate
from ldptrace.errors import FitWarning
from ldptrace.models.observation import (
    Match,
    Observation,
    Share,
    beside_map,
    beyond_noise,
    clearly_missed,
    first_guess,
    match_table,
    warn_of_misfit,
)
from ldptrace.protocol.questions import Visits


def estimate(nulls: float | None) -> Estimate:
    error = None if nulls is None else 0.1
    return Estimate(Visits(2, 3), np.array([0.5, 0.2, 0.1, 0.4]), np.full(4, 0.1), 10**9, nulls, error)


def test_empty_places_tell_the_mean_number_of_items() -> None:
    seen = Observation.of(estimate(nulls=1.8))
    assert seen.total is not None
    # The sum of the items, variance 0.04, and this one together are known as well as the empty places are.
    assert seen.total == pytest.approx((1.2, 0.01 / (1 - 0.25)))
    assert seen.filled == pytest.approx((1.2, 0.01))
    unsaid = Observation.of(estimate(nulls=None))
    assert unsaid.total is None
    assert unsaid.filled == pytest.approx((1.2, 0.04))


def test_whom_was_asked_is_chance_too() -> None:
    few = Observation.of(replace(estimate(nulls=None), users=94, frequencies=np.array([0.5, 0.0, -0.1, 1.2])))
    assert few.variances == pytest.approx(0.01 + np.array([0.25, 0.0291, 0.0291, 0.0291]) / 94)


def test_a_fit_may_follow_answers_nearly_as_if_everybody_had_been_asked() -> None:
    many, few = (Observation.of(replace(estimate(nulls=1.8), users=users)) for users in (94, 1))
    assert many.fitted == pytest.approx(many.variances)
    assert replace(many, closely=True).fitted == pytest.approx(np.full(4, 0.01))
    assert replace(few, closely=True).fitted == pytest.approx(few.variances / 10)
    # The share without a trip keeps all of its error.
    assert replace(many, closely=True).filled == many.filled


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
    assert lines[1].split()[-4:] == ["map", "alone", "largest", "noise"]
    # The last column says how large a misfit noise alone explains in that row.
    assert lines[2].split() == ["visits", "900", "36", "0.97", "2.4", "se", "8.40", "2.4", "se", "3.01"]
    assert lines[3].split()[-1] == "11.62"
    assert "chi2 8.40 per answer; with the reports it is 0.99" in beside_map(model, poor)
    # What noise explains is no merit of the reports.
    assert beside_map(model, good).startswith(
        "The answers do not show that the reports add anything to the map."
    )
    # A row that stands out says how far noise reaches there.
    odd = [good[0], replace(good[1], chi2=1.91)]
    assert "the worst question (turns) with 1.91. Noise alone reaches 11.62 with the 4 answers" in beside_map(
        model, odd
    )
    # One question that the map clearly misses is enough, among many answers that say little.
    many = [Match("moves", 100, 2000, 0.95, 3.0)]
    assert not beyond_noise([*many, *poor[1:]])
    assert "with the reports it is" in beside_map([*many, model[1]], [*many, replace(poor[1], chi2=14.0)])
    assert beyond_noise(poor)
    assert not beyond_noise(good)
    assert not beyond_noise([])


def test_a_share_that_noise_explains_changes_no_number_of_trips() -> None:
    assert Share(0.029, 0.01).trips(1000) == 1000
    assert "noise explains" in str(Share(0.029, 0.01))
    assert Share(0.031, 0.01).trips(1000) == 969
    assert "noise" not in str(Share(0.031, 0.01))


def test_a_share_below_zero_is_shown_as_none() -> None:
    assert str(Share(-0.03, 0.01)).startswith("0.0 %")
    assert Share(-0.03, 0.01).trips(1000) == 1000


def test_it_says_what_the_model_would_take_it_for() -> None:
    assert Share(0.2, 0.01).lines == ["20.0 % (standard error 1.0 %) of the devices had no trip."]
    first, second = Share(0.2, 0.01, 0.523).lines
    assert first.startswith("20.0 %")
    assert "take what it misses for 52.3 % without a trip" in second


def test_a_document_keeps_it_and_what_is_none_is_refused() -> None:
    share = Share(0.25, 0.03)
    assert Share.restored(share.document()) == share
    assert set(share.document()) == {"value", "std_error"}
    doubtful = Share(0.25, 0.03, 0.52)
    assert Share.restored(doubtful.document()) == doubtful
    assert Share.restored(None) is None
    for broken in ({"value": math.nan, "std_error": 0.1}, {"value": 0.1, "std_error": 0.0}):
        with pytest.raises(ValueError, match="share of devices"):
            Share.restored(broken)


def seen(name: str, value: float, error: float, most: int = 1) -> Observation:
    return Observation(name, most, 100, np.array([value / 2, value / 2]), np.full(2, error**2 / 2))


def test_the_first_guess_weighs_single_answers_by_their_precision() -> None:
    guess = first_guess([seen("length", 0.6, 0.1), seen("start", 0.9, 0.2), seen("visits", 3.0, 0.01, 4)])
    assert guess.value == pytest.approx(1 - (0.6 * 100 + 0.9 * 25) / 125)
    assert guess.std_error == pytest.approx(math.sqrt(1 / 125))


def test_without_a_question_that_says_it_nothing_is_known() -> None:
    guess = first_guess([seen("visits", 3.0, 0.01, 4)])
    assert not guess.known
    assert not guess.clear


@pytest.mark.parametrize("seed", range(3))
def test_for_independent_questions_the_weighted_totals_are_the_joint_fit(seed: int) -> None:
    """All frequencies p of all questions and the share are unknown: y = t p + noise, and each p adds up to one."""
    rng = np.random.default_rng(seed)
    sizes, t = (9, 6, 4), 0.4
    observations, blocks = [], []
    for name, size in zip(("length", "start", "cut-end"), sizes, strict=True):
        variances = rng.uniform(0.5, 2.0, size) * 1e-4
        noisy = t * rng.dirichlet(np.ones(size)) + rng.normal(size=size) * np.sqrt(variances)
        observations.append(Observation(name, 1, 100, noisy, variances))
        blocks.append((noisy, variances))
    # With q = t p the criterion is quadratic: unknowns are t and all q, and each question's q add up to t.
    unknown = 1 + sum(sizes)
    normal, right, at = np.zeros((unknown, unknown)), np.zeros(unknown), 1
    constraints = np.zeros((len(sizes), unknown))
    for number, (noisy, variances) in enumerate(blocks):
        own = np.arange(at, at + len(noisy))
        normal[own, own], right[own] = 1 / variances, noisy / variances
        constraints[number, own], constraints[number, 0] = 1, -1
        at += len(noisy)
    full = np.block([[normal, constraints.T], [constraints, np.zeros((len(sizes),) * 2)]])
    inverse = np.linalg.inv(full)
    joint = inverse @ np.concatenate([right, np.zeros(len(sizes))])
    guess = first_guess(observations)
    assert 1 - guess.value == pytest.approx(joint[0], rel=1e-9)
    assert guess.std_error**2 == pytest.approx(inverse[0, 0], rel=1e-9)


def test_a_misfit_that_is_noticed_only_at_more_false_alarms() -> None:
    matches = [Match("start", 1000, 36, 2.6, 5.0)]
    assert not clearly_missed(matches)
    assert clearly_missed(matches, 1e-3)
