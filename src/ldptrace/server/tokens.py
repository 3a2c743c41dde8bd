"""Tokens of operators and admission tokens of devices. Only their hashes are stored. A token has 32 random bytes, so
that it cannot be guessed from its SHA-256. When an admission token is used, its hash is deleted in the transaction that
counts the report, and nothing records to which report it belonged. The server itself, or a proxy, could still record
both when they arrive; only blind signatures would prevent this (docs/how-to/deploy.md).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from ldptrace.errors import InputError
from ldptrace.server.registry import find, note, stamp
from ldptrace.server.storage import Database, Session
from ldptrace.web.problems import Refused, ServerProblem, wrong_state

# `manage` includes `read`; `shuffle` is for the shuffler of one campaign, and for nothing but batches.
SCOPES = ("read", "manage", "shuffle")
SHUFFLE = "shuffle"
# A token for every campaign, and for making new ones.
EVERY = "*"
MAX_ADMISSIONS = 1_000_000
ADMISSION_LETTERS = 32
_TOKEN = re.compile(r"ldpt_([0-9a-f]{8})_([0-9a-f]{64})")


@dataclass(frozen=True)
class Token:
    """A token without its secret."""

    id: str
    campaign: str
    scope: str
    label: str
    created: str
    revoked: str | None

    @property
    def actor(self) -> str:
        """The name of the holder in the audit log."""
        return f"token {self.id}" + (f" ({self.label})" if self.label else "")

    def allows(self, scope: str, campaign: str) -> bool:
        """Whether the token gives this right; `manage` includes `read`."""
        if SHUFFLE in (self.scope, scope):
            return self.campaign == campaign and self.scope == scope
        return self.campaign in (EVERY, campaign) and SCOPES.index(self.scope) >= SCOPES.index(scope)


def create_token(
    database: Database, campaign: str, scope: str, label: str, *, actor: str
) -> tuple[str, Token]:
    """Make a new token, and return its text, which is shown once, and the stored entry."""
    if scope not in SCOPES:
        raise InputError(f"a scope is one of {', '.join(SCOPES)}, got {scope!r}")
    if scope == SHUFFLE and campaign == EVERY:
        raise InputError("a token with the scope shuffle is for one campaign: name it")
    if len(label) > 80 or not label.isprintable():
        raise InputError("a label has up to 80 printable characters")
    number, secret = secrets.token_hex(4), secrets.token_hex(32)
    with database.writing() as session:
        if campaign != EVERY:
            find(session, campaign)
        token = Token(number, campaign, scope, label, stamp(), None)
        session.insert("tokens", hash=token_hash(secret), **vars(token))
        note(session, actor, "create token", campaign, f"{number}, {scope}")
    return f"ldpt_{number}_{secret}", token


def revoke_token(database: Database, number: str, *, actor: str) -> None:
    """Revoke a token."""
    revoke = "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL"
    with database.writing() as session:
        can_be = number.isascii() and "\0" not in number
        if not can_be or not session.run(revoke, stamp(), number):
            raise InputError(f"there is no valid token {number[:20]!r}")
        note(session, actor, "revoke token", EVERY, number)


def tokens_of(session: Session) -> list[Token]:
    """Return all tokens, including revoked ones, oldest first."""
    rows = session.rows(
        "SELECT id, campaign, scope, label, created, revoked FROM tokens ORDER BY created, id"
    )
    return [Token(*row) for row in rows]


def holder(session: Session, text: str) -> Token:
    """Return the token with this text, if it is valid."""
    parts = _TOKEN.fullmatch(text)
    row = parts and session.row(
        "SELECT hash, id, campaign, scope, label, created, revoked FROM tokens WHERE id = ?", parts[1]
    )
    if not parts or not row or not hmac.compare_digest(bytes(row[0]), token_hash(parts[2])) or row[6]:
        raise Refused(ServerProblem.UNAUTHORIZED)
    return Token(*row[1:])


def create_admissions(database: Database, campaign: str, count: int, *, actor: str) -> list[str]:
    """Make single-use admission tokens. From now on, the campaign counts only reports with a token."""
    if not 1 <= count <= MAX_ADMISSIONS:
        raise InputError(f"from 1 to {MAX_ADMISSIONS:,} admission codes can be made at once, got {count:,}")
    texts = [secrets.token_hex(ADMISSION_LETTERS // 2) for _ in range(count)]
    with database.writing() as session:
        known = find(session, campaign, lock=True)
        if known.plan.shuffled is not None:
            raise InputError(
                f"campaign {campaign} is shuffled: its shuffler makes the codes (ldptrace shuffle codes)"
            )
        if known.state != "draft" and not known.admission:
            raise wrong_state(
                f"campaign {campaign} is open to everybody: admission is decided before it is opened"
            )
        session.run("UPDATE campaigns SET admission = 1 WHERE name = ?", campaign)
        hashes = sorted(token_hash(text) for text in texts)
        session.insert_many("admissions", ("campaign", "hash"), ((campaign, value) for value in hashes))
        note(session, actor, "create admissions", campaign, str(count))
    return texts


def token_hash(text: str) -> bytes:
    """Return the hash of a token, which is stored in its place."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
