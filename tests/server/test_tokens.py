from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError, LdptraceError
from ldptrace.server import campaigns
from ldptrace.server.storage import Database, open_database
from ldptrace.server.tokens import Token, create_admissions, create_token, holder, revoke_token, tokens_of
from ldptrace.web.problems import Refused
from server_kit import SINGLE, of, opened


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = open_database(tmp_path)
    campaigns.create(found, "town", of(SINGLE, "town"), actor="test")
    return found


def held(database: Database, text: str) -> Token:
    with database.reading() as session:
        return holder(session, text)


@pytest.mark.parametrize(
    ("scope", "campaign", "asked", "of", "allowed"),
    [
        ("read", "town", "read", "town", True),
        ("read", "town", "manage", "town", False),
        ("manage", "town", "read", "town", True),
        ("manage", "town", "manage", "city", False),
        ("manage", "*", "manage", "city", True),
    ],
)
def test_who_may_do_what(scope: str, campaign: str, asked: str, of: str, allowed: bool) -> None:
    assert Token("1", campaign, scope, "", "", None).allows(asked, of) is allowed


def test_a_token_is_good_until_it_is_revoked(database: Database) -> None:
    text, made = create_token(database, "town", "read", "me", actor="test")
    assert held(database, text) == made
    assert made.actor == f"token {made.id} (me)"
    revoke_token(database, made.id, actor="test")
    with pytest.raises(Refused):
        held(database, text)
    with pytest.raises(InputError, match="no valid token"):
        revoke_token(database, made.id, actor="test")
    with database.reading() as session:
        (listed,) = tokens_of(session)
    assert listed.revoked is not None


def test_the_secret_is_nowhere_in_the_database(database: Database, tmp_path: Path) -> None:
    text, _ = create_token(database, "*", "manage", "", actor="test")
    database.close_all()
    secret = text.rsplit("_", 1)[1]
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()


def test_other_texts_are_no_tokens(database: Database) -> None:
    text, _ = create_token(database, "*", "manage", "", actor="test")
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    for wrong in ("", "ldpt_", other, text + "0", text.upper(), f" {text}"):
        with pytest.raises(Refused):
            held(database, wrong)


@pytest.mark.parametrize(
    ("campaign", "scope", "label"), [("town", "all", ""), ("town", "read", "a\n"), ("no", "read", "")]
)
def test_tokens_that_cannot_be_are_refused(database: Database, campaign: str, scope: str, label: str) -> None:
    with pytest.raises(LdptraceError):
        create_token(database, campaign, scope, label, actor="test")
    with database.reading() as session:
        assert tokens_of(session) == []


def test_admission_is_decided_before_a_campaign_is_opened(database: Database) -> None:
    assert len(set(create_admissions(database, "town", 5, actor="test"))) == 5
    opened(database, "everybody", SINGLE)
    with pytest.raises(Refused, match="admission is decided before it is opened"):
        create_admissions(database, "everybody", 1, actor="test")
    with pytest.raises(InputError, match="from 1 to"):
        create_admissions(database, "town", 0, actor="test")


@pytest.mark.parametrize("number", ["\udcff", "a\0", "é"])
def test_what_is_no_token_is_not_looked_for(database: Database, number: str) -> None:
    with pytest.raises(InputError, match="there is no valid token"):
        revoke_token(database, number, actor="test")
