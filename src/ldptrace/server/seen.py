"""Ids of counted reports, so that none is counted twice, in an order that tells nothing.

The ids of a commit are written as one sorted list (`fresh`). After some commits the lists are folded into
one; when that is long, its ids go to the table `ids`, which is ordered by id. So lookups need no memory that
grows, a commit writes a few bytes instead of one page for each id, and what is on the disk tells the order of
arrival of the last few commits only, until the round is closed and every id rewritten in the order of ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ldptrace.protocol.reports import ID_BYTES
from ldptrace.server.storage import Database, Session

# Lists in `fresh` that are folded into one; ids in `fresh` that move to `ids`.
FOLD = 64
SETTLE = 1 << 15
# Ids that are rewritten or deleted in one transaction.
SLICE = 1 << 13


class SeenIds:
    """The ids of one round, as this process knows them. Call `forget` when a transaction failed."""

    def __init__(self, round_key: int) -> None:
        self.round_key = round_key
        self.forget()

    def forget(self) -> None:
        """Read again what is in the database."""
        self._generation = -1
        self._groups = 0
        self._fresh: set[bytes] = set()

    def known(self, session: Session, ids: list[bytes], groups: int, generation: int) -> set[bytes]:
        """Which of these ids were counted; the round's row is locked and has these two numbers."""
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
        """Write the ids of one commit; the new numbers for the round's row. `known` came before."""
        self._groups += 1
        session.run(
            "INSERT INTO fresh (round, number, ids) VALUES (?, ?, ?)",
            self.round_key,
            self._groups,
            b"".join(sorted(ids)),
        )
        self._fresh.update(ids)
        if len(self._fresh) >= SETTLE:
            settle(session, self.round_key, self._fresh)
            self._generation, self._groups, self._fresh = self._generation + 1, 0, set()
        elif self._groups >= FOLD:
            session.run("DELETE FROM fresh WHERE round = ?", self.round_key)
            session.run(
                "INSERT INTO fresh (round, number, ids) VALUES (?, 1, ?)",
                self.round_key,
                b"".join(sorted(self._fresh)),
            )
            self._generation, self._groups = self._generation + 1, 1
        return self._groups, self._generation


def settle(session: Session, round_key: int, ids: Iterable[bytes]) -> None:
    """Move all fresh ids of a round, which these are, to the table that is ordered by id."""
    session.run_many("INSERT INTO ids (round, id) VALUES (?, ?)", ((round_key, one) for one in sorted(ids)))
    session.run("DELETE FROM fresh WHERE round = ?", round_key)


def settle_all(session: Session, round_key: int) -> None:
    """The same for a round that is being closed; its row is locked."""
    lists = session.rows("SELECT ids FROM fresh WHERE round = ?", round_key)
    settle(session, round_key, [one for (text,) in lists for one in split(text)])
    session.run("UPDATE rounds SET groups = 0, generation = generation + 1 WHERE key = ?", round_key)


def rewrite(database: Database, round_key: int, counted: int) -> None:
    """Write the ids of a closed round anew, in their order: where they lie tells nothing any more."""
    for low, high in _slices(counted):
        with database.writing() as session:
            found = session.rows(f"SELECT id FROM ids WHERE {_BETWEEN} ORDER BY id", round_key, low, high)
            session.run(f"DELETE FROM ids WHERE {_BETWEEN}", round_key, low, high)
            session.run_many(
                "INSERT INTO ids (round, id) VALUES (?, ?)", ((round_key, one) for (one,) in found)
            )


def erase(database: Database, round_key: int, counted: int) -> None:
    """Delete the ids of a round whose reports can never come again."""
    for low, high in _slices(counted):
        with database.writing() as session:
            session.run(f"DELETE FROM ids WHERE {_BETWEEN}", round_key, low, high)


_BETWEEN = "round = ? AND id >= ? AND id <= ?"


def _slices(counted: int) -> Iterator[tuple[bytes, bytes]]:
    """Ranges of ids with a few thousand in each, one transaction's work: other campaigns go on counting between.

    >>> [low.hex() for low, _ in _slices(20_000)]
    ['00', '40', '80', 'c0']
    """
    step = 256
    while step > 1 and counted * step > 256 * SLICE:
        step //= 2
    for first in range(0, 256, step):
        yield bytes([first]), bytes([first + step - 1]) + b"\xff" * ID_BYTES


def split(text: bytes) -> Iterator[bytes]:
    """The ids in a list."""
    return (bytes(text[at : at + ID_BYTES]) for at in range(0, len(text), ID_BYTES))
