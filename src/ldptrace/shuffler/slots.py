"""Hold sealed reports so that the bytes on disk do not depend on the order in which the reports came.

The reports of a batch are in a table of slots, of which every one exists from the beginning and has the size of a
report. Where a report stands follows from a keyed hash of its bytes: from its home slot on, reports stand in the order
of their hashes, as in the ordered hash tables of Amble and Knuth (The Computer Journal 17(2), 1974). Such a table is
the same for every order of insertion, and so are the pages of SQLite below it, because a slot is overwritten in place.
The table begins with room for twice the least batch of the plan, which is public, within a bound. When two thirds of
its slots are taken, a table of twice as many is made, for which the devices wait.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator

FIRST = 64
# Bytes of the slots with which a table begins, at most: somebody who sends one report may have them made.
MOST_BYTES = 1 << 30
HASH_BYTES = 8


class Slots:
    """The slots of one batch: `count` reports of `size` bytes in a table with this name, which has `capacity` slots, or
    is not made yet. `salt` is secret, so that nobody can choose where a report stands."""

    def __init__(
        self, connection: sqlite3.Connection, table: str, size: int, salt: bytes, count: int, capacity: int
    ) -> None:
        self._connection = connection
        self._table = table
        self._size = size
        self.salt = salt
        self.count = count
        self.capacity = capacity
        self._empty = bytes(size)

    def make(self, capacity: int = FIRST) -> None:
        """Make the table with empty slots."""
        self.capacity = capacity
        self._connection.execute(
            f"CREATE TABLE {self._table} (place INTEGER PRIMARY KEY, sealed BLOB NOT NULL)"
        )
        self._connection.execute(
            "WITH RECURSIVE places(place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place + 1 < ?) "
            f"INSERT INTO {self._table} SELECT place, zeroblob(?) FROM places",
            (capacity, self._size),
        )

    def add(self, sealed: bytes) -> None:
        """Hold a report, unless it is held already."""
        if full(self.count, self.capacity) and sealed not in self:
            self.grow()
        self.count += self._put(sealed)

    def _put(self, sealed: bytes) -> bool:
        """Write a report to its slot, and return whether it is new."""
        moved, mark = sealed, self._hash(sealed)
        changes: list[tuple[bytes, int]] = []
        for place, stored in self._from_home(mark):
            if stored == moved:
                # Only the report itself can be met: one that was moved stands once.
                return False
            other = self._hash(stored)
            if stored == self._empty or other < mark:
                changes.append((moved, place))
                moved, mark = stored, other
        self._connection.executemany(f"UPDATE {self._table} SET sealed = ? WHERE place = ?", changes)
        return True

    def __contains__(self, sealed: bytes) -> bool:
        mark = self._hash(sealed)
        for _, stored in self._from_home(mark) if self.capacity else ():
            if stored == sealed:
                return True
            if self._hash(stored) < mark:
                return False
        return False

    def grow(self) -> None:
        """Move all reports to a table with twice as many slots."""
        old = f"{self._table}_old"
        self._connection.execute(f"ALTER TABLE {self._table} RENAME TO {old}")
        self.make(2 * self.capacity)
        for (sealed,) in self._connection.execute(
            f"SELECT sealed FROM {old} WHERE sealed <> ?", (self._empty,)
        ):
            self._put(sealed)
        self._connection.execute(f"DROP TABLE {old}")

    def places(self) -> list[int]:
        """Return the slots that are taken."""
        rows = self._connection.execute(f"SELECT place FROM {self._table} WHERE sealed <> ?", (self._empty,))
        return [place for (place,) in rows]

    def at(self, place: int) -> bytes:
        """Return the content of a slot."""
        [(sealed,)] = self._connection.execute(f"SELECT sealed FROM {self._table} WHERE place = ?", (place,))
        return bytes(sealed)

    def _from_home(self, mark: int) -> Iterator[tuple[int, bytes]]:
        """Yield the slots from the home of this hash up to the first empty one, with their contents."""
        place = mark % self.capacity
        while (stored := self.at(place)) != self._empty:
            yield place, stored
            place = (place + 1) % self.capacity
        yield place, stored

    def _hash(self, sealed: bytes) -> int:
        return int.from_bytes(hashlib.blake2b(sealed, digest_size=HASH_BYTES, key=self.salt).digest(), "big")


def room(batch: int, size: int) -> int:
    """Return the first number of slots in the table of a batch: room for twice the least number of reports, up to
    `MOST_BYTES`.

    >>> room(2, 121), room(10_000, 121), room(800_000, 224), room(10_000_000, 121)
    (64, 30000, 2400000, 8873899)
    """
    return max(FIRST, min(3 * batch, MOST_BYTES // size))


def full(count: int, capacity: int) -> bool:
    """Whether a table with this many reports must grow before the next one.

    >>> full(41, 64), full(42, 64)
    (False, True)
    """
    return 3 * (count + 1) > 2 * capacity
