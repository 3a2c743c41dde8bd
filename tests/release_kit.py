"""A campaign and the fit of its release, made up, for the README and the page."""

from __future__ import annotations

from typing import Any

from ldptrace.protocol.words import promise
from ldptrace.server.registry import Campaign
from ldptrace.server.terms import Terms
from server_kit import SINGLE

CAMPAIGN = Campaign(
    "trips",
    Terms(
        "Trips <in> town",
        "The town",
        "trips@town.example",
        until=1_803_945_600,
        min_reports=5,
        max_reports=100,
    ),
    "published",
    1,
    SINGLE,
    False,
)


def card(**changes: Any) -> dict[str, Any]:
    match = {"question": "visits", "users": 1_234, "answers": 36, "chi2": 1.04, "largest": 2.5, "noise": 3.01}
    return {
        "reports": 5_000,
        "trips": 60,
        "people": ["20 % of the devices had no trip."],
        "promise": promise(SINGLE),
        "fit": [match],
        "map_alone": [],
        "notes": [],
        "streets": [],
        "warnings": [],
        "findings": [],
        **changes,
    }
