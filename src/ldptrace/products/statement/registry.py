"""An entry for the registry of differential-privacy deployments, in its YAML."""

from __future__ import annotations

import re
from typing import Any

from ldptrace.errors import InputError
from ldptrace.products.statement.promise import OPERATOR, Operator, Promise

REPOSITORY = "ldptrace"
# The sectors that the registry's schema knows.
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")


def registry_entry(promise: Promise, operator: Operator, version: str) -> dict[str, Any]:
    """Return the entry as plain data, complete for tier 3. Missing facts that only the operator knows are marked."""
    if operator.sector not in SECTORS:
        raise InputError(f"the registry's sectors are {', '.join(SECTORS)}, got {operator.sector!r}")
    basic = _basic(promise, operator)
    return {
        "url_slug": _slug(basic),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            "dp_variant": {
                "variant_name": "Custom"
                if promise.weaker
                else "Approximate DP"
                if promise.shuffled
                else "Pure DP",
                "data_domain": "Any set of trips of a person, none included; public bounds, cut into a "
                "public grid of cells.",
                "unprotected_quantities": " ".join(
                    ("That a device takes part, and the number of devices.", *promise.weaker)
                ),
            },
            "privacy_loss": _loss(promise),
            "deployment_model": _model(promise),
            "accounting": {
                "post_processing": "Estimates, the mobility model, synthetic trips, matrices and pages are "
                "computed from "
                "the reports alone and from public knowledge such as a street map.",
                "composition": f"Sequential over everything that one device sends. {promise.renewal}",
            },
            "implementation": _implementation(promise, version),
            "administrative": {
                "sources": operator.url or OPERATOR,
                "notes": " ".join((*promise.weaker, *promise.notes)) or "None.",
                "registry_authors": [operator.author or OPERATOR],
            },
        },
    }


def _basic(promise: Promise, operator: Operator) -> dict[str, Any]:
    users = "" if promise.users is None else f" of {promise.users:,} devices"
    return {
        "name": operator.product,
        "data_curators": [operator.name or OPERATOR],
        "intended_use": operator.purpose or OPERATOR,
        "data_product_type": "Synthetic data",
        "data_product_region": operator.region or OPERATOR,
        "description": f"Synthetic trips drawn from a mobility model that was fitted to randomised "
        f"reports{users}.",
        "data_product_sector": operator.sector,
        "publication_date": operator.published,
    }


def _slug(basic: dict[str, Any]) -> str:
    """Return the address of an entry, made from name, curators and year as in the registry.

    >>> _slug({"name": "Trips, 2026", "data_curators": ["City of Trent"], "publication_date": "2026-03-01"})
    'trips-2026-city-of-trent-2026'
    """
    parts = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"][:4])
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


def _loss(promise: Promise) -> dict[str, Any]:
    return {
        "privacy_unit": "User level" if promise.unit == "user" else f"{promise.unit.capitalize()} level",
        "privacy_unit_details": f"The unit is {promise.unit_words}. Any two values of that unit are "
        "neighbours: "
        "any trips are compared with any others, none included.",
        "privacy_parameters": {"epsilon": float(promise.epsilon), "delta": _delta(promise)},
        "privacy_parameters_details": " ".join(
            (f"Epsilon is exactly {promise.epsilon_words}.", promise.renewal, *promise.weaker)
        ),
    }


def _delta(promise: Promise) -> float:
    """Return delta; a whole 0 where there is none."""
    return float(promise.delta) if promise.shuffled else 0


def _model(promise: Promise) -> dict[str, Any]:
    many = getattr(promise.plan, "standing", None) is not None
    return {
        "model_name": "Central"
        if promise.central or promise.simulated
        else "Shuffle"
        if promise.shuffled
        else "Local",
        "actors": promise.trust,
        "release_type": "Many releases" if many else "One release",
        "release_type_details": promise.renewal,
        "data_source_type": "Dynamic" if many else "Static",
        "access_type": "Non-interactive",
    }


def _implementation(promise: Promise, version: str) -> dict[str, Any]:
    asked = "; ".join(promise.mechanisms) or f"method {promise.method}"
    return {
        "preprocessing_and_hyperparameter_tuning": " ".join(
            (
                "Bounds, cells, questions and shares are public parameters of the plan and were fixed before any "
                "report.",
                *promise.weaker,
            )
        ),
        "mechanisms": (
            f"{asked}. Code: {REPOSITORY} {version}. Probabilities are exact rationals, rounded towards "
            "more privacy, and "
            "are compared with integers, so no floating-point number decides about a report. Devices draw "
            "from the operating "
            "system's secure source. Reports have a constant size; computing time is bounded by 4,096 "
            "points of a "
            "trajectory, and a report is sent at a moment that does not follow from a trip. "
            f"{promise.trust}"
        ),
        "justification": "One report about the whole trip per device gives less error than many reports "
        "with a split budget.",
    }
