"""The device of the person at the command line: its trips, its clock and its ledger."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import localtime
from typing import TYPE_CHECKING

from ldptrace.errors import InputError, NothingUsable
from ldptrace.protocol.standing import UNDATED

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.device import Recording


def default_ledger() -> Path:
    """Return the path of the person's ledger, if no other path is given."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "ldptrace" / "ledger.json"


def own_trips(path: Path, format: str | None, crs: str | None) -> tuple[list[Recording], str | None]:
    """Read the person's trajectories and their coordinate system.

    A missing file, or a file that is not a file of trajectories, is an error. A file without a usable trajectory is
    not an error: it means "no trip", which the device answers like any other trip. An error would reveal that there
    is no trip. For the same reason, the coordinate system follows from the format of the file, not from its points.
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
    """The points of one trajectory, with times on the device's own clock. The points are made when they are needed."""

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
    """Convert a time of a file to the local time of this device. Dates are UTC; times of a day are local already.

    >>> own_clock(8.5 * 3600)
    30600.0
    """
    if abs(seconds) < UNDATED:
        return seconds
    try:
        return seconds + localtime(seconds).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        return seconds
