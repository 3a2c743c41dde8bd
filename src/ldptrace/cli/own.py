"""The device of the person at the command line: its trips, its clock and its ledger."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldptrace.core.reading import Reading
from ldptrace.device.files import OwnTrips, own_clock, trips_of
from ldptrace.device.track import Recording
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories


def default_ledger() -> Path:
    """Return the path of the person's ledger, if no other path is given."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "ldptrace" / "ledger.json"


def own_trips(path: Path, reading: Reading) -> OwnTrips:
    """Read the person's trajectories, GPX and GeoJSON as `ldptrace-device` does.

    A file that does not exist and a format that is not known from the name or from `format` are errors. The content of
    a file is never an error: a file that is broken, or that has no usable trajectory, means "no trip", which the device
    answers like any other trip. An error would be silence, and silence would reveal that there is no trip. For the same
    reason, the coordinate system follows from the format of the file, not from its points.
    """
    from ldptrace.io.formats import FORMATS, named, of_path

    format = reading.format
    if format is not None:
        named(format)
    if str(path) == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "stdin")
            copy.write_bytes(sys.stdin.buffer.read())
            return _read(copy, reading)
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if format is None and of_path(path) is None and path.is_file() and path.suffix.lower() != ".zip":
        raise InputError(
            f"{path}: the format is not known from the name; give it with --format as one of {', '.join(FORMATS)}"
        )
    return _read(path, reading)


def _read(path: Path, reading: Reading) -> OwnTrips:
    from ldptrace.io.files import read, stated_crs
    from ldptrace.io.formats import files_of

    format, crs = reading.format, reading.crs
    plain = replace(reading, format=None, crs=None) == Reading()
    try:
        with files_of(path, format) as (kind, files):
            if plain and kind.name in ("gpx", "geojson") and len(files) == 1 and files[0].suffix != ".gz":
                trips = trips_of(files[0].read_bytes(), gpx=kind.name == "gpx")
                return trips.changed(crs=crs or trips.crs)
        options = {name: getattr(reading, name) for name in ("timezone", "month_first")}
        found = read(path, format=format, crs=crs, **asdict(reading.names), **options)
        recordings = tuple(_recording(found, number) for number in range(len(found)))
        return OwnTrips(recordings, crs or stated_crs(path, format), found.timezone)
    except OSError:
        raise
    except Exception as error:  # anything that a reader meets in the content, the device answers
        with suppress(InputError):
            crs = crs or stated_crs(path, format)
        return OwnTrips((), crs, reason=str(error))


def _recording(trips: Trajectories, number: int) -> Recording:
    """Return one trajectory with times on the clocks of its zone, or on the device's own clock, and when it arrived."""
    from ldptrace.core.times import to_local

    part = slice(int(trips.offsets[number]), int(trips.offsets[number + 1]))
    x, y = trips.x[part].tolist(), trips.y[part].tolist()
    if trips.t is None:
        return Recording(list(zip(x, y, strict=True)), None)
    t = trips.t[part].tolist()
    arrival = None if not t or math.isnan(t[-1]) else t[-1]
    zone = trips.timezone
    clock = [own_clock(seconds) for seconds in t] if zone is None else to_local(trips.t[part], zone).tolist()
    return Recording(list(zip(x, y, clock, strict=True)), arrival)
