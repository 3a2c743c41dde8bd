"""The device of the person at the command line: its trips, its clock and its ledger."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ldptrace.device.files import own_clock
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.device import Recording


def default_ledger() -> Path:
    """Return the path of the person's ledger, if no other path is given."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "ldptrace" / "ledger.json"


def own_trips(path: Path, format: str | None, crs: str | None) -> tuple[list[Recording], str | None]:
    """Read the person's trajectories and their coordinate system, GPX and GeoJSON as `ldptrace-device` does.

    A file that does not exist and a format that is not known from the name or from `format` are errors. The content of
    a file is never an error: a file that is broken, or that has no usable trajectory, means "no trip", which the device
    answers like any other trip. An error would be silence, and silence would reveal that there is no trip. For the same
    reason, the coordinate system follows from the format of the file, not from its points.
    """
    from ldptrace.io.formats import FORMATS, named, of_path

    if format is not None:
        named(format)
    if str(path) == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "stdin")
            copy.write_bytes(sys.stdin.buffer.read())
            return _read(copy, format, crs)
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if format is None and of_path(path) is None and path.is_file() and path.suffix.lower() != ".zip":
        raise InputError(
            f"{path}: the format is not known from the name; give it with --format as one of {', '.join(FORMATS)}"
        )
    return _read(path, format, crs)


def _read(path: Path, format: str | None, crs: str | None) -> tuple[list[Recording], str | None]:
    from ldptrace.device.files import trips_of
    from ldptrace.io.files import read, stated_crs
    from ldptrace.io.formats import files_of

    try:
        with files_of(path, format) as (kind, files):
            if kind.name in ("gpx", "geojson") and len(files) == 1 and files[0].suffix != ".gz":
                trips = trips_of(files[0].read_bytes(), gpx=kind.name == "gpx")
                return list(trips.recordings), crs or trips.crs
        found = read(path, format=format, crs=crs)
        return [_recording(found, number) for number in range(len(found))], crs or stated_crs(path, format)
    except OSError:
        raise
    except Exception:  # anything that a reader meets in the content, the device answers
        return [], crs or _stated(path, format)


def _stated(path: Path, format: str | None) -> str | None:
    """Return the coordinate system that a file states, or None if it is too broken to state one."""
    from ldptrace.io.files import stated_crs

    try:
        return stated_crs(path, format)
    except InputError:
        return None


def _recording(trips: Trajectories, number: int) -> Recording:
    """Return one trajectory with times on the device's own clock, and when it arrived."""
    from ldptrace.device import Recording

    part = slice(int(trips.offsets[number]), int(trips.offsets[number + 1]))
    x, y = trips.x[part].tolist(), trips.y[part].tolist()
    if trips.t is None:
        return Recording(list(zip(x, y, strict=True)), None)
    t = trips.t[part].tolist()
    arrival = None if not t or math.isnan(t[-1]) else t[-1]
    return Recording(list(zip(x, y, map(own_clock, t), strict=True)), arrival)
