"""Google's location history, as Takeout exports it (`Records.json`) or a phone (`Timeline.json`).

It is the log of one person, to be cut at its gaps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.crs import WGS84
from ldptrace.core.timestamps import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io import timeline
from ldptrace.io.account import Parsed, each
from ldptrace.io.reading import Reading
from ldptrace.io.text import HEAD_BYTES, read_bytes

Json = Any
LAT, LON = "latitudeE7", "longitudeE7"
# Newer exports hold a date, older ones milliseconds as text.
MOMENTS = ("timestamp", "timestampMs")
DEGREE = 1e7
# A history without fixes is one too: a device must not be silent about it.
BEGINNING = re.compile(rb'\s*\{\s*"locations"\s*:')
# Some exports hold negative numbers without their sign.
TURN = 1 << 32


def is_history(data: bytes) -> bool:
    """Whether JSON is a location history, as far as its beginning shows.

    >>> is_history(b'{"locations": [{"latitudeE7": 525163000, "longitudeE7": 133777000}]}')
    True
    """
    head = data[:HEAD_BYTES]
    if timeline.is_timeline(data):
        return True
    return BEGINNING.match(head) is not None or (
        head.lstrip().startswith(b"{") and f'"{LAT}"'.encode() in head
    )


def read_file(path: Path, reading: Reading) -> Parsed:
    """The fixes of the log, in the order of time, as one trajectory."""
    return of_bytes(read_bytes(path), reading)


read = each(read_file)


def of_bytes(data: bytes, reading: Reading) -> Parsed:
    """As `read_file`, from the content of a file."""
    if timeline.is_timeline(data):
        entries: list[Json] = list(timeline.fixes_of(_loaded(data)))
        fixes = [entry for entry in entries if entry is not None]
        if not fixes:
            raise NothingUsable("there are no journeys with places in this timeline")
        y, x = (np.array([fix[axis] for fix in fixes]) for axis in (0, 1))
    else:
        # A log has millions of fixes, each with much that is not needed.
        document = _loaded(data, _fix)
        listed = document.get("locations") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise FormatError(
                'expected a location history {"locations": [{"latitudeE7": ..., "longitudeE7": ...}, ...]}, or a '
                'timeline {"semanticSegments": [...]} or {"timelineObjects": [...]}'
            )
        entries = listed
        fixes = [entry for entry in entries if isinstance(entry, tuple)]
        if not fixes:
            raise NothingUsable(f"there are no fixes with {LAT} and {LON} in it")
        y, x = (_degrees([fix[axis] for fix in fixes], limit) for axis, limit in ((0, 90.0), (1, 180.0)))
    times = read_times(pa.chunked_array([pa.array([fix[2] for fix in fixes], pa.string())]), reading.timezone)
    t, notes = times.seconds, tuple(note for note in times.notes if "milliseconds" not in note)
    if t is not None and np.any(np.diff(t) < 0):
        order = np.argsort(t, kind="stable")
        x, y, t, notes = x[order], y[order], t[order], (*notes, "points sorted by time")
    if not reading.single:
        notes += ("one log is one trajectory; cut it into trips with split_gap (--split-gap)",)
    without = len(entries) - len(fixes)
    return Parsed(
        Trajectories(
            x, y, np.array([0, len(x)]), t=t, crs=WGS84, timezone=None if t is None else reading.timezone
        ),
        rows=len(entries),
        dropped_points={"no latitude and longitude": without} if without else {},
        notes=notes,
    )


def _loaded(data: bytes, hook: Callable[[dict[str, Json]], Json] | None = None) -> Json:
    try:
        return json.loads(data, object_hook=hook)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from None


def _fix(entry: dict[str, Json]) -> Json:
    """A fix as latitude, longitude and time; anything else as it is, but for what is inside a fix."""
    if LAT not in entry or LON not in entry:
        return entry
    moment = next((entry[name] for name in MOMENTS if entry.get(name)), None)
    return entry[LAT], entry[LON], None if moment is None else str(moment)


def _degrees(values: list[Json], limit: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        whole = np.fromiter((np.nan if value is None else value for value in values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NothingUsable(f"a fix needs whole numbers {LAT} and {LON}") from None
    whole[whole > limit * DEGREE] -= TURN
    return whole / DEGREE
