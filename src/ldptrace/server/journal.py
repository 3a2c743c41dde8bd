"""The audit log: who did what to which campaign, and when. Only what operators do is written, never what devices do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ldptrace.server.storage import Session

KEYS = ("at", "actor", "action", "campaign", "detail")


def note(session: Session, actor: str, action: str, campaign: str, detail: str) -> None:
    """A line in the audit log."""
    session.run(
        "INSERT INTO audit (at, actor, action, campaign, detail) VALUES (?, ?, ?, ?, ?)",
        datetime.now(UTC).isoformat(timespec="seconds"),
        actor,
        action,
        campaign,
        detail,
    )


def audit_log(session: Session, campaign: str | None = None) -> Iterator[dict[str, Any]]:
    """What operators did, oldest first."""
    for row in session.rows("SELECT at, actor, action, campaign, detail FROM audit ORDER BY number"):
        if campaign is None or row[3] == campaign:
            yield dict(zip(KEYS, row, strict=True))
