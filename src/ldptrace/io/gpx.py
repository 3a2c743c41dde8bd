"""GPX: every segment of every track is one trajectory; a track without segments is one without points."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.times import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.account import Parsed, described, each, unzoned
from ldptrace.io.text import Layout, dates, joined_lists, paste, read_bytes, strings
from ldptrace.io.xml import Document

HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="ldptrace" xmlns="http://www.topografix.com/GPX/1/1">\n'
)
TIME = "time"
# What a track says of itself, beside its number and its extensions.
SAID = ("name", "cmt", "desc", "src", "type")
# Larger ones are no 64-bit integers.
NUMBER = re.compile(r"\s*\d{1,18}\s*", re.ASCII)


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read the tracks of a GPX file, with the elements and extensions of each as columns. Routes and waypoints are only
    counted."""
    document = _Gpx(reading.names.t or TIME)
    document.parse(read_bytes(path))
    times = read_times(
        pa.chunked_array([pa.array(document.moments, pa.string())]),
        reading.timezone,
        month_first=reading.month_first,
    )
    about = [document.about[track] for track in document.owners]
    whole = all("number" in row for row in about)
    ids, extra, user = described(about, reading.names, "track", ("number",) if whole else ())
    others = document.others
    return Parsed(
        Trajectories(
            np.array(document.x),
            np.array(document.y),
            ragged.offsets_of(np.array(document.sizes, dtype=np.int64)),
            t=times.seconds,
            ids=ids,
            crs=WGS84,
            extra=extra,
            user=user,
            timezone=reading.timezone,
        ),
        rows=len(document.sizes),
        notes=((f"{others:,} points of routes and waypoints are no tracks",) if others else ()) + times.notes,
        doubts=unzoned(times.unzoned, reading),
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
    """The columns that are filled while the document is parsed. The times of points are in elements `clock`."""

    root = "gpx"

    def __init__(self, clock: str) -> None:
        super().__init__()
        self.x, self.y = array("d"), array("d")
        self.moments: list[str | None] = []
        # Of every trajectory: its points and its track; and of every track what it says.
        self.sizes: list[int] = []
        self.owners: list[int] = []
        self.about: list[dict[str, str | int]] = []
        self.others = 0
        self._clock = clock
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
            self.moments.append(None)
        elif name == "trk":
            self.about.append({})
            self._segments = len(self.sizes)
        elif name == "trkseg":
            self._segment_start = len(self.x)
        elif name in {"wpt", "rtept"}:
            self.others += 1

    def end(self, name: str, outer: str) -> None:
        extended = "extensions" in self.inside
        if "trkpt" in self.inside:
            # Extensions count only if their element is named.
            if (self.local if extended else name) == self._clock and (
                self._clock != TIME or outer == "trkpt"
            ):
                self.moments[-1] = self.text
        elif name == "number" and outer == "trk":
            if NUMBER.fullmatch(self.text):
                self.about[-1][name] = int(self.text)
        elif name == "trkseg":
            self._add(len(self.x) - self._segment_start)
        elif name == "trk" and len(self.sizes) == self._segments:
            self._add(0)
        elif (name in SAID and outer == "trk") or (extended and "trk" in self.inside and self.text.strip()):
            self.about[-1][self.local] = self.text.strip()

    def _add(self, size: int) -> None:
        self.sizes.append(size)
        self.owners.append(len(self.about) - 1)
