"""Store the ids of counted reports, so that no report is counted twice, in an order that reveals nothing.

The ids of a commit are written as one sorted list (`fresh`). After some commits the lists are folded into one; when
that is long, its ids go to the table `ids`, which is ordered by id. So lookups need little memory, and a commit writes
few bytes. The disk shows only the order of the last few commits, until the round is closed and all ids are rewritten in
sorted order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ldptrace.protocol.reports import ID_BYTES
from ldptrace.server.storage import Database, Session

# Lists in `fresh` that are folded into one; ids in `fresh` that move to `ids`.
FOLD = 64
SETTLE = 1 << 15
# Ids that are rewritten or deleted in one transaction.
SLICE = 1 << 13


class SeenIds:
    """The ids of one round, as cached by this process. After a failed transaction, make a new one."""

    def __init__(self, round_key: int) -> None:
        self.round_key = round_key
        self._generation = -1
        self._groups = 0
        self._fresh: set[bytes] = set()

    def known(self, session: Session, ids: list[bytes], groups: int, generation: int) -> set[bytes]:
        """Return which of these ids were counted. The row of the round is locked and has these two numbers."""
        if generation != self._generation:
            self._generation, self._groups, self._fresh = generation, 0, set()
        if groups > self._groups:
            for (text,) in session.rows(
                "SELECT ids FROM fresh WHERE round = ? AND number > ?", self.round_key, self._groups
            ):
                self._fresh.update(split(text))
            self._groups = groups
        known = {one for one in ids if one in self._fresh}
        known.update(session.known_ids(self.round_key, [one for one in ids if one not in known]))
        return known

    def add(self, session: Session, ids: list[bytes]) -> tuple[int, int]:
        """Store the ids of one commit, and return the new numbers for the row of the round. Call `known` first."""
        self._groups += 1
        session.insert("fresh", round=self.round_key, number=self._groups, ids=b"".join(sorted(ids)))
        self._fresh.update(ids)
        if len(self._fresh) >= SETTLE:
            settle(session, self.round_key, self._fresh)
            self._generation, self._groups, self._fresh = self._generation + 1, 0, set()
        elif self._groups >= FOLD:
            session.run("DELETE FROM fresh WHERE round = ?", self.round_key)
            session.insert("fresh", round=self.round_key, number=1, ids=b"".join(sorted(self._fresh)))
            self._generation, self._groups = self._generation + 1, 1
        return self._groups, self._generation


def settle(session: Session, round_key: int, ids: Iterable[bytes]) -> None:
    """Move these fresh ids of a round to the table that is ordered by id."""
    session.insert_many("ids", ("round", "id"), ((round_key, one) for one in sorted(ids)))
    session.run("DELETE FROM fresh WHERE round = ?", round_key)


def settle_all(session: Session, round_key: int) -> None:
    """Move all ids of a round that is being closed from `fresh` to `ids`. The row of the round is locked."""
    lists = session.rows("SELECT ids FROM fresh WHERE round = ?", round_key)
    settle(session, round_key, [one for (text,) in lists for one in split(text)])
    session.run("UPDATE rounds SET groups = 0, generation = generation + 1 WHERE key = ?", round_key)


def erase(database: Database, rounds: Sequence[tuple[int, int]], *, keep: bool = False) -> None:
    """Delete the ids of rounds that accept no more reports, each a key and a number of reports. With `keep`, write them
    again in sorted order, so that their position on disk reveals nothing."""
    between = "round = ? AND id >= ? AND id <= ?"
    for key, counted in rounds:
        for low, high in _slices(counted):
            with database.writing() as session:
                select = f"SELECT round, id FROM ids WHERE {between} ORDER BY id"
                rows = session.rows(select, key, low, high) if keep else []
                session.run(f"DELETE FROM ids WHERE {between}", key, low, high)
                session.insert_many("ids", ("round", "id"), rows)
    database.tidy()


def _slices(counted: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield ranges with a few thousand ids each, one per transaction, so that other campaigns can count in between.

    >>> [low.hex() for low, _ in _slices(20_000)]
    ['00', '40', '80', 'c0']
    """
    step = 256
    while step > 1 and counted * step > 256 * SLICE:
        step //= 2
    for first in range(0, 256, step):
        yield bytes([first]), bytes([first + step - 1]) + b"\xff" * ID_BYTES


def split(text: bytes) -> Iterator[bytes]:
    """Split a list of bytes into ids."""
    return (bytes(text[at : at + ID_BYTES]) for at in range(0, len(text), ID_BYTES))
