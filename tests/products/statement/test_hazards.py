"""Answers to hazards follow the promise."""

from __future__ import annotations

from ldptrace.products.statement.papers import Operator, Promise, hazards


def test_every_hazard_has_an_answer() -> None:
    text = hazards(Promise("1"), Operator(product="Trips"), "0.1")
    assert text.startswith("# Answers to the hazards of NIST SP 800-226: Trips")
    assert text.count("\n## ") == 11
    assert "Weaker" not in text


def test_weaker_promises_come_first_and_in_their_place() -> None:
    bounds, seed = "The bounds were taken from the data.", "The seed is known."
    text = hazards(Promise("1", unit="trip", weaker=(bounds, seed)), Operator(), "0.1")
    assert text.index("**Weaker than epsilon says.**") < text.index("## Unit")
    assert text.count(bounds) == 2
    assert text.count(seed) == 2
    assert "a person with many trips gives many" in text


def test_a_trusted_curator_does_not_promise_the_local_model() -> None:
    central = hazards(
        Promise("1", weaker=("This is central, not local differential privacy.",)), Operator(), "0.1"
    )
    assert "under central differential privacy" in central
    assert "what is published is at most exp(1)" in central
    assert "what is sent is at most exp(1)" in hazards(Promise("1"), Operator(), "0.1")


def test_shuffled_reports_name_delta_and_whom_to_trust() -> None:
    page = hazards(Promise("1", delta="0.00000001", local="4.2", batch=8000), Operator(), "0.1")
    assert "with delta 1e-08" in page
    assert "at least 8,000 reports; 4.2 if they do work together" in page
    assert "delta is 0" not in page
    assert "That shuffler and curator do not work together is trusted" in page
