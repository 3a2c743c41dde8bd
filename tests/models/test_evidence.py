from __future__ import annotations

import numpy as np

from ldptrace.models.evidence import Spread, allowed_variances, climbed, condensed
from ldptrace.models.prior import Prior, PriorComponent

POTENTIALS = 200


def learned(prior: Prior, jacobian: np.ndarray, target: np.ndarray, rounds: int = 8) -> dict[str, float]:
    logs = np.log([component.variance for component in prior.components])
    for _ in range(rounds):
        logs = climbed(prior, logs, Spread.of(prior.views(jacobian)), target)
    return {c.name: float(np.exp(log)) for c, log in zip(prior.components, logs, strict=True)}


def two_components(rng: np.random.Generator, size: int = POTENTIALS) -> Prior:
    groups = np.repeat(np.eye(size // 10), 10, axis=0)
    return Prior([PriorComponent("own", np.eye(size)), PriorComponent("shared", groups)])


def test_variances_are_recovered(rng: np.random.Generator) -> None:
    """200 potentials, of which ten each share a part: both variances within a factor of two, far from their guesses."""
    prior = two_components(rng)
    own, shared = (component.basis for component in prior.components)
    potentials = 0.5 * rng.normal(size=POTENTIALS) + 2.0 * shared @ rng.normal(size=POTENTIALS // 10)
    jacobian = 5.0 * own
    found = learned(prior, jacobian, jacobian @ potentials + rng.normal(size=POTENTIALS))
    assert 0.5 < found["own"] / 0.25 < 2
    assert 0.5 < found["shared"] / 4.0 < 2


def test_a_component_without_evidence_shrinks(rng: np.random.Generator) -> None:
    prior = two_components(rng)
    jacobian = 5.0 * np.eye(POTENTIALS)
    found = learned(
        prior, jacobian, jacobian @ (0.5 * rng.normal(size=POTENTIALS)) + rng.normal(size=POTENTIALS)
    )
    assert found["shared"] < 0.03


def test_a_first_guess_that_is_sure_of_itself_stays_near(rng: np.random.Generator) -> None:
    """The answers speak for a variance of 0.25; a guess of 4, sure to a factor of e^0.03, gives way little."""
    jacobian = 5.0 * np.eye(POTENTIALS)
    target = jacobian @ (0.5 * rng.normal(size=POTENTIALS)) + rng.normal(size=POTENTIALS)
    unsure, sure = (
        learned(Prior([PriorComponent("own", np.eye(POTENTIALS), 4.0, spread)]), jacobian, target)["own"]
        for spread in (4.0, 0.03)
    )
    assert 0.5 < unsure / 0.25 < 2
    assert 0.5 < sure / 4.0 < 1


def test_a_fixed_variance_stays(rng: np.random.Generator) -> None:
    prior = Prior([PriorComponent("own", np.eye(50)), PriorComponent("fixed", np.eye(50), 1.0, fixed=True)])
    found = learned(prior, np.eye(50), rng.normal(size=50), rounds=2)
    assert found["fixed"] == 1.0


def test_more_answers_than_potentials_say_the_same_condensed(rng: np.random.Generator) -> None:
    prior = Prior([PriorComponent("own", np.eye(3))])
    jacobian = rng.normal(size=(50, 3))
    target = jacobian @ np.array([1.0, -2.0, 0.5]) + rng.normal(size=50)
    repeated = learned(prior, jacobian, target, rounds=1)["own"]
    shuffled = rng.permutation(50)
    again = learned(prior, jacobian[shuffled], target[shuffled], rounds=1)["own"]
    assert abs(repeated / again - 1) < 1e-6


def test_of_very_many_answers_those_that_tell_most_are_kept(rng: np.random.Generator) -> None:
    """Each of 700 potentials moves one answer by two standard errors and one by next to nothing."""
    sizes = np.repeat([2.0, 0.01], 700)
    order = rng.permutation(1400)
    jacobian, target = (np.vstack([np.eye(700)] * 2) * sizes[:, None])[order], np.arange(1400.0)
    rows, kept = condensed(jacobian, target)
    assert len(rows) == len(kept) == 600
    assert set(sizes[order][kept.astype(int)]) == {2.0}


def test_variances_that_are_drawn_are_as_unsure_as_the_answers(rng: np.random.Generator) -> None:
    """Many answers tell one variance to a third; of the other they say nothing, so its first guess and spread stay."""
    own, unseen = np.eye(220)[:, :200], np.eye(220)[:, 200:]
    fixed = PriorComponent("fixed", np.eye(220), 1e-6, fixed=True)
    prior = Prior([PriorComponent("own", own), PriorComponent("unseen", unseen, 0.1, spread=1.0), fixed])
    jacobian = 5.0 * own.T
    target = jacobian @ (0.5 * rng.normal(size=220)) + rng.normal(size=200)
    logs = np.log([0.25, 0.1, 1e-6])
    drawn = allowed_variances(prior, logs, jacobian, target, 100, rng)
    mean, deviation = drawn.mean(axis=0), drawn.std(axis=0)
    assert np.abs(mean - logs).max() < 0.5
    assert deviation[0] < 0.3 < 0.6 < deviation[1] < 1.5
    assert deviation[2] < 1e-9
