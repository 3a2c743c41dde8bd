"""GPX: every segment of every track is one trajectory, and all of a track are one trip; a track without segments is a
trajectory without points."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import dates, joined_lists, paste, read_bytes, strings, text_writer
from ldptrace.io.xml import Tracks

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
    whole = all("number" in row for row in document.about)
    return document.parsed(
        reading, "points of routes and waypoints are no tracks", ("number",) if whole else ()
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


writer = partial(text_writer, texts=_tracks, head=lambda _: HEADER, foot="</gpx>\n")


class _Gpx(Tracks):
    """Tracks, whose times are in the elements `clock` of their points."""

    root, row = "gpx", "track"

    def __init__(self, clock: str) -> None:
        super().__init__()
        self._clock = clock

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "trkpt" and "trkseg" in self.inside:
            try:
                self.add(attributes["lon"], attributes["lat"])
            except (KeyError, ValueError):
                raise NothingUsable(
                    f"{self.line()}: a point needs numbers lat and lon, got {attributes}"
                ) from None
        elif name == "trk":
            self.about.append({})
        elif name == "trkseg":
            self.begin()
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
        elif name == "trk":
            self.end_row()
        elif (name in SAID and outer == "trk") or (extended and "trk" in self.inside and self.text.strip()):
            self.about[-1][self.local] = self.text.strip()
