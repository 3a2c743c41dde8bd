"""GPX, KML and KMZ, read as a stream of elements. A document that declares entities is refused.

In GPX every segment of every track is one trajectory, and all of a track are one trip. In KML every line and every
track (gx:Track) of every placemark is one trajectory. A track or placemark without any is a trajectory without points.
"""

from __future__ import annotations

import io
import re
import zipfile
from array import array
from functools import partial
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io.account import Account, Parsed, each, of_lines
from ldptrace.io.text import dates, joined_lists, paste, read_bytes, strings, text_writer

HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gpx version="1.1" creator="ldptrace" xmlns="http://www.topografix.com/GPX/1/1">\n'
)
TIME = "time"
# What a track of GPX says of itself, beside its number and its extensions.
SAID = ("name", "cmt", "desc", "src", "type")
# Larger ones are no 64-bit integers.
NUMBER = re.compile(r"\s*\d{1,18}\s*", re.ASCII)
# Bytes of the document of a KMZ at most; a small archive can hold any number of zeros.
LARGEST = 1 << 32


class Tracks:
    """A parser for documents of trajectories in degrees, in one namespace; elements of other namespaces have no name
    here. A subclass defines the name of the `root` and what happens when an element starts and ends; `text` is the
    content of the element, and at its end `local` is its name in any namespace.

    Columns are filled while the document is parsed. Each trajectory belongs to a `row` of the document, which says
    something `about` it.
    """

    root = row = ""
    # What points that belong to no trajectory are, for a note.
    aside = ""
    # Further namespaces whose elements count.
    known: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.x, self.y = array("d"), array("d")
        self.moments: list[str | None] = []
        # Of every trajectory: its points and its row; and of every row what it says.
        self.sizes: list[int] = []
        self.owners: list[int] = []
        self.about: list[dict[str, str | int]] = []
        # Points and areas that belong to no trajectory.
        self.others = 0
        self.text = self.local = ""
        self.inside: list[str] = []
        self._locals: list[str] = []
        self._namespace: str | None = None
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Entities can grow without limit, and no format here needs any.
        self._parser.StartDoctypeDeclHandler = self._refuse

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""

    def end(self, name: str, outer: str) -> None:
        """Handle the end of an element inside another element."""

    def parse(self, data: bytes) -> None:
        """Parse the whole document."""
        try:
            self._parser.Parse(data, True)
        except FormatError:
            raise
        except (LookupError, ValueError) as error:
            raise FormatError(f"line 1: {error}") from None
        except expat.ExpatError as error:
            raise FormatError(
                f"line {error.lineno}: this is not well-formed XML: {expat.ErrorString(error.code)}"
            ) from None

    def _line(self) -> str:
        return f"line {self._parser.CurrentLineNumber}"

    def _refuse(self, *_: object) -> None:
        raise FormatError(
            f"{self._line()}: a document type is declared; {self.root.upper()} files have none, so this one is refused"
        )

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        namespace, _, name = qualified.rpartition(" ")
        if self._namespace is None:
            if name != self.root:
                raise FormatError(f"{self._line()}: expected <{self.root}>, got <{name}>")
            self._namespace = namespace
        # Elements of extensions may have the same names as ours.
        self._locals.append(name)
        name = name if namespace in (self._namespace, *self.known) else ""
        self.inside.append(name)
        self.text = ""
        self.start(name, attributes)

    def _characters(self, text: str) -> None:
        self.text += text

    def _end(self, _: str) -> None:
        name, self.local = self.inside.pop(), self._locals.pop()
        self.end(name, self.inside[-1] if self.inside else "")

    def begin(self) -> None:
        """Begin another trajectory of the present row."""
        self.sizes.append(0)
        self.owners.append(len(self.about) - 1)

    def end_row(self) -> None:
        """End a row. One without a trajectory has one without points."""
        if not self.owners or self.owners[-1] != len(self.about) - 1:
            self.begin()

    def add(self, lon: str | None, lat: str | None, needs: str, given: object) -> None:
        """Add a point to the present trajectory. An error says what a point `needs` and what was given."""
        try:
            x, y = float(lon or ""), float(lat or "")
        except ValueError:
            raise NothingUsable(f"{self._line()}: a point needs numbers {needs}, got {given}") from None
        self.x.append(x)
        self.y.append(y)
        self.moments.append(None)
        self.sizes[-1] += 1

    def parsed(self, reading: Reading, *usual: str) -> Parsed:
        """Return what was found. The ids are those of the first of the `usual` names that is there."""
        points = np.array(self.x), np.array(self.y), pa.array(self.moments, pa.string())
        tracks, account = of_lines(points, self.sizes, self.owners, self.about, reading, self.row, usual)
        notes = (f"{self.others:,} {self.aside}",) if self.others else ()
        return tracks, Account(notes=notes) + account


class _Gpx(Tracks):
    """Tracks, whose times are in the elements `clock` of their points."""

    root, row, aside = "gpx", "track", "points of routes and waypoints are no tracks"

    def __init__(self, clock: str) -> None:
        super().__init__()
        self._clock = clock

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "trkpt" and "trkseg" in self.inside:
            self.add(attributes.get("lon"), attributes.get("lat"), "lat and lon", attributes)
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


class _Kml(Tracks):
    """The lines and tracks of placemarks."""

    root, row, aside = "kml", "placemark", "points and areas are no lines"
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
        elif outer == "Placemark" and name == "name" and self.text.strip():
            self.about[-1][name] = self.text.strip()
        elif (name == "SimpleData" or (name == "value" and outer == "Data")) and self._column:
            self.about[-1][self._column] = self.text.strip()

    def _place(self, place: list[str]) -> None:
        lon, lat, *_ = *place, None, None
        self.add(lon, lat, "longitude and latitude", repr(" ".join(place)[:60]))


@each
def read_gpx(path: Path, reading: Reading) -> Parsed:
    """Read the tracks of a GPX file, with the elements and extensions of each as columns. Routes and waypoints are only
    counted."""
    document = _Gpx(reading.names.t or TIME)
    document.parse(read_bytes(path))
    return document.parsed(reading, *(["number"] if all("number" in row for row in document.about) else []))


@each
def read_kml(path: Path, reading: Reading) -> Parsed:
    """Read lines and tracks. A placemark with other geometries, or none, is a trajectory without points."""
    document = _Kml()
    document.parse(_content(path))
    if not document.x:
        raise NothingUsable("there are no lines in it")
    return document.parsed(reading)


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


gpx_writer = partial(text_writer, texts=_tracks, head=lambda _: HEADER, foot="</gpx>\n")
