"""Update the tables of an earlier version, in the transaction that opens the database.

Each function is named by the version from which it starts. A database is changed completely or not at all;
`Database.prepare` refuses a newer version.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ldptrace.server.storage.schema import statements
from ldptrace.server.storage.session import Row, Session

ID_BYTES = 16
Words = dict[str, str]


def migrate(session: Session, version: int, words: Words) -> None:
    """Update a database from this version to the newest one."""
    for step in STEPS[version - 1 :]:
        step(session, words)


def _from_1(session: Session, words: Words) -> None:
    """Version 2: plans in a table of their own, windows, releases of windows, what contributors want to know.

    Plans of version 1 are of a draft of the protocol, whose devices cannot be counted any more: rounds that were
    open are closed, and can be published. A plan keeps the id under which it was published; one that nobody has
    answered gets a nonce of its own.
    """
    integer = words["integer"]
    for column in ("organiser TEXT", "contact TEXT", "notice TEXT"):
        session.run(f"ALTER TABLE campaigns ADD COLUMN {column} NOT NULL DEFAULT ''")
    for column in ("opens", "until"):
        session.run(f"ALTER TABLE campaigns ADD COLUMN {column} {integer}")
    session.run(f"ALTER TABLE rounds ADD COLUMN time_window {integer}")
    releases = session.rows("SELECT campaign, -1, attempt, state, stage, done, error FROM releases")
    _new_releases(session, words, releases)
    for name, state, text in session.rows("SELECT name, state, plan FROM campaigns"):
        _move_plans(session, name, state, text)
    _close_drafts(session)


def _from_2(session: Session, words: Words) -> None:
    """Version 3: releases store how many trips are wanted, and whether a worker is active."""
    releases = session.rows("SELECT campaign, number, attempt, state, stage, done, error FROM releases")
    _new_releases(session, words, releases)


def _new_releases(session: Session, words: Words, rows: list[Row]) -> None:
    """Make the present table of releases and all missing tables."""
    session.run("DROP TABLE releases")
    for statement in statements(**words):
        session.run(statement)
    session.run_many(
        "INSERT INTO releases (campaign, number, attempt, state, stage, done, error) VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _move_plans(session: Session, name: str, state: str, newest: str) -> None:
    """Move the plans of a campaign from the rows of its rounds to their own table."""
    opened = session.rows("SELECT key, plan FROM rounds WHERE campaign = ? ORDER BY number", name)
    texts = list(dict.fromkeys([*(text for _, text in opened), newest]))
    ids = {text: hashlib.sha256(text.encode()).hexdigest() for text in texts}
    for number, text in enumerate(texts):
        amended = _amended(json.loads(text), name if state == "draft" else None)
        if state == "draft":
            ids[text] = hashlib.sha256(amended.encode()).hexdigest()
        session.run(
            "INSERT INTO plans (campaign, id, number, text) VALUES (?, ?, ?, ?)",
            name,
            ids[text],
            number,
            amended,
        )
    for key, text in opened:
        session.run("UPDATE rounds SET plan = ? WHERE key = ?", ids[text], key)
    session.run("UPDATE campaigns SET plan = ? WHERE name = ?", ids[newest], name)


def _amended(plan: dict[str, Any], campaign: str | None) -> str:
    """Return a plan of the draft protocol with the keys of version 1, and with new ids of the plans that it extends."""
    named = None if campaign is None else {"name": campaign, "nonce": secrets.token_hex(16)}
    plan = {**plan, "campaign": named, "standing": None}
    if plan["extends"] is not None:
        earlier = None
        for rounds in range(1, len(plan["rounds"])):
            part = _canonical({**plan, "rounds": plan["rounds"][:rounds], "extends": earlier})
            earlier = hashlib.sha256(part.encode()).hexdigest()
        plan["extends"] = earlier
    return _canonical(plan)


def _canonical(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _close_drafts(session: Session) -> None:
    """Close open rounds, as `campaigns.close_round` does."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for key, name in session.rows("SELECT key, campaign FROM rounds WHERE state = 'open'"):
        fresh = b"".join(bytes(ids) for (ids,) in session.rows("SELECT ids FROM fresh WHERE round = ?", key))
        ids = sorted(fresh[place : place + ID_BYTES] for place in range(0, len(fresh), ID_BYTES))
        session.run_many("INSERT INTO ids (round, id) VALUES (?, ?)", ((key, one) for one in ids))
        session.run("DELETE FROM fresh WHERE round = ?", key)
        session.run(
            "UPDATE rounds SET state = 'closed', groups = 0, generation = generation + 1 WHERE key = ?", key
        )
        session.run("UPDATE campaigns SET state = 'closed' WHERE name = ?", name)
        session.run(
            "INSERT INTO audit (at, actor, action, campaign, detail) VALUES (?, 'upgrade', 'close', ?, ?)",
            at,
            name,
            "its plan is of a draft of the protocol",
        )


STEPS: tuple[Callable[[Session, Words], None], ...] = (_from_1, _from_2)
