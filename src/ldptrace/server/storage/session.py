"""One transaction: statements with `?` for parameters, and the SQL expressions in which databases differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

Row = tuple[Any, ...]


class Session(ABC):
    """One transaction."""

    # Appended to a SELECT whose rows must not change until the transaction ends.
    for_update: str

    @abstractmethod
    def rows(self, sql: str, *parameters: Any) -> list[Row]:
        """Return the rows of a SELECT."""

    @abstractmethod
    def run(self, sql: str, *parameters: Any) -> int:
        """Run a statement, and return the number of changed rows."""

    @abstractmethod
    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for every row of parameters."""

    @abstractmethod
    def known_ids(self, round_key: int, ids: Sequence[bytes]) -> list[bytes]:
        """Return which of these report ids are in the table `ids`."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether there is a table with this name."""

    def row(self, sql: str, *parameters: Any) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, *parameters)
        return found[0] if found else None
