"""A person's own device at the command line: its file of trips, its clock, its ledger."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import localtime
from typing import TYPE_CHECKING

from ldptrace.errors import InputError, NothingUsable
from ldptrace.protocol.standing import UNDATED

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.device import Recording


def default_ledger() -> Path:
    """Where a person's ledger is kept unless another place is given."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "ldptrace" / "ledger.json"


def own_trips(path: Path, format: str | None, crs: str | None) -> tuple[list[Recording], str | None]:
    """The trajectories of the file, and their coordinate system.

    A file that is missing or is not a trajectory file is an error. What its content is, is not: where nothing in it
    can be used, that is no trip, which is answered like every other. Silence would tell, and so would a refusal for
    coordinates that only files with points have: they follow from the kind of the file.
    """
    from ldptrace.io.files import read, stated_crs

    if str(path) == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "stdin")
            copy.write_bytes(sys.stdin.buffer.read())
            return own_trips(copy, format, crs)
    trips: list[Recording] = []
    try:
        found = read(path, format=format, crs=crs)
        trips = [_recording(found, number) for number in range(len(found))]
    except NothingUsable:
        pass
    except InputError:
        raise
    except Exception:  # whatever a reader stumbles over in the content, the device answers
        pass
    return trips, crs or stated_crs(path, format)


def _recording(trips: Trajectories, number: int) -> Recording:
    from ldptrace.device import Recording

    points = _Points(trips, number)
    arrival = None if trips.t is None or not len(points) else float(trips.t[points.stop - 1])
    return Recording(points, arrival)


class _Points:
    """The points of one trajectory, with their times on the device's own clock; made when they are asked for."""

    def __init__(self, trips: Trajectories, number: int) -> None:
        self.trips = trips
        self.start, self.stop = int(trips.offsets[number]), int(trips.offsets[number + 1])

    def __len__(self) -> int:
        return self.stop - self.start

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        part = slice(self.start, self.stop)
        columns = [self.trips.x[part].tolist(), self.trips.y[part].tolist()]
        if self.trips.t is not None:
            columns.append([own_clock(seconds) for seconds in self.trips.t[part].tolist()])
        return zip(*columns, strict=True)


def own_clock(seconds: float) -> float:
    """A time of a file as this device's own clock showed it: dates are UTC, times of a day are local already.

    >>> own_clock(8.5 * 3600)
    30600.0
    """
    if abs(seconds) < UNDATED:
        return seconds
    try:
        return seconds + localtime(seconds).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        return seconds


def moment(option: str, text: str, *, zoned: bool = True) -> float:
    """A moment in Unix time, given as seconds or as a date with its zone; unless `zoned`, UTC where it has none.

    >>> moment("--start", "1970-01-05T00:00Z"), moment("--now", "1700000000"), moment("--at", "1970-01-02", zoned=False)
    (345600.0, 1700000000.0, 86400.0)
    """
    with contextlib.suppress(ValueError):
        if math.isfinite(seconds := float(text)):
            return seconds
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or (zoned and found.tzinfo is None):
        with_zone = " with its zone" if zoned else ""
        raise InputError(
            f"{option} is a moment{with_zone}, such as 2026-11-16T08:00Z, or Unix seconds, got {text!r}"
        )
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
