"""What a reader found: the trajectories of a file, and an account of everything that was omitted.

If no column is known to name the users, a column that may name them is suggested but never used by itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core import frames, ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.columns import may_own
from ldptrace.core.crs import WGS84
from ldptrace.core.outside import Crossings
from ldptrace.core.parallel import added
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import read_table
from ldptrace.core.times import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import names_of, split_ids, values_of
from ldptrace.core.words import count, omissions, total
from ldptrace.errors import FormatError, InputError

# Values of a column that are remembered from batch to batch.
REMEMBERED = 4096


@dataclass(frozen=True)
class Owners:
    """Values of columns that may name users, as far as they were read, and the first column that repeats between
    trips.

    >>> (Owners({"taxi": frozenset({1, 2})}) + Owners({"taxi": frozenset({2, 3})})).repeated
    'taxi'
    """

    values: Mapping[str, frozenset[object]] = field(default_factory=dict)
    repeated: str | None = None

    @staticmethod
    def of(trajectories: Trajectories) -> Owners:
        """Look for such columns in trips without a known user."""
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
        """Combine two parts of one source."""
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
        """Return a sentence that suggests a column, or nothing."""
        what = f"column {self.repeated} repeats between trips: does it name users? (--user {self.repeated})"
        return "" if self.repeated is None else what


@dataclass(frozen=True)
class Account:
    """How many rows a file has (points in a long table, trajectories elsewhere), what was kept, and what was omitted
    and why. A reader states what it found; the source, and what was kept, are known in the end.

    >>> account = Account("trips.csv", "csv", 90, 8, 80, {"fewer than 2 points": 1}, {"infinite": 3})
    >>> account.line()
    'trips.csv: 8 trajectories, 80 points; omitted 1 trajectory (fewer than 2 points) and 3 points (infinite)'
    """

    source: str = ""
    format: str = ""
    rows: int = 0
    # Trips (pieces of one trip count once), and points, of what was kept.
    trajectories: int = 0
    points: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_points: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    crossings: Crossings = field(default_factory=Crossings)
    # What looks wrong and was kept, by what it is.
    doubts: Mapping[str, int] = field(default_factory=dict)
    # Trips that had no points before the bounds cut any.
    empty: int = 0
    owners: Owners = field(default_factory=Owners)

    def finished(self, kept: Trajectories, source: str = "", format: str = "") -> Account:
        """Return the account with the numbers of what was kept of a source."""
        empty = int(np.count_nonzero(kept.sizes == 0)) - self.crossings.empty
        return replace(
            self, source=source, format=format, trajectories=kept.trip_count, points=kept.points, empty=empty
        )

    def __add__(self, other: Account) -> Account:
        """Combine the accounts of two parts of one source. A note of both parts appears once."""
        reasons = {
            name: total([getattr(self, name), getattr(other, name)])
            for name in ("dropped", "dropped_points", "doubts")
        }
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        return added(self, other, source=self.source, format=self.format, notes=notes, **reasons)

    def line(self) -> str:
        """Return the account as one line. If most of the data is lost, the line says so first."""
        kept = f"{count(self.trajectories, 'trajectory')}, {count(self.points, 'point')}"
        omitted = omissions((self.dropped, "trajectory"), (self.dropped_points, "point"))
        said = [
            self.mostly_lost(),
            kept,
            f"omitted {' and '.join(omitted)}" if omitted else "",
            f"{count(self.empty, 'trajectory')} without points count{'s' if self.empty == 1 else ''} as no trip"
            if self.empty
            else "",
            self.crossings.sentence,
            *(_counted(number, what) for what, number in self.doubts.items()),
            *self.notes,
            self.owners.hint,
        ]
        return f"{self.source}: {'; '.join(part for part in said if part)}"

    @property
    def is_notable(self) -> bool:
        """Whether trips or points were omitted, left the bounds, or may have users that nobody named."""
        return bool(self.dropped or self.dropped_points or self.crossings.trips or self.owners.repeated)

    @property
    def nothing_left(self) -> bool:
        """Whether there were points, and none of them can be used."""
        if self.crossings.policy == "clamp" and self.crossings.points == self.points > 0:
            return True
        lost = self.dropped or self.dropped_points or self.crossings.trips
        return self.trajectories == 0 or (self.points == 0 and bool(lost))

    def mostly_lost(self) -> str:
        """Return a sentence if more than half of the trips or of the points are lost, otherwise an empty text."""
        crossings = self.crossings
        trips = sum(self.dropped.values()) + crossings.dropped
        empty = crossings.empty
        had = self.trajectories + trips
        if 2 * (trips + empty) > had:
            return f"MOST OF IT IS LOST: {had - trips - empty:,} of {count(had, 'trajectory')} are left"
        points = sum(self.dropped_points.values()) + (crossings.points if crossings.policy == "cut" else 0)
        if 2 * points > self.points + points:
            return f"MOST OF IT IS LOST: {self.points:,} of {count(self.points + points, 'point')} are left"
        return ""

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON, without the values of columns that may name users."""
        return asdict(replace(self, owners=Owners())) | {"owners": self.owners.repeated}


def _counted(number: int, what: str) -> str:
    """Return a number with its noun, which is given in the plural.

    >>> _counted(1, "points at 0,0"), _counted(2, "points at 0,0")
    ('1 point at 0,0', '2 points at 0,0')
    """
    noun, _, rest = what.partition(" ")
    return f"{count(number, noun.removesuffix('s'))} {rest}"


# Trajectories as a format's reader found them, before what cannot be used is omitted.
Parsed = tuple[Trajectories, Account]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors in the block into one sentence that names the file."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{path}: {' '.join(str(error).split())}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{path}: cannot be read: its bytes are no text") from None
    except (pa.ArrowException, EOFError, zlib.error, OSError) as error:
        # Without a number the complaint is not the system's but that of a reader about the content.
        kind = InputError if isinstance(error, OSError) and error.errno else FormatError
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise kind(f"{path}: cannot be read: {reason}") from None


def each(read: Callable[[Path, Reading], Parsed]) -> Callable[[Sequence[Path], Reading], Parsed]:
    """Make a reader of several files from a reader of one file."""

    def read_all(paths: Sequence[Path], reading: Reading) -> Parsed:
        parts = []
        for path in paths:
            with naming(path):
                parts.append(read(path, reading))
        systems = {trajectories.crs or "none" for trajectories, _ in parts}
        if len(systems) > 1:
            named = ", ".join(sorted(systems))
            raise InputError(
                f"{paths[0].parent}: its files name different coordinate systems ({named}), so they are no single set"
            )
        if len(parts) == 1:
            return parts[0]
        trajectories, repeated = unique_ids(Trajectories.concat([part for part, _ in parts]), len(parts))
        account = reduce(Account.__add__, (account for _, account in parts))
        return trajectories, account + Account(notes=repeated)

    return read_all


def unique_ids(trajectories: Trajectories, files: int) -> tuple[Trajectories, tuple[str, ...]]:
    """Remove ids if several files use the same ids, and return a note then."""
    ids = trajectories.ids
    if files == 1 or ids is None or len(np.unique(ids)) == len(ids):
        return trajectories, ()
    return replace(trajectories, ids=None), ("numbered anew, because ids repeat between the files",)


def names_in(rows: Sequence[Mapping[str, Any]]) -> dict[str, None]:
    """Return the names of what any row says, in the order in which they occur first."""
    return dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)


def of_lines(
    points: tuple[Floats, Floats, pa.Array],
    sizes: Sequence[int],
    owners: Sequence[int],
    about: Sequence[Mapping[str, Any]],
    reading: Reading,
    what: str,
    usual: Sequence[str],
) -> Parsed:
    """Read the lines of a document, in degrees: x, y and the times of all their points as texts, and their sizes.

    Each line is a trajectory and belongs to a row of the document (its `owner`), which says something `about` it; all
    lines of a row are one trip. `what` is the word for a row in messages, and ids have one of the `usual` names.
    """
    x, y, moments = points
    # Any row may have some times, so there are times in any case, perhaps all missing.
    times = read_times(pa.chunked_array([moments]), reading.timezone, month_first=reading.month_first)
    ids, extra = _described([about[owner] for owner in owners], reading.names, what, usual)
    trajectories = Trajectories(
        x,
        y,
        ragged.offsets_of(np.array(sizes, dtype=np.int64)),
        t=times.seconds,
        ids=ids,
        crs=WGS84,
        extra=extra,
        user=reading.names.user,
        timezone=reading.timezone,
        trips=ragged.pieces(np.array(owners, dtype=np.int64)),
    )
    return trajectories, Account(rows=len(sizes), notes=times.notes, doubts=_unzoned(times.unzoned, reading))


def _described(
    rows: Sequence[Mapping[str, Any]], names: Names, what: str, usual: Sequence[str]
) -> tuple[Ints | None, pa.Table | None]:
    """Return the ids and further columns, from what a document says of each trajectory.

    The ids are those of the first of the `usual` names that is there, unless another is given. An error says that no
    row, which is called `what`, has a given name.
    """
    known = names_in(rows)
    for option, name in (("id", names.id), ("user", names.user)):
        if name is not None and name not in known:
            raise InputError(f"no {what} has {name!r} for {option}; there are {', '.join(known) or 'none'}")
    columns = {
        name: pa.chunked_array(
            [(names_of if name == names.user else values_of)([row.get(name) for row in rows])]
        )
        for name in known
    }
    ids: Ints | None = None
    for name in (names.id,) if names.id is not None else usual:
        if name in columns:
            ids, texts = split_ids(columns[name], name)
            # Numbers that repeat identify no trajectory: they stay a column.
            if ids is not None and len(np.unique(ids)) < len(ids):
                ids = None
            elif name != names.user:
                columns.pop(name)
            columns |= texts
            break
    return ids, pa.table(columns) if columns else None


def of_table(table: pa.Table, reading: Reading, *, place: str = "row", first: int = 1) -> Parsed:
    """Read the trajectories of a table with one row per point or per trajectory.

    An error message names the `place` (row or line), counted from `first`.
    """
    columns = read_table(
        table,
        names=reading.names,
        timezone=reading.timezone,
        single=reading.single,
        month_first=reading.month_first,
        place=place,
        first=first,
    )
    account = Account(
        rows=table.num_rows,
        dropped_points=total([{"no trajectory id": columns.without_id}]),
        notes=columns.notes,
        doubts=_unzoned(columns.unzoned, reading),
    )
    return Trajectories.from_table(columns, timezone=reading.timezone), account


def _unzoned(times: int, reading: Reading) -> dict[str, int]:
    """Count times without a zone in a column where other times have a zone."""
    what = f"times without a zone, read on the clocks of {reading.timezone or 'UTC'}, beside times with one"
    return {what: times} if times else {}


def in_memory(data: Any, reading: Reading) -> Parsed:
    """Read the trajectories of an object in memory."""
    names = reading.names
    if isinstance(data, Trajectories):
        return data if names.user is None else replace(data, user=names.user), Account(rows=len(data))
    kind = frames.is_frame(data)
    if kind == "GeoDataFrame":
        trajectories = Trajectories.from_geopandas(
            data, t=names.t, id=names.id, user=names.user, timezone=reading.timezone
        )
        return trajectories, Account(rows=len(data))
    if kind in {"TrajectoryCollection", "Trajectory"}:
        trajectories = Trajectories.from_movingpandas(data)
        return trajectories, Account(rows=len(trajectories))
    if kind == "DataFrame":
        table = frames.table_of(data)
    elif isinstance(data, pa.Table | pa.RecordBatch) or hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data)
    else:
        raise InputError(
            "trajectories are needed (Trajectories, a pandas DataFrame, a GeoDataFrame, a movingpandas "
            f"TrajectoryCollection, an Arrow table, or the name of a file), got {type(data).__name__}"
        )
    trajectories, account = of_table(table, reading)
    return replace(trajectories, provenance=frames.promised(data)), account
