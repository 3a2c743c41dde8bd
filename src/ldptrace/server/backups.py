"""Back up a campaign to one file, a SQLite database with the same tables. A restored campaign has the ids of its
reports, so that no report is counted twice. The backup of a shuffled campaign holds its private key. The tokens of a
restored campaign are revoked, because the backup does not know which of them were revoked since. A campaign that was
published is never restored to an earlier state, because its reports could then be counted and published a second time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ldptrace.core.atomic import atomic_path
from ldptrace.errors import InputError
from ldptrace.server.registry import Campaign, audit_log, find, note, stamp
from ldptrace.server.storage import Database, Session, StorageUnavailable, number_in
from ldptrace.server.storage.base import COLUMNS, OF_CAMPAIGN, OF_ROUND, Row
from ldptrace.server.storage.sqlite import FILE, SqliteDatabase
from ldptrace.web.problems import Refused, ServerProblem, wrong_state

# Tables whose rows are copied as they are, by what these belong to; rows of files are large and are copied one by one.
CAMPAIGN = (*(table for table in OF_CAMPAIGN if table not in ("files", "rounds")), "tokens")
ROUND = (*OF_ROUND, "ids")
# A round gets a new key.
ROUNDS = COLUMNS["rounds"][1:]
AUDIT = COLUMNS["audit"][1:]


def backup(database: Database, name: str, path: Path, *, actor: str) -> int:
    """Write a campaign to a file in a consistent state, and return its number of reports."""
    with atomic_path(path) as temporary, tempfile.TemporaryDirectory(dir=path.parent) as folder:
        copy = SqliteDatabase(folder)
        with database.reading() as source, copy.writing() as target:
            find(source, name)
            reports = _copy(source, target, name)
            _insert(target, "audit", AUDIT, (tuple(entry.values()) for entry in audit_log(source, name)))
        copy.tidy()
        copy.close_all()
        (Path(folder) / FILE).rename(temporary)
    with database.writing() as session:
        note(session, actor, "backup", name, f"{reports} reports")
    return reports


def check(path: Path) -> None:
    """Raise an error unless a file is the backup of one campaign."""
    with _opened(path):
        pass


def restore(database: Database, path: Path, *, actor: str) -> Campaign:
    """Restore the campaign of a backup to a database that has no campaign with this name."""
    with _opened(path) as (source, name), database.writing() as target:
        _refuse_what_went_on(source, target, name)
        _copy(source, target, name)
        revoke = "UPDATE tokens SET revoked = ? WHERE campaign = ? AND revoked IS NULL"
        target.run(revoke, stamp(), name)
        if not audit_log(target, name):
            _insert(target, "audit", AUDIT, (tuple(entry.values()) for entry in audit_log(source, name)))
        note(target, actor, "restore", name, path.name)
        return find(target, name)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Session, str]]:
    """Read a copy of a backup, and the name of its campaign."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / FILE
        try:
            copy.write_bytes(path.read_bytes())
            database = SqliteDatabase(folder)
            with database.reading() as source:
                names = [str(name) for (name,) in source.rows("SELECT name FROM campaigns")]
        except StorageUnavailable as error:
            raise InputError(f"{path} is no backup of a campaign: {error.__cause__ or error}") from None
        try:
            if len(names) != 1:
                raise InputError(f"{path} is no backup of a campaign: it holds {len(names)} campaigns")
            with database.reading() as source:
                yield source, names[0]
        finally:
            database.close_all()


def _refuse_what_went_on(source: Session, target: Session, name: str) -> None:
    """Raise an error if the campaign exists here, or was published here after the backup."""
    if target.row("SELECT 1 FROM campaigns WHERE name = ?", name):
        raise Refused(
            ServerProblem.CAMPAIGN_EXISTS,
            f"there is a campaign {name} already: delete it before you restore",
        )
    plans = {str(plan) for (plan,) in source.rows("SELECT id FROM plans WHERE campaign = ?", name)}
    made, published = False, set[str]()
    for entry in audit_log(target, name):
        if entry["action"] == "create":
            made, published = entry["detail"].removeprefix("plan ") in plans, set()
        if made and entry["action"] == "publish" and entry["detail"].endswith("files"):
            # Of the release of a window, the number of its round; nothing of a release of all rounds.
            published.add(entry["detail"].rpartition("/")[0])
    done = source.rows("SELECT number FROM releases WHERE campaign = ? AND state = 'done'", name)
    if not published <= {"" if number_in(place) is None else str(place) for (place,) in done}:
        raise wrong_state(
            f"campaign {name} was published here: a backup from before that is not restored, because its reports "
            "would be counted and published a second time"
        )


def _copy(source: Session, target: Session, name: str) -> int:
    """Copy all rows of a campaign, with new keys for its rounds, and return the number of reports."""
    _insert(target, "campaigns", COLUMNS["campaigns"], _select(source, "campaigns", "name", name))
    for table in CAMPAIGN:
        _insert(target, table, COLUMNS[table], _select(source, table, "campaign", name))
    parts = source.rows("SELECT name, part FROM files WHERE campaign = ? ORDER BY name, part", name)
    for file, part in parts:
        where = "campaign = ? AND name = ? AND part = ?"
        [(data,)] = source.rows(f"SELECT data FROM files WHERE {where}", name, file, part)
        _insert(target, "files", COLUMNS["files"], [(name, file, part, data)])
    total = 0
    rounds = f"SELECT key, {', '.join(ROUNDS)} FROM rounds WHERE campaign = ? ORDER BY number"
    for key, *row in source.rows(rounds, name):
        _insert(target, "rounds", ROUNDS, [tuple(row)])
        number = row[ROUNDS.index("number")]
        [(new,)] = target.rows("SELECT key FROM rounds WHERE campaign = ? AND number = ?", name, number)
        total += int(row[ROUNDS.index("counted")])
        for table in ROUND:
            rows = _select(source, table, "round", key)
            _insert(target, table, COLUMNS[table], ((new, *rest) for _, *rest in rows))
    return total


def _select(session: Session, table: str, column: str, value: object) -> list[Row]:
    # In the order of its columns: rows that were written in another order do not pass it on.
    names = ", ".join(COLUMNS[table])
    return session.rows(f"SELECT {names} FROM {table} WHERE {column} = ? ORDER BY {names}", value)


def _insert(session: Session, table: str, columns: tuple[str, ...], rows: Iterable[Row]) -> None:
    # PostgreSQL may give binary values as views.
    plain = (tuple(bytes(one) if isinstance(one, memoryview) else one for one in row) for row in rows)
    session.insert_many(table, columns, plain)
