"""The entry for the registry of deployments."""

from __future__ import annotations

from datetime import date

import pytest

from ldptrace.errors import InputError
from ldptrace.products.statement.papers import OPERATOR, Operator, Promise, registry_entry

# What the registry's schema requires of every entry.
REQUIRED = {
    *("name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"),
    "publication_date",
}
CITY = Operator(
    "City of Trent", "planning", "Trent", "Trips in Trent", date=date(2026, 3, 1), author="A. Clerk"
)


def test_every_required_field_is_there() -> None:
    entry = registry_entry(Promise("1.5"), CITY, "0.1")
    assert set(entry) == {"url_slug", "status", "tier", "deployment"}
    assert entry["url_slug"] == "trips-in-trent-city-of-trent-2026"
    deployment = entry["deployment"]
    assert set(deployment["basic"]) >= REQUIRED
    assert deployment["basic"]["publication_date"] == "2026-03-01"
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.5, "delta": 0}
    assert deployment["deployment_model"]["model_name"] == "Local"
    assert deployment["administrative"]["registry_authors"] == ["A. Clerk"]


def test_what_only_the_operator_knows_is_marked() -> None:
    basic = registry_entry(Promise("1"), Operator(), "0.1")["deployment"]["basic"]
    assert basic["data_curators"] == [OPERATOR]
    assert basic["data_product_region"] == OPERATOR


def test_a_weaker_promise_is_no_pure_one() -> None:
    weaker = ("This is central, not local differential privacy.",)
    deployment = registry_entry(Promise("1", weaker=weaker), CITY, "0.1")["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Custom"
    assert deployment["deployment_model"]["model_name"] == "Central"
    assert weaker[0] in deployment["dp_variant"]["unprotected_quantities"]


def test_a_publisher_who_simulates_devices_is_trusted() -> None:
    deployment = registry_entry(Promise("1", simulated=True), CITY, "0.1")["deployment"]
    assert deployment["deployment_model"]["model_name"] == "Central"
    assert "trips that the publisher holds" in deployment["deployment_model"]["actors"]


def test_a_sector_that_the_registry_does_not_know_is_refused() -> None:
    with pytest.raises(InputError, match=r"the registry's sectors are .*Government.*, got 'Transport'"):
        registry_entry(Promise("1"), Operator(sector="Transport"), "0.1")


def test_shuffled_reports_have_a_delta() -> None:
    promise = Promise("1", delta="0.00000001", local="4.2", batch=8000)
    deployment = registry_entry(promise, Operator(), "0.1")["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["deployment_model"]["model_name"] == "Shuffle"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-8}
    assert "4.2 if they do work together" in deployment["privacy_loss"]["privacy_parameters_details"]
