"""A public profile, bent as far as the answers say and no further."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.models.ordinal import Answers, Bend, circle, fit_ordinal, line
from ldptrace.models.time import DAY_PROFILE

BENDS = circle(24, np.log(DAY_PROFILE))
NIGHT = np.roll(DAY_PROFILE, 12)


def answers(truth: np.ndarray, error: float, rng: np.random.Generator) -> Answers:
    return Answers(truth + error * rng.standard_normal(24), np.full(24, error**2))


def test_without_answers_it_is_the_profile() -> None:
    for seen in ([], [Answers(np.zeros(24), np.full(24, np.inf))]):
        assert np.allclose(fit_ordinal(DAY_PROFILE, seen, BENDS).probabilities, DAY_PROFILE)


def test_precise_answers_are_followed_wherever_they_lead(rng: np.random.Generator) -> None:
    found = fit_ordinal(DAY_PROFILE, [answers(NIGHT, 1e-4, rng)], BENDS)
    assert count_divergence(found.probabilities, NIGHT) < 1e-4
    assert count_divergence(DAY_PROFILE, NIGHT) > 0.1


@pytest.mark.slow
def test_noise_alone_bends_nothing_much(rng: np.random.Generator) -> None:
    """Standard errors four times the mean share of an hour: the profile stays, in every one of many draws."""
    for _ in range(10):
        found = fit_ordinal(DAY_PROFILE, [answers(DAY_PROFILE, 0.16, rng)], BENDS)
        assert count_divergence(found.probabilities, DAY_PROFILE) < 0.02


@pytest.mark.slow
def test_more_answers_are_closer(rng: np.random.Generator) -> None:
    errors = []
    for noise in (0.03, 0.01, 0.003):
        found = [fit_ordinal(DAY_PROFILE, [answers(NIGHT, noise, rng)], BENDS) for _ in range(3)]
        errors.append(np.mean([count_divergence(one.probabilities, NIGHT) for one in found]))
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.slow
def test_replicates_allow_what_the_answers_do_not_rule_out(rng: np.random.Generator) -> None:
    """Sharper hours than the public ones, hardly seen through the noise: still most lie within two standard errors."""
    sharp = DAY_PROFILE**1.6 / np.sum(DAY_PROFILE**1.6)
    held = []
    for _ in range(4):
        found = fit_ordinal(DAY_PROFILE, [answers(sharp, 0.03, rng)], BENDS)
        assert found.ratios is not None
        assert found.ratios @ found.probabilities == pytest.approx(np.ones(len(found.ratios)))
        error = found.probabilities * np.sqrt(np.mean((found.ratios - 1) ** 2, axis=0))
        held.append(np.mean(np.abs(sharp - found.probabilities) < 2 * error))
    assert np.mean(held) > 0.85


def test_replicates_spread_as_all_distributions_that_the_answers_allow(rng: np.random.Generator) -> None:
    """One bend, and so many answers that logarithms hardly bend: the spread is that of the Gaussian."""
    noise, bend = 1e-3, Bend(np.eye(4), "", size=1.0)
    flat = np.full(4, 0.25)
    found = fit_ordinal(flat, [Answers(flat, np.full(4, noise**2))], [bend])
    assert found.ratios is not None
    error = 0.25 * np.sqrt(np.mean((found.ratios - 1) ** 2, axis=0))
    # Shares add up to one, so that each is known a little better than its answer.
    assert error == pytest.approx(np.full(4, noise * np.sqrt(3 / 4)), rel=0.3)


def test_what_may_be_true_is_as_wide_as_a_city_may_be_apart(rng: np.random.Generator) -> None:
    """The answers fit the profile best, so that the narrowest bend explains them best; but it says nothing of how far
    off the profile is, so that the spread is that of the wide ones alone."""
    flat, seen = np.full(4, 0.25), [Answers(np.full(4, 0.25), np.full(4, 0.2**2))]
    narrow, wide = (Bend(size**2 * np.eye(4), "", size=size) for size in (0.02, 0.6))

    def spread(*bends: Bend) -> float:
        found = fit_ordinal(flat, seen, bends)
        assert found.ratios is not None
        return float(np.sqrt(np.mean((found.ratios - 1) ** 2)))

    assert spread(narrow, wide) == pytest.approx(spread(wide), rel=0.05)
    assert spread(narrow) < 0.2 * spread(wide)


def test_a_week_has_more_hours_than_replicates(rng: np.random.Generator) -> None:
    """Answers that say nothing: shares vary as their prior does."""
    apart = np.subtract.outer(np.arange(60), np.arange(60))
    bend, flat = Bend(np.exp(-0.5 * (apart / 2) ** 2), "", size=1.0), np.full(60, 1 / 60)
    found = fit_ordinal(flat, [Answers(flat, np.ones(60))], [bend])
    assert found.ratios is not None
    drawn = np.exp(rng.multivariate_normal(np.zeros(60), bend.covariance, 2_000))
    wanted = np.std(60 * drawn / drawn.sum(axis=1, keepdims=True))
    assert np.sqrt(np.mean((found.ratios - 1) ** 2)) == pytest.approx(wanted, rel=0.2)


def test_answers_of_neighbouring_classes_together() -> None:
    """Every answer is the sum of three hours: still the day comes out."""
    near = sum(np.roll(np.eye(24), k, axis=0) for k in (-1, 0, 1))
    found = fit_ordinal(DAY_PROFILE, [Answers(near @ NIGHT, np.full(24, 1e-8), near)], BENDS)
    assert count_divergence(found.probabilities, NIGHT) < 1e-4


def test_a_bell_can_move_and_narrow() -> None:
    places = np.linspace(-2, 2, 26)
    wide, narrow = (
        np.exp(-0.5 * ((places - middle) / spread) ** 2) for middle, spread in ((0, 0.6), (0.8, 0.2))
    )
    narrow /= narrow.sum()
    found = fit_ordinal(wide, [Answers(narrow, np.full(26, 1e-7))], line(places))
    assert count_divergence(found.probabilities, narrow) < 1e-3


def test_it_is_the_posterior_mode_of_a_gaussian_on_the_log_scale() -> None:
    """Against plain minimisation over the logarithms."""
    from scipy.optimize import minimize

    profile, seen = (
        np.array([0.5, 0.3, 0.2]),
        Answers(np.array([0.2, 0.5, 0.3]), np.array([0.01, 0.02, 0.03])),
    )
    covariance = np.array([[0.5, 0.2, 0.0], [0.2, 0.4, 0.1], [0.0, 0.1, 0.3]])

    def cost(bend: np.ndarray) -> float:
        weights = profile * np.exp(bend)
        misfit = (seen.frequencies - weights / weights.sum()) ** 2 / seen.variances
        return float(0.5 * misfit.sum() + 0.5 * bend @ np.linalg.solve(covariance, bend))

    bend = minimize(cost, np.zeros(3), tol=1e-12).x
    wanted = profile * np.exp(bend) / (profile * np.exp(bend)).sum()
    found = fit_ordinal(profile, [seen], [Bend(covariance, "")])
    assert np.allclose(found.probabilities, wanted, atol=1e-5)


def test_a_profile_with_holes_is_refused() -> None:
    with pytest.raises(InputError, match="positive"):
        fit_ordinal(np.array([1.0, 0.0]), [], [Bend(np.eye(2), "")])
