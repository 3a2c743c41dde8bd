"""The storage of a shuffler: plans, batches of sealed reports, and one-time codes, in one SQLite file.

It keeps no address, no time, and no order of arrival. A batch is open while its window is; then it is fixed, and sent
until the curator has acknowledged it; or it is deleted, if it is too small. Each method is one transaction.

A file that was set back, such as a restored backup, knows nothing of what was sent since. It is recognised by its
witness, which each fixed batch replaces. Then no batch whose window had begun is ever sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ldptrace.core.atomic import make_folder
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.slots import Slots, room
from ldptrace.shuffler.witness import Witness
from ldptrace.web.problems import ServerProblem, StorageUnavailable, not_found

FILE = "shuffler.sqlite"
VERSION = "1"
# Seconds that a transaction waits for another process.
PATIENCE = 20.0
# Reports that are read in one transaction while a batch is sent.
CHUNK = 2_000
CODE_BYTES = 16
MAX_CODES = 1_000_000
_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `begins`: windows that had begun at this time are not served, because the file was set back since.
    "CREATE TABLE plans (id TEXT PRIMARY KEY, document TEXT NOT NULL, campaign TEXT NOT NULL, token TEXT NOT NULL, "
    "admission INTEGER NOT NULL, begins INTEGER)",
    # One row for each batch that has had a report, for ever: a window that was closed is never opened again.
    "CREATE TABLE batches (plan TEXT NOT NULL, label INTEGER NOT NULL, state TEXT NOT NULL, reports INTEGER NOT NULL, "
    "capacity INTEGER NOT NULL, salt BLOB NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (plan, label)) WITHOUT ROWID",
    # `used` is 0 or 1, which SQLite overwrites in place: deleting rows would show the order in which codes were used.
    "CREATE TABLE codes (plan TEXT NOT NULL, label INTEGER NOT NULL, hash BLOB NOT NULL, used INTEGER NOT NULL, "
    "PRIMARY KEY (plan, label, hash)) WITHOUT ROWID",
)
# States of a batch: it takes reports; it is fixed and is being sent; it was acknowledged. Or it was deleted, because it
# was too small or the file was set back, and the curator has yet to learn of it, or knows.
OPEN, FIXED, SENT, DELETED, KNOWN = "open", "fixed", "sent", "deleted", "known"


@dataclass(frozen=True)
class Sealed:
    """A sealed report as it arrives: its bytes, its window, and its code if it has one."""

    body: bytes
    window: int
    code: str = ""


@dataclass(frozen=True)
class Batch:
    """A batch without its reports."""

    plan: str
    window: int
    state: str
    reports: int
    answer: str


class Store:
    """The storage in the folder `data`, which is made if it is missing. One process takes and sends reports. `witness`
    is the folder of its witness from now on; it stays the same if there is none."""

    def __init__(
        self, data: str | os.PathLike[str], clock: Callable[[], float], witness: Path | None = None
    ) -> None:
        self.path = Path(data) / FILE
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        make_folder(self.path.parent, 0o700)
        self.witness = Witness(self.path.parent, apart=False)
        if not self.path.exists() and not self.witness.is_missing():
            raise InputError(
                f"the storage {self.path} is missing: restore it from a backup, or begin in another folder"
            )
        with self._transaction() as session:
            old = self._prepare(session, witness)
        if old is not None:
            old.remove()

    def take(self, plan: str, arrivals: Sequence[Sealed]) -> list[int]:
        """Hold sealed reports of a plan, and return for each 0 or the number of its problem."""
        with self._transaction() as session:
            served, now = _served(session, plan), self._clock()
            windows = {one.window for one in arrivals}
            taking = {window: _Taking(session, served, window, now) for window in windows}
            codes = [taking[one.window].take(one) for one in arrivals]
            for batch in taking.values():
                batch.keep()
            return codes

    def close_due(self) -> list[Batch]:
        """Fix the batches whose windows have closed, or delete them if they are too small; return them."""
        with self._reading() as session:
            due = [(one, _served(session, one.plan)) for one in _batches(session, OPEN)]
        closed = []
        for batch, served in due:
            if self._clock() >= served.span(batch.window)[1]:
                with self._transaction() as session:
                    if not self._agrees(session, self.witness):
                        self._leave_behind(session)
                        return []
                    closed.append(_close(session, batch, served))
                    _note(session, announced=_meta(session)["announced"] or secrets.token_hex(8))
        with self._transaction() as session:
            if announced := _meta(session)["announced"]:
                self._renew(session, announced)
        return closed

    def unsent(self) -> list[tuple[Batch, Served]]:
        """Return the batches that the curator has yet to acknowledge, and those of whose deletion it has to learn."""
        with self._reading() as session:
            if _meta(session)["announced"]:
                # A copy from before the batches were fixed would not be recognised yet.
                return []
            return [(one, _served(session, one.plan)) for one in _batches(session, FIXED, DELETED)]

    def reports(self, batch: Batch) -> Iterator[bytes]:
        """Return the reports of a fixed batch in an order that is drawn each time, in pieces of several."""
        with self._reading() as session:
            served = _served(session, batch.plan)
            places = _slots(session, served, batch.window)[1].places()
        secrets.SystemRandom().shuffle(places)
        for start in range(0, len(places), CHUNK):
            with self._reading() as session:
                slots = _slots(session, served, batch.window)[1]
                piece = b"".join(map(slots.at, places[start : start + CHUNK]))
            # Devices do not wait until the curator has read it.
            yield piece

    def acknowledged(self, batch: Batch, answer: str) -> None:
        """Delete the reports of a batch that the curator has, and keep its answer."""
        with self._transaction() as session:
            if batch.state == FIXED:
                _drop(session, batch)
            state = SENT if batch.state == FIXED else KNOWN
            session.execute(
                "UPDATE batches SET state = ?, answer = ? WHERE plan = ? AND label = ?",
                (state, answer, batch.plan, batch.window),
            )

    def add_plan(self, plan: Plan, campaign: str, token: str, *, admission: bool) -> None:
        """Serve one more plan, or change where the batches of a plan go."""
        Served.of(plan)
        with self._transaction() as session:
            session.execute(
                "INSERT INTO plans (id, document, campaign, token, admission) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET campaign = excluded.campaign, token = excluded.token, "
                "admission = max(admission, excluded.admission)",
                (plan.id, plan.to_json(), campaign, token, admission),
            )

    def make_codes(self, plan: str, windows: Sequence[int], people: int) -> list[list[str]]:
        """Make one-time codes, for each person one for each window; each begins with the number of its window. From
        then on, the plan's reports need codes."""
        if not 1 <= people * len(windows) <= MAX_CODES:
            raise InputError(
                f"from 1 to {MAX_CODES:,} codes can be made at once, got {people * len(windows):,}"
            )
        texts = [[_code(window) for window in windows] for _ in range(people)]
        with self._transaction() as session:
            held = session.execute(
                "SELECT sum(reports) FROM batches WHERE plan = ? AND state = ?", (plan, OPEN)
            )
            if not _served(session, plan).admission and held.fetchone()[0]:
                raise InputError(
                    "the shuffler holds reports of this plan that came without codes: it is too late"
                )
            session.execute("UPDATE plans SET admission = 1 WHERE id = ?", (plan,))
            rows = sorted((w, code_hash(text)) for row in texts for w, text in zip(windows, row, strict=True))
            session.executemany("INSERT INTO codes VALUES (?, ?, ?, 0)", ((plan, *row) for row in rows))
        return texts

    def plans(self) -> list[Served]:
        """Return the plans that are served."""
        with self._reading() as session:
            rows = session.execute("SELECT id FROM plans ORDER BY id").fetchall()
            return [_served(session, plan) for (plan,) in rows]

    def plan(self, number: str) -> Served:
        """Return the plan with this id."""
        with self._reading() as session:
            return _served(session, number)

    def batches(self) -> list[Batch]:
        """Return all batches, of each plan in the order of the windows."""
        with self._reading() as session:
            return _batches(session)

    def backup(self, path: Path) -> None:
        """Copy the storage to a new file, without the reports of open batches, which a copy never sends."""
        with self._lock, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as copy:
            os.chmod(path, 0o600)
            self._opened().backup(copy)
            _prepared(copy)
            for batch in _batches(copy, OPEN):
                _drop(copy, batch)
            _note(copy, mark="", announced="")
            copy.execute("VACUUM")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _prepare(self, session: sqlite3.Connection, folder: Path | None) -> Witness | None:
        """Make the tables of a new file, leave behind what a file that was set back must not send, and return the
        witness that is no longer needed."""
        if not session.execute("SELECT 1 FROM sqlite_master").fetchall():
            for statement in _TABLES:
                session.execute(statement)
            _note(session, version=VERSION, apart="")
            self._renew(session)
        meta, here = _meta(session), self.witness
        if meta.get("version") != VERSION:
            raise StorageUnavailable(f"the database {self.path} is not that of a shuffler of this version")
        old = Witness(Path(meta["apart"]), apart=True) if meta["apart"] else here
        self.witness = old
        if folder is not None and folder.resolve() != old.folder.resolve():
            self.witness = (
                here if folder.resolve() == here.folder.resolve() else Witness(folder.resolve(), apart=True)
            )
            if not self.witness.is_missing():
                raise InputError(
                    f"{folder} has the witness of another shuffler: give each a folder of its own"
                )
            _note(session, apart="" if self.witness is here else str(self.witness.folder))
        is_new = self.witness is not old
        try:
            was_set_back = not self._agrees(session, old)
        except StorageUnavailable:
            if not is_new:
                raise
            was_set_back = True
        if was_set_back:
            self._leave_behind(session)
        elif is_new:
            self._renew(session)
        return old if is_new else None

    def _agrees(self, session: sqlite3.Connection, witness: Witness) -> bool:
        """Whether the storage is the one that has sent what was sent."""
        meta = _meta(session)
        return witness.agrees(meta["mark"], meta["announced"])

    def _leave_behind(self, session: sqlite3.Connection) -> None:
        """Delete the open batches of a storage that was set back, and take no reports of windows that have begun."""
        for batch in _batches(session, OPEN):
            _drop(session, batch)
        session.execute("UPDATE batches SET state = ? WHERE state = ?", (DELETED, OPEN))
        session.execute("UPDATE plans SET begins = max(coalesce(begins, 0), ?)", (int(self._clock()) + 1,))
        self._renew(session)

    def _renew(self, session: sqlite3.Connection, token: str = "") -> None:
        _note(session, mark=self.witness.renew(token or secrets.token_hex(8)), announced="")

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            _prepared(self._connection)
        return self._connection

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._opened()
                connection.execute(begin)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    self.close()
                raise StorageUnavailable(f"the database {self.path} cannot be used: {error}") from error

    def _reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN")


class _Taking:
    """A batch that takes reports within a transaction; without slots as long as it has had none."""

    def __init__(self, session: sqlite3.Connection, served: Served, window: int, now: float) -> None:
        self._session, self._served, self._key = session, served, (served.plan.id, window)
        state, self._slots = _slots(session, served, window)
        # A window that was closed is not opened again, whatever the clock shows.
        self._open = served.open(window, now) and state == OPEN

    def take(self, one: Sealed) -> int:
        """Hold one report, or return the number of its problem. One that is held already has none."""
        slots, served = self._slots, self._served
        # Every sealed report begins with an uncompressed point, byte 04; an empty slot does not.
        if len(one.body) != served.size or one.body[0] != 4:
            return Problem.WRONG_SIZE.number
        if not self._open:
            return Problem.WRONG_WINDOW.number
        if slots.count >= served.most and one.body not in slots:
            return ServerProblem.CAMPAIGN_FULL.number
        if served.admission and one.body not in slots and not self._uses(one.code):
            return ServerProblem.NOT_ADMITTED.number
        if slots.capacity == 0:
            slots.make(room(served.shuffled.batch, served.size))
            self._session.execute(
                "INSERT INTO batches VALUES (?, ?, ?, 0, ?, ?, '')",
                (*self._key, OPEN, slots.capacity, slots.salt),
            )
        slots.add(one.body)
        return 0

    def _uses(self, code: str) -> bool:
        """Use up a code, and return whether it was unused."""
        used = self._session.execute(
            "UPDATE codes SET used = 1 WHERE plan = ? AND label = ? AND hash = ? AND used = 0",
            (*self._key, code_hash(code)),
        )
        return used.rowcount == 1

    def keep(self) -> None:
        """Write the new numbers."""
        if not self._open:
            return
        self._session.execute(
            "UPDATE batches SET reports = ?, capacity = ? WHERE plan = ? AND label = ?",
            (self._slots.count, self._slots.capacity, *self._key),
        )


def _code(window: int) -> str:
    """Draw a code that shows which window it is for."""
    return ("" if window == NO_WINDOW else f"{window}-") + secrets.token_hex(CODE_BYTES)


def code_hash(text: str) -> bytes:
    """Return the hash of a code, which is stored in its place."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _meta(session: sqlite3.Connection) -> dict[str, str]:
    return dict(session.execute("SELECT key, value FROM meta").fetchall())


def _note(session: sqlite3.Connection, **values: str) -> None:
    session.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def _close(session: sqlite3.Connection, batch: Batch, served: Served) -> Batch:
    """Fix a batch with enough reports, or delete it, and delete its codes."""
    enough = batch.reports >= served.shuffled.batch
    if not enough:
        _drop(session, batch)
    state = FIXED if enough else DELETED
    session.execute(
        "UPDATE batches SET state = ? WHERE plan = ? AND label = ? AND state = ?",
        (state, batch.plan, batch.window, OPEN),
    )
    session.execute("DELETE FROM codes WHERE plan = ? AND label = ?", (batch.plan, batch.window))
    return Batch(batch.plan, batch.window, state, batch.reports, "")


def _drop(session: sqlite3.Connection, batch: Batch) -> None:
    session.execute(f"DROP TABLE IF EXISTS {_table(batch.plan, batch.window)}")


def _slots(session: sqlite3.Connection, served: Served, window: int) -> tuple[str, Slots]:
    """Return the state of a batch and its slots; of one that has had no report, open and not made yet."""
    known = session.execute(
        "SELECT state, salt, reports, capacity FROM batches WHERE plan = ? AND label = ?",
        (served.plan.id, window),
    ).fetchone()
    state, *row = known or (OPEN, secrets.token_bytes(32), 0, 0)
    return state, Slots(session, _table(served.plan.id, window), served.size, *row)


def _batches(session: sqlite3.Connection, *states: str) -> list[Batch]:
    """Return the batches in these states, or all."""
    which = f"WHERE state IN ({', '.join('?' * len(states))})" if states else ""
    cursor = session.execute(
        f"SELECT plan, label, state, reports, answer FROM batches {which} ORDER BY plan, label", states
    )
    return [Batch(*row) for row in cursor.fetchall()]


def _served(session: sqlite3.Connection, number: str) -> Served:
    row = session.execute(
        "SELECT document, campaign, token, admission, begins FROM plans WHERE id = ?", (number,)
    ).fetchone()
    if row is None:
        raise not_found(f"the shuffler does not serve a plan {number[:80]!r}")
    document, campaign, token, admission, begins = row
    return Served(_plan(document), campaign, token, bool(admission), begins)


def _table(plan: str, window: int) -> str:
    """Return the name of the table of a batch; ids are hexadecimal digits."""
    return f"held_{plan}" if window == NO_WINDOW else f"held_{plan}_{window}"


def _prepared(connection: sqlite3.Connection) -> None:
    # No write-ahead log, because it would keep the order of the last commits.
    for pragma in ("journal_mode=TRUNCATE", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


@lru_cache(maxsize=256)
def _plan(document: str) -> Plan:
    return Plan.from_json(document)
