"""KML and KMZ: every line and every track (gx:Track) of every placemark is one trajectory."""

from __future__ import annotations

import io
import zipfile
from array import array
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.times import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, described, each, unzoned
from ldptrace.io.text import read_bytes
from ldptrace.io.xml import Document

NAME = "name"
# Bytes of the document of a KMZ at most; a small archive can hold any number of zeros.
LARGEST = 1 << 32


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read lines and tracks. A placemark with other geometries, or none, is a trajectory without points."""
    document = _Kml()
    document.parse(_content(path))
    if not document.x:
        raise NothingUsable("there are no lines in it")
    moments = pa.chunked_array([pa.array(document.moments, pa.string())])
    times = read_times(moments, reading.timezone, month_first=reading.month_first)
    about = [document.about[place] for place in document.owners]
    ids, extra, user = described(about, reading.names, "placemark")
    others = [f"{document.others:,} points and areas are no lines"] if document.others else []
    return Parsed(
        Trajectories(
            np.array(document.x),
            np.array(document.y),
            ragged.offsets_of(np.array(document.sizes, dtype=np.int64)),
            t=times.seconds,
            crs=WGS84,
            ids=ids,
            extra=extra,
            user=user,
            timezone=None if times.seconds is None else reading.timezone,
        ),
        rows=len(document.sizes),
        notes=(*others, *times.notes),
        doubts=unzoned(times.unzoned, reading),
    )


read = each(read_file)


def _content(path: Path) -> bytes:
    """Return the KML document of a file. A KMZ file is an archive that holds the document."""
    data = read_bytes(path)
    if not data.startswith(b"PK\x03\x04"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            inside = [entry for entry in packed.infolist() if entry.filename.lower().endswith(".kml")]
            if not inside:
                raise FormatError("there is no .kml file in this archive")
            if inside[0].file_size > LARGEST:
                raise FormatError(f"its document has {inside[0].file_size:,} bytes, {LARGEST:,} are allowed")
            return packed.read(inside[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"this archive cannot be unpacked: {error}") from None


class _Kml(Document):
    """The columns that are filled while the document is parsed."""

    root = "kml"
    known = ("http://www.google.com/kml/ext/2.2",)

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y = array("d"), array("d")
        self.moments: list[str | None] = []
        # Of every trajectory: its points and its placemark; and of every placemark its name and data.
        self.sizes: list[int] = []
        self.owners: list[int] = []
        self.about: list[dict[str, str]] = [{}]
        self.others = 0
        self._when: list[str] = []
        self._column = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Placemark":
            self.about.append({})
        elif name == "Track":
            self._when = []
            self._begin()
        elif name == "LineString":
            self._begin()
        elif name in {"Data", "SimpleData"}:
            self._column = attributes.get("name", "")
        elif name in {"Point", "Polygon"}:
            self.others += 1

    def end(self, name: str, outer: str) -> None:
        if name == "coordinates" and outer == "LineString":
            for place in self.text.split():
                self._add(place.split(","))
        elif name == "coord" and outer == "Track":
            # A moment without a place is an empty element.
            self._add(self.text.split() or ["nan", "nan"])
        elif name == "when" and outer == "Track":
            self._when.append(self.text)
        elif name == "Track":
            self._times()
        elif name == "Placemark" and (not self.owners or self.owners[-1] != len(self.about) - 1):
            self._begin()
        elif outer == "Placemark" and name == NAME and self.text.strip():
            self.about[-1][NAME] = self.text.strip()
        elif (name == "SimpleData" or (name == "value" and outer == "Data")) and self._column:
            self.about[-1][self._column] = self.text.strip()

    def _begin(self) -> None:
        self.sizes.append(0)
        self.owners.append(len(self.about) - 1)

    def _add(self, place: list[str]) -> None:
        try:
            lon, lat = float(place[0]), float(place[1])
        except (IndexError, ValueError):
            raise NothingUsable(
                f"{self.line()}: a point needs numbers longitude and latitude, got {' '.join(place)[:60]!r}"
            ) from None
        self.x.append(lon)
        self.y.append(lat)
        self.moments.append(None)
        self.sizes[-1] += 1

    def _times(self) -> None:
        """Store the times of a track that has one time per point."""
        size = self.sizes[-1]
        if size and len(self._when) == size:
            self.moments[-size:] = self._when
