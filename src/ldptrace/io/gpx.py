"""GPX: every segment of every track is one trajectory; a track without segments is one without points."""

from __future__ import annotations

import re
from array import array
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import Layout, dates, joined_lists, paste, read_bytes, strings
from ldptrace.io.xml import Document

HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="ldptrace" xmlns="http://www.topografix.com/GPX/1/1">\n'
)
# Larger ones are no 64-bit integers.
NUMBER = re.compile(r"\s*\d{1,18}\s*", re.ASCII)


def read_file(path: Path, _: Reading) -> Parsed:
    """Read the tracks of a GPX file. Routes and waypoints are only counted."""
    document = _Gpx()
    document.parse(read_bytes(path))
    sizes = np.array(document.sizes, dtype=np.int64)
    t = np.array(document.t)
    numbers = np.array(document.numbers, dtype=np.int64)
    known = len(numbers) == len(np.unique(numbers)) and bool(np.all(numbers >= 0))
    others = document.others
    return Parsed(
        Trajectories(
            np.array(document.x),
            np.array(document.y),
            ragged.offsets_of(sizes),
            t=t,
            ids=numbers if known else None,
            crs=WGS84,
        ),
        rows=len(sizes),
        notes=(f"{others:,} points of routes and waypoints are no tracks",) if others else (),
    )


read = each(read_file)


def _tracks(trajectories: Trajectories) -> pa.LargeStringArray:
    """Write one track with one segment per trajectory. The format has no place for further columns."""
    if not trajectories.is_geographic:
        raise InputError(
            f"GPX holds longitude and latitude, and the coordinate system here is "
            f"{trajectories.crs or 'not known'}; give crs EPSG:4326 if these are degrees"
        )
    pieces = ['<trkpt lat="', strings(trajectories.y), '" lon="', strings(trajectories.x)]
    if trajectories.t is None:
        pieces += ['"/>\n']
    else:
        pieces += ['"><time>', dates(trajectories.t, "GPX"), "Z</time></trkpt>\n"]
    points = joined_lists(trajectories.offsets, paste(*pieces), "")
    ids = trajectories.numbers
    numbered = ["<trk><number>", strings(ids), "</number>"] if np.all(ids >= 0) else ["<trk>"]
    return paste(*numbered, "<trkseg>\n", points, "</trkseg></trk>\n")


writer = Layout(_tracks, lambda _: HEADER, foot="</gpx>\n").writer


class _Gpx(Document):
    """The columns that are filled while the document is parsed."""

    root = "gpx"

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y, self.t = array("d"), array("d"), array("d")
        self.sizes: list[int] = []
        self.numbers: list[int] = []
        self.others = 0
        self._number = -1
        self._segment_start = self._segments = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "trkpt":
            try:
                lon, lat = float(attributes["lon"]), float(attributes["lat"])
            except (KeyError, ValueError):
                raise NothingUsable(
                    f"{self.line()}: a point needs numbers lat and lon, got {attributes}"
                ) from None
            self.x.append(lon)
            self.y.append(lat)
            self.t.append(float("nan"))
        elif name == "trk":
            self._number, self._segments = -1, len(self.sizes)
        elif name == "trkseg":
            self._segment_start = len(self.x)
        elif name in {"wpt", "rtept"}:
            self.others += 1

    def end(self, name: str, outer: str) -> None:
        if name == "time" and outer == "trkpt":
            self.t[-1] = _epoch(self.text)
        elif name == "number" and outer == "trk" and NUMBER.fullmatch(self.text):
            self._number = int(self.text)
        elif name == "trkseg":
            self._add(len(self.x) - self._segment_start)
        elif name == "trk" and len(self.sizes) == self._segments:
            self._add(0)

    def _add(self, size: int) -> None:
        self.sizes.append(size)
        self.numbers.append(self._number)


def _epoch(text: str) -> float:
    """Return the seconds since 1970 of a date, or NaN if the date cannot be read."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return float("nan")
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
