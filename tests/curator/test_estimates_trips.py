from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from ldptrace.curator.estimates import PEOPLE, Estimates, TripsPerPerson, trips_per_person
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation.collect import tally_of

PLAN = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0, questions=["length", "trips"])


def answered(classes: np.ndarray[tuple[int], np.dtype[np.int64]], rng: np.random.Generator) -> Estimates:
    """Estimates where these people say their class (-1: no trip)."""
    zero = Tally.zero(PLAN)
    number = [ask.question.name for ask in PLAN.rounds[0].asks].index("trips")
    counts, users = list(zero.counts), list(zero.users)
    channel = PLAN.rounds[0].asks[number].randomizer
    counts[number] = tally_of(channel, classes.astype(np.int32).reshape(-1, 1), rng, "devices")
    users[number] = len(classes)
    return Estimates.from_tally(PLAN, Tally(PLAN.id, 0, tuple(counts), tuple(users), tuple(users)))


def test_the_mean_is_found_with_its_error(rng: np.random.Generator) -> None:
    """200 collections of people drawn anew: their spread is the error, within a fifth."""
    chances = np.array([0.3, 0.3, 0.2, 0.1, 0.06, 0.04])
    truth = float(chances @ [0, 1, 2, 3, 4.5, 7])
    found = []
    for _ in range(200):
        each = trips_per_person(answered(rng.choice(6, 2000, p=chances) - 1, rng))
        assert each is not None
        found.append(each)
    values = np.array([each.value for each in found])
    assert values.mean() == pytest.approx(truth, abs=5 * values.std() / np.sqrt(200))
    assert values.std() == pytest.approx(np.mean([each.std_error for each in found]), rel=0.2)
    assert np.mean([each.none for each in found]) == pytest.approx(0.3, abs=0.05)


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    assert TripsPerPerson(10.0, 1.0, 0.0).interval == pytest.approx(norm.interval(0.95, 10.0), abs=1e-3)


def test_numbers_are_scaled_and_say_what_they_are_about(rng: np.random.Generator) -> None:
    found = trips_per_person(answered(np.zeros(5000, dtype=np.int64), rng))
    assert found is not None
    said = " ".join(found.words(10_000))
    assert "6 or more trips are 7 on average" in said
    assert "of 10,000 people" in said
    assert PEOPLE in said


def test_nobody_asked_is_nothing_known_and_misuse_is_refused(rng: np.random.Generator) -> None:
    assert trips_per_person(Estimates.from_tally(PLAN, Tally.zero(PLAN))) is None
    some = answered(np.zeros(10, dtype=np.int64), rng)
    assert trips_per_person(some.without("trips")) is None
    found = trips_per_person(some)
    assert found is not None
    with pytest.raises(InputError, match="positive number of people"):
        found.words(0)


def test_trips_per_person_agree_with_the_share_without_a_trip(rng: np.random.Generator) -> None:
    """A few noisy answers to `trips` must not say that hardly anybody travelled when the other answers say that most
    people did."""
    below = 0
    for _ in range(50):
        estimates = answered(rng.choice(6, 60, p=[0.3, 0.6, 0.1, 0, 0, 0]) - 1, rng)
        alone = trips_per_person(estimates)
        together = trips_per_person(estimates, without=(0.3, 0.02))
        assert alone is not None
        assert together is not None
        below += alone.value < 0.5
        assert together.value >= 1 - together.none
        assert together.none == pytest.approx(0.3, abs=0.05)
        assert together.interval[0] >= 0.5
        assert together.least == pytest.approx(1 - together.none - 1.96 * 0.02)
    assert below > 0


def test_a_share_that_nobody_knows_changes_nothing(rng: np.random.Generator) -> None:
    estimates = answered(rng.choice(6, 5000, p=[0.3, 0.3, 0.2, 0.1, 0.06, 0.04]) - 1, rng)
    alone, together = trips_per_person(estimates), trips_per_person(estimates, without=(0.9, 1e3))
    assert alone is not None
    assert together is not None
    assert together.value == pytest.approx(alone.value, abs=1e-3)
