from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.models import fit
from ldptrace.models.fit import LEAST, Fit, fit_potentials
from ldptrace.models.observation import Observation, first_guess
from ldptrace.models.path.components import components
from ldptrace.models.path.flow import Flow
from ldptrace.models.prior import Prior
from path_kit import random_flow


def test_no_share_begins_at_nothing() -> None:
    assert fit._possible(-0.2) == LEAST


ASKED = {
    "length": 1,
    "start": 1,
    "end": 1,
    "terminals": 2,
    "visits": 3,
    "moves": 3,
    "links": 3,
    "turns": 1,
} | {"pairs": 1, "bends": 3}


def observations(model: Flow, variance: float, rng: np.random.Generator | None = None) -> list[Observation]:
    """What users of this model answer: exactly, or with normal noise."""
    left = model.products(ASKED).left
    seen = []
    for name, answer in model.answers(ASKED).items():
        exact = answer * left[name]
        noise = 0.0 if rng is None else rng.normal(0, np.sqrt(variance), len(exact))
        total = (float(exact.sum()), 4 * variance) if name in {"moves", "links", "visits"} else None
        seen.append(Observation(name, ASKED[name], 1000, exact + noise, np.full(len(exact), variance), total))
    return seen


def fitted(like: Flow, seen: list[Observation]) -> Fit[Flow]:
    """A fit that begins with the base of a model of this shape."""
    base = Flow.at(like.graph, like.layout, np.zeros(like.layout.size))
    return fit_potentials(base, Prior(components(like.graph, like.layout)), seen)


def test_exact_answers_are_recovered(rng: np.random.Generator) -> None:
    truth = random_flow(3, 8, rng)
    seen = observations(truth, 1e-8)
    fit = fitted(truth, seen)
    assert fit.converged
    for each in seen:
        # Within three standard errors and a hundredth of the answer: no fit goes beyond that.
        gap = np.abs(fit.expected[each.name] - each.frequencies)
        assert (gap < 3e-4 + 0.01 * each.frequencies).all(), each.name


def test_noise_is_not_followed(rng: np.random.Generator) -> None:
    """The fit is nearer to the truth than the noisy answers are; and misfits are of the size of noise."""
    truth = random_flow(4, 10, rng, scale=0.5)
    exact, noisy = observations(truth, 1e-4), observations(truth, 1e-4, rng)
    fit = fitted(truth, noisy)
    before = sum(((a.frequencies - b.frequencies) ** 2).sum() for a, b in zip(noisy, exact, strict=True))
    after = sum(((fit.expected[b.name] - b.frequencies) ** 2).sum() for b in exact)
    misfit = sum(((fit.expected[a.name] - a.frequencies) ** 2).sum() for a in noisy)
    answers = sum(len(a.frequencies) for a in noisy)
    assert after < 0.5 * before
    assert 0.5 * answers < misfit / 1e-4 < 1.3 * answers


def test_parts_without_evidence_shrink_and_nothing_known_is_the_base(rng: np.random.Generator) -> None:
    base = random_flow(3, 8, rng, scale=0.0)
    # Answers of the order of 0.1, with a standard error of ten.
    fit = fitted(base, observations(base, 100.0, rng))
    assert np.abs(fit.model.potentials).max() < 0.5
    assert fitted(base, []).model.potentials.tolist() == [0.0] * base.layout.size


def test_what_nobody_was_asked_about_is_held_though_its_size_is_learned(rng: np.random.Generator) -> None:
    truth = random_flow(3, 8, rng)
    parts = [replace(part, fixed=False) for part in components(truth.graph, truth.layout)]
    base = Flow.at(truth.graph, truth.layout, np.zeros(truth.layout.size))
    seen = [each for each in observations(truth, 1e-4) if each.name != "turns"]
    fit = fit_potentials(base, Prior(parts), seen)
    assert fit.variances["turn"] < 1e-5
    assert np.abs(fit.model.potentials[truth.layout.turn]).max() < 0.05


def with_share(model: Flow, share: float, variance: float, rng: np.random.Generator) -> list[Observation]:
    """Noisy answers of devices of which a share has no trip."""
    answers = [
        replace(each, frequencies=(1 - share) * each.frequencies, total=None)
        for each in observations(model, variance)
    ]
    noise = np.sqrt(variance)
    return [
        replace(each, frequencies=each.frequencies + rng.normal(0, noise, len(each.frequencies)))
        for each in answers
    ]


def test_the_share_without_a_trip_is_found_with_its_error(rng: np.random.Generator) -> None:
    """Within five standard errors, as often as one fit in a million is not."""
    truth = random_flow(3, 8, rng, scale=0.5)
    for share in (0.0, 0.3, 0.8):
        answers = with_share(truth, share, 1e-4, rng)
        fit = fitted(truth, answers)
        assert abs(fit.share.value - share) < 5 * fit.share.std_error
        # It is not stated as surer than the totals make it without any model.
        assert fit.share.std_error >= first_guess(answers).std_error
        assert 0.002 < fit.share.std_error < 0.03
        assert fit.share.clear == (share > 0)
        assert fit.with_trip == pytest.approx(1 - fit.share.value if share else 1.0)
        # Trips are those of the devices that had one.
        exact = {each.name: each.frequencies for each in observations(truth, 1e-4)}
        assert np.abs(fit.expected["visits"] / fit.with_trip - exact["visits"]).max() < 0.1


def test_a_misfit_is_not_taken_for_people_at_home(rng: np.random.Generator) -> None:
    """Devices name three in ten fewer cells and links than any path would: no share of people at home explains that,
    because everybody has a length, a start and an end."""
    truth = random_flow(3, 8, rng, scale=0.5)
    for share in (0.0, 0.3):
        answers = [
            replace(each, frequencies=0.7 * each.frequencies) if each.name in {"visits", "links"} else each
            for each in with_share(truth, share, 1e-6, rng)
        ]
        fit = fitted(truth, answers)
        totals = first_guess(answers)
        assert abs(fit.share.value - totals.value) < totals.std_error
        assert fit.share.std_error == totals.std_error
        assert fit.with_trip == pytest.approx(1 - share, abs=0.01)
        # The model alone would take much of it for people at home, and it says so.
        assert fit.share.by_model is not None
        assert fit.share.by_model > share + 0.05
    assert fitted(truth, with_share(truth, 0.3, 1e-6, rng)).share.by_model is None


def test_where_no_question_says_how_many_there_are_everybody_has_a_trip(rng: np.random.Generator) -> None:
    truth = random_flow(3, 8, rng, scale=0.5)
    seen = [each for each in observations(truth, 1e-4, rng) if each.name in {"visits", "moves"}]
    fit = fitted(truth, seen)
    assert not fit.share.known
    assert fit.with_trip == pytest.approx(1.0, abs=1e-6)
