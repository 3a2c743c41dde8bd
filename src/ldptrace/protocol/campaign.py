"""Which collection a plan belongs to: a name, and a nonce that makes its id different from all others."""

from __future__ import annotations

import os
import re
from typing import Any

from ldptrace.errors import PlanError
from ldptrace.protocol.canonical import object_in, text_in
from ldptrace.protocol.records import Record

NAME_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
NONCE_PATTERN = r"[0-9a-f]{32}"


class CampaignName(Record):
    """The campaign of a plan. One nonce for everybody: a nonce for each person would make the plan's id a tracker.

    >>> CampaignName.fresh("spring").document().keys()
    dict_keys(['name', 'nonce'])
    >>> CampaignName.fresh("spring") == CampaignName.fresh("spring")
    False
    """

    name: str
    nonce: str

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME_PATTERN, self.name, re.ASCII):
            raise PlanError(
                "a campaign is named with 1 to 64 small letters, digits and inner hyphens, "
                f"got {self.name[:80]!r}"
            )
        if not re.fullmatch(NONCE_PATTERN, self.nonce, re.ASCII):
            raise PlanError(f"a nonce is 32 hexadecimal digits, got {self.nonce[:80]!r}")

    @staticmethod
    def fresh(name: str) -> CampaignName:
        """A new campaign of this name: its nonce is drawn by the operating system."""
        return CampaignName(name, os.urandom(16).hex())

    def document(self) -> dict[str, Any]:
        return {"name": self.name, "nonce": self.nonce}

    @staticmethod
    def from_document(entry: object) -> CampaignName:
        data = object_in(entry, ("name", "nonce"), "campaign")
        return CampaignName(
            text_in(data["name"], NAME_PATTERN, "the name of a campaign"),
            text_in(data["nonce"], NONCE_PATTERN, "a nonce"),
        )
