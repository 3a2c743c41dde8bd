"""What a reader found: the trajectories of a file, and an account of every row that was left out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.columns import Names
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError


@dataclass(frozen=True)
class Reading:
    """What the user said about a file: names of columns, the zone of its clocks, one log or many trips."""

    names: Names = field(default_factory=Names)
    timezone: str | None = None
    single: bool = False


@dataclass(frozen=True)
class Parsed:
    """Trajectories as a format's reader found them, before rows that cannot be used are left out.

    `rows` counts the rows of the file: points in a long table, trajectories elsewhere.
    """

    trajectories: Trajectories
    rows: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_points: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    # Points that were moved to the border of the bounds, and trajectories that had some.
    clamped: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def concat(parts: Sequence[Parsed]) -> Parsed:
        """One file after the other; identifiers that repeat between files are left away."""
        trajectories, repeated = unique_ids(
            Trajectories.concat([part.trajectories for part in parts]), len(parts)
        )
        return Parsed(
            trajectories,
            sum(part.rows for part in parts),
            total([part.dropped for part in parts]),
            total([part.dropped_points for part in parts]),
            tuple(dict.fromkeys([*(note for part in parts for note in part.notes), *repeated])),
        )


@dataclass(frozen=True)
class ReadReport:
    """How many rows a file has, what was kept, and what was left out and why.

    >>> report = ReadReport("trips.csv", "csv", 90, 8, 80, {"leaves the bounds": 1}, {"infinite": 3})
    >>> report.line()
    'trips.csv: 8 trajectories, 80 points; left out 1 trajectory (leaves the bounds) and 3 points (infinite)'
    """

    source: str
    format: str
    rows: int
    trajectories: int
    points: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_points: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    clamped: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: ReadReport) -> ReadReport:
        """Of two parts of one source; what both say is said once."""
        return ReadReport(
            self.source,
            self.format,
            self.rows + other.rows,
            self.trajectories + other.trajectories,
            self.points + other.points,
            total([self.dropped, other.dropped]),
            total([self.dropped_points, other.dropped_points]),
            tuple(dict.fromkeys(self.notes + other.notes)),
            total([self.clamped, other.clamped]),
        )

    def line(self) -> str:
        """One line for a person."""
        kept = f"{count(self.trajectories, 'trajectory')}, {count(self.points, 'point')}"
        left_out = self.left_out()
        moved = " of ".join(count(number, noun) for noun, number in self.clamped.items())
        said = [f"left out {' and '.join(left_out)}" if left_out else "", *self.notes]
        parts = [kept, *said, f"clamped {moved}" if moved else ""]
        parts = [part for part in parts if part]
        return f"{self.source}: {'; '.join(parts)}"

    def left_out(self) -> list[str]:
        """What was left out, with the reasons, in words."""
        return [
            f"{count(sum(reasons.values()), noun)} ({by_reason(reasons)})"
            for reasons, noun in ((self.dropped, "trajectory"), (self.dropped_points, "point"))
            if reasons
        ]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return asdict(self)


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "trajectory"), count(2000, "trajectory"), count(0, "point")
    ('1 trajectory', '2,000 trajectories', '0 points')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def by_reason(reasons: Mapping[str, int]) -> str:
    """Reasons with their counts; a single one needs none."""
    if len(reasons) == 1:
        return next(iter(reasons))
    return ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())


def total(parts: list[Mapping[str, int]]) -> dict[str, int]:
    """Counts by reason, added up; reasons that never occurred are left away."""
    summed: dict[str, int] = {}
    for part in parts:
        for reason, number in part.items():
            if number:
                summed[reason] = summed.get(reason, 0) + number
    return summed


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Whatever goes wrong in the block is said with the name of the file, in one sentence."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{path}: {' '.join(str(error).split())}") from None
    except (pa.ArrowException, UnicodeDecodeError, EOFError, zlib.error, OSError) as error:
        # Without a number the complaint is not the system's but that of a reader about the content.
        kind = InputError if isinstance(error, OSError) and error.errno else FormatError
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise kind(f"{path}: cannot be read: {reason}") from None


def each(read: Callable[[Path, Reading], Parsed]) -> Callable[[Sequence[Path], Reading], Parsed]:
    """A reader of several files from a reader of one."""

    def read_all(paths: Sequence[Path], reading: Reading) -> Parsed:
        parts = []
        for path in paths:
            with naming(path):
                parts.append(read(path, reading))
        return parts[0] if len(parts) == 1 else Parsed.concat(parts)

    return read_all


def unique_ids(trajectories: Trajectories, files: int) -> tuple[Trajectories, list[str]]:
    """Without ids where several files use the same ones, and a note that says so."""
    ids = trajectories.ids
    if files == 1 or ids is None or len(np.unique(ids)) == len(ids):
        return trajectories, []
    return replace(trajectories, ids=None), ["numbered anew, because ids repeat between the files"]
