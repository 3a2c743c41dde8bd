"""A campaign and the fit of its release, made up, for the README and the page."""

from __future__ import annotations

from typing import Any

from ldptrace.protocol.words import promise
from ldptrace.server.registry import Campaign
from ldptrace.server.terms import About, Schedule
from server_kit import SINGLE

CAMPAIGN = Campaign(
    "trips",
    About("Trips <in> town", "The town", "trips@town.example"),
    "published",
    1,
    SINGLE,
    5,
    100,
    False,
    None,
    Schedule(None, 1_803_945_600),
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
