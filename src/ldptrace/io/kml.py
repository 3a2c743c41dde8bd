"""KML and KMZ: every line and every track (gx:Track) of every placemark is one trajectory."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from ldptrace.core.reading import Reading
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import read_bytes
from ldptrace.io.xml import Tracks

NAME = "name"
# Bytes of the document of a KMZ at most; a small archive can hold any number of zeros.
LARGEST = 1 << 32


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read lines and tracks. A placemark with other geometries, or none, is a trajectory without points."""
    document = _Kml()
    document.parse(_content(path))
    if not document.x:
        raise NothingUsable("there are no lines in it")
    return document.parsed(reading, "points and areas are no lines")


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


class _Kml(Tracks):
    """The lines and tracks of placemarks."""

    root, row = "kml", "placemark"
    known = ("http://www.google.com/kml/ext/2.2",)

    def __init__(self) -> None:
        super().__init__()
        # What lines outside of placemarks say.
        self.about.append({})
        self._when: list[str] = []
        self._column = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Placemark":
            self.about.append({})
        elif name in {"Track", "LineString"}:
            self._when = []
            self.begin()
        elif name in {"Data", "SimpleData"}:
            self._column = attributes.get("name", "")
        elif name in {"Point", "Polygon"}:
            self.others += 1

    def end(self, name: str, outer: str) -> None:
        if name == "coordinates" and outer == "LineString":
            for place in self.text.split():
                self._place(place.split(","))
        elif name == "coord" and outer == "Track":
            # A moment without a place is an empty element.
            self._place(self.text.split() or ["nan", "nan"])
        elif name == "when" and outer == "Track":
            self._when.append(self.text)
        elif name == "Track":
            # Times count if there is one for each point.
            if len(self._when) == self.sizes[-1] > 0:
                self.moments[-self.sizes[-1] :] = self._when
        elif name == "Placemark":
            self.end_row()
        elif outer == "Placemark" and name == NAME and self.text.strip():
            self.about[-1][NAME] = self.text.strip()
        elif (name == "SimpleData" or (name == "value" and outer == "Data")) and self._column:
            self.about[-1][self._column] = self.text.strip()

    def _place(self, place: list[str]) -> None:
        try:
            self.add(place[0], place[1])
        except (IndexError, ValueError):
            raise NothingUsable(
                f"{self.line()}: a point needs numbers longitude and latitude, got {' '.join(place)[:60]!r}"
            ) from None
