"""What the papers know of a promise."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.products.statement.papers import Promise
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from shuffled_kit import shuffled, weekly

PLAN = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 6), 1.5)


def test_a_plan_promises_epsilon_for_a_user() -> None:
    promise = Promise.of_plan(PLAN)
    assert (promise.epsilon, promise.unit, promise.weaker) == ("1.5", "user", ())
    assert promise.plan == PLAN
    assert [words.split()[0] for words in promise.mechanisms] == ["PrivSet"]
    assert all(ask.question.name in promise.mechanisms[0] for ask in PLAN.rounds[0].asks)
    assert promise.renewal == "Each device answers once. The budget does not renew."


@pytest.mark.parametrize(
    ("stated", "word"),
    [
        ({"unit": "trip"}, "The unit is a trip"),
        ({"leaks": "a device stays silent"}, "a device stays silent"),
        ({"experiment": "the devices were seeded"}, "The devices were seeded."),
    ],
)
def test_what_weakens_a_promise_is_a_sentence(stated: dict[str, str], word: str) -> None:
    [sentence] = Promise.of_provenance({"epsilon": "1"} | stated, "it").weaker
    assert word in sentence
    assert sentence.endswith(".")


def test_a_plan_of_another_version_is_not_explained() -> None:
    promise = Promise.of_provenance({"epsilon": "1", "plan": {"version": 99}}, "it")
    assert promise.plan is None
    assert promise.mechanisms == []


@pytest.mark.parametrize("stated", [None, {}, {"method": "x"}])
def test_real_trips_state_no_promise(stated: dict[str, str] | None) -> None:
    with pytest.raises(InputError, match=r"trips.csv states no promise"):
        Promise.of_provenance(stated, "trips.csv")


def test_simulated_devices_need_a_trusted_publisher() -> None:
    stated = {"epsilon": "1", "simulated": True}
    assert "the publisher is trusted" in Promise.of_provenance(stated, "it").trust
    assert Promise("1").trust.startswith("Nobody but the device sees a trip")


def test_shuffled_reports_state_both_promises() -> None:
    promise = Promise.of_plan(shuffled(Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 6), 4)))
    assert (promise.local, promise.batch, promise.delta) == ("4", 10_000, "0.00000001")
    assert float(promise.epsilon) < 1
    assert "delta 1e-08" in promise.epsilon_words
    assert "4 if they do work together" in promise.epsilon_words
    assert promise.model_words == "differential privacy of shuffled reports"
    assert "That shuffler and curator do not work together is trusted" in promise.trust
    direct = Promise.of_plan(PLAN)
    assert (direct.shuffled, direct.epsilon_words, direct.delta) == (False, "1.5", "0")


def test_a_standing_shuffled_plan_states_both_lifetimes() -> None:
    plan = weekly(Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 6), 2), answers=5)
    assert plan.shuffled is not None
    assert "(10 if shuffler and curator work together)" in Promise.of_plan(plan).renewal
