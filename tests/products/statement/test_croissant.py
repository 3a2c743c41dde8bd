"""Croissant metadata, checked by the library of its makers."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import mlcroissant
import pytest

from ldptrace.products.statement.papers import Operator, Promise, croissant

CC_BY = "https://spdx.org/licenses/CC-BY-4.0.html"
CITY = Operator("City of Trent", url="https://example.org/trips", date=date(2026, 3, 1), license=CC_BY)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_the_metadata_is_valid(tmp_path: Path) -> None:
    data = tmp_path / "trips.parquet"
    data.write_bytes(b"PAR1")
    document = croissant(Promise("1"), CITY, data, "0.1")
    issues = mlcroissant.Dataset(jsonld=document).metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert (document["license"], document["datePublished"]) == (CC_BY, "2026-03-01")
    assert document["citeAs"].startswith("@misc{")
    [file] = document["distribution"]
    assert file["sha256"] == hashlib.sha256(b"PAR1").hexdigest()
    assert file["encodingFormat"] == "application/vnd.apache.parquet"


def test_the_promise_is_carried_in_words() -> None:
    document = croissant(Promise("0.5", weaker=("It is weaker.",)), Operator(), None, "0.1")
    assert document["rai:hasSyntheticData"] is True
    for name in ("rai:personalSensitiveInformation", "rai:dataLimitations"):
        assert "It is weaker." in document[name]
    assert "Epsilon 0.5" in document["description"]
    assert "distribution" not in document


def test_shuffled_reports_state_both_promises() -> None:
    promise = Promise("1", delta="0.00000001", local="4.2", batch=8000)
    said = croissant(promise, Operator(), None, "0.1")
    assert "with delta 1e-08" in said["description"]
    assert "4.2 if they do work together" in said["description"]
    assert "epsilon 4.2 is left" in said["rai:dataCollection"]
