"""The tables. They store no report, no address, and no time at which a report arrived."""

from __future__ import annotations

import re

VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS campaigns (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    round {integer} NOT NULL,
    plan TEXT NOT NULL,
    min_reports {integer} NOT NULL,
    max_reports {integer} NOT NULL,
    admission {integer} NOT NULL,
    users {integer},
    organiser TEXT NOT NULL DEFAULT '',
    contact TEXT NOT NULL DEFAULT '',
    notice TEXT NOT NULL DEFAULT '',
    opens {integer},
    until {integer}
);

-- The plans of a campaign, by number. `ends` is when a standing plan that was replaced begins no further window.
CREATE TABLE IF NOT EXISTS plans (
    campaign TEXT NOT NULL, id TEXT NOT NULL, number {integer} NOT NULL, text TEXT NOT NULL, ends {integer},
    PRIMARY KEY (campaign, id)
);

-- One row for each round that was opened, or for each window of a standing plan that somebody answered. `plan` is
-- an id. `groups` and `generation` tell which rows of `fresh` are new.
CREATE TABLE IF NOT EXISTS rounds (
    key {serial},
    campaign TEXT NOT NULL,
    number {integer} NOT NULL,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    counted {integer} NOT NULL,
    groups {integer} NOT NULL,
    generation {integer} NOT NULL,
    time_window {integer},
    UNIQUE (campaign, number)
);

CREATE UNIQUE INDEX IF NOT EXISTS rounds_window ON rounds (campaign, plan, time_window);

-- The private key of a shuffled campaign, with which its sealed reports are opened.
CREATE TABLE IF NOT EXISTS keys (campaign TEXT PRIMARY KEY, secret TEXT NOT NULL);

-- The batches of shuffled plans: a digest of the set of sealed reports (empty: the shuffler has deleted it), and what
-- the shuffler was answered. `time_window` is -1 in plans without windows.
CREATE TABLE IF NOT EXISTS batches (
    campaign TEXT NOT NULL, plan TEXT NOT NULL, time_window {integer} NOT NULL, digest TEXT NOT NULL,
    reports {integer} NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (campaign, plan, time_window)
);

-- Counts of each question as 64-bit integers.
CREATE TABLE IF NOT EXISTS tallies (
    round {integer} NOT NULL, ask {integer} NOT NULL, users {integer} NOT NULL, counts {blob} NOT NULL,
    PRIMARY KEY (round, ask)
){clustered};

CREATE TABLE IF NOT EXISTS rejections (
    campaign TEXT NOT NULL, problem TEXT NOT NULL, reports {integer} NOT NULL,
    PRIMARY KEY (campaign, problem)
);

-- Ids of counted reports: sorted lists of the newest ones, then one by one, ordered by themselves.
CREATE TABLE IF NOT EXISTS fresh (
    round {integer} NOT NULL, number {integer} NOT NULL, ids {blob} NOT NULL,
    PRIMARY KEY (round, number)
){clustered};

CREATE TABLE IF NOT EXISTS ids (
    round {integer} NOT NULL, id {blob} NOT NULL,
    PRIMARY KEY (round, id)
){clustered};

-- Hashes of admission tokens that were not used yet.
CREATE TABLE IF NOT EXISTS admissions (
    campaign TEXT NOT NULL, hash {blob} NOT NULL,
    PRIMARY KEY (campaign, hash)
){clustered};

CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash {blob} NOT NULL, campaign TEXT NOT NULL, scope TEXT NOT NULL,
    label TEXT NOT NULL, created TEXT NOT NULL, revoked TEXT
);

CREATE TABLE IF NOT EXISTS audit (
    number {serial}, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
    campaign TEXT NOT NULL, detail TEXT NOT NULL
);

-- The release of a campaign while it is made, and its files in parts. `number` is that of a window's round, -1 for
-- the release of all rounds together. `count` is how many trips were asked for, `beat` grows as long as somebody works
-- on it.
CREATE TABLE IF NOT EXISTS releases (
    campaign TEXT NOT NULL, number {integer} NOT NULL, attempt TEXT NOT NULL, state TEXT NOT NULL,
    stage TEXT NOT NULL, done {integer} NOT NULL, error TEXT NOT NULL,
    count {integer} NOT NULL DEFAULT 0, beat {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY (campaign, number)
);

CREATE TABLE IF NOT EXISTS files (
    campaign TEXT NOT NULL, name TEXT NOT NULL, part {integer} NOT NULL, data {blob} NOT NULL,
    PRIMARY KEY (campaign, name, part)
);
"""

# In a key, in place of a number that there is not: a release of all rounds together, a batch without a window.
_NONE = -1


def stored(number: int | None) -> int:
    """Return the number of a round or a window, or None, as a key has it.

    >>> stored(None), number_in(stored(None)), number_in(stored(3))
    (-1, None, 3)
    """
    return _NONE if number is None else number


def number_in(key: int) -> int | None:
    """Return the number of a round or a window from a key, or None."""
    return None if key == _NONE else int(key)


# Tables with a column `campaign` or `round`, for deleting one; ids, which are many, are erased by themselves.
OF_CAMPAIGN = ("plans", "rejections", "admissions", "releases", "files", "keys", "batches", "rounds")
OF_ROUND = ("tallies", "fresh")


def statements(*, integer: str, blob: str, serial: str, clustered: str) -> list[str]:
    """Return the statements that make the tables, with the types of one database.

    >>> len(statements(integer="BIGINT", blob="BYTEA", serial="BIGINT PRIMARY KEY", clustered=""))
    16
    """
    filled = _TABLES.format(integer=integer, blob=blob, serial=serial, clustered=clustered)
    return [part.strip() for part in filled.split(";") if part.strip()]


# The columns of each table: the names before a type.
COLUMNS = {
    table: tuple(re.findall(r"(\w+) (?:TEXT|{\w+})", body))
    for table, body in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+) (.*?);", _TABLES, re.DOTALL)
}
