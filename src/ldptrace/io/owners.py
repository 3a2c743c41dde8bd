"""A column that may say whose trips they are: suggested where nobody named one, never taken by guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ldptrace.core.columns import may_own
from ldptrace.core.trajectories import Trajectories

# Values of a column that are remembered from batch to batch.
REMEMBERED = 4096


@dataclass(frozen=True)
class Owners:
    """What the columns that may name users hold, as far as it was read; the first that repeats between trips.

    >>> (Owners({"taxi": frozenset({1, 2})}) + Owners({"taxi": frozenset({2, 3})})).repeated
    'taxi'
    """

    values: Mapping[str, frozenset[object]] = field(default_factory=dict)
    repeated: str | None = None

    @staticmethod
    def of(trajectories: Trajectories) -> Owners:
        """Of trips of which nothing says whose they are."""
        if trajectories.user is not None or trajectories.extra is None:
            return Owners()
        values: dict[str, frozenset[object]] = {}
        for name in filter(may_own, trajectories.extra.column_names):
            column = trajectories.extra[name].drop_null()
            different = column.unique()
            if len(different) < len(column):
                return Owners(repeated=name)
            values[name] = frozenset(different[:REMEMBERED].to_pylist())
        return Owners(values)

    def __add__(self, other: Owners) -> Owners:
        """Of two parts of one source."""
        shared = (name for name in self.values if self.values[name] & other.values.get(name, frozenset()))
        repeated = self.repeated or other.repeated or next(shared, None)
        if repeated is not None:
            return Owners(repeated=repeated)
        full = {name for name, values in self.values.items() if len(values) >= REMEMBERED}
        return Owners(
            {
                name: self.values.get(name, frozenset())
                | (frozenset() if name in full else other.values.get(name, frozenset()))
                for name in (*self.values, *other.values)
            }
        )

    @property
    def hint(self) -> str:
        """What to say of it."""
        name = self.repeated
        return (
            ""
            if name is None
            else f"column {name} repeats between trips: does it name users? (--user {name})"
        )
