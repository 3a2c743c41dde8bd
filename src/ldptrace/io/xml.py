"""XML files read as a stream of elements. A document that declares entities is refused."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.times import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.io.account import Parsed, described, unzoned


class Tracks:
    """A parser for documents of trajectories in degrees, in one namespace; elements of other namespaces have no name
    here. A subclass defines the name of the `root` and what happens when an element starts and ends; `text` is the
    content of the element, and at its end `local` is its name in any namespace.

    Columns are filled while the document is parsed. Each trajectory belongs to a `row` of the document, which says
    something `about` it.
    """

    root = row = ""
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

    def line(self) -> str:
        """Return the place of the parser in the document, for messages."""
        return f"line {self._parser.CurrentLineNumber}"

    def _refuse(self, *_: object) -> None:
        raise FormatError(
            f"{self.line()}: a document type is declared; {self.root.upper()} files have none, so this one is refused"
        )

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        namespace, _, name = qualified.rpartition(" ")
        if self._namespace is None:
            if name != self.root:
                raise FormatError(f"{self.line()}: expected <{self.root}>, got <{name}>")
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

    def add(self, lon: str, lat: str) -> None:
        """Add a point to the present trajectory. A `ValueError` says that the texts are no numbers."""
        x, y = float(lon), float(lat)
        self.x.append(x)
        self.y.append(y)
        self.moments.append(None)
        self.sizes[-1] += 1

    def parsed(self, reading: Reading, others: str, usual: Sequence[str] = ()) -> Parsed:
        """Return what was found. The ids are those of the first of the `usual` names that is there, and `others` says
        in a note what the other points are."""
        moments = pa.chunked_array([pa.array(self.moments, pa.string())])
        times = read_times(moments, reading.timezone, month_first=reading.month_first)
        ids, extra, user = described([self.about[row] for row in self.owners], reading.names, self.row, usual)
        notes = (f"{self.others:,} {others}",) if self.others else ()
        return Parsed(
            Trajectories(
                np.array(self.x),
                np.array(self.y),
                ragged.offsets_of(np.array(self.sizes, dtype=np.int64)),
                t=times.seconds,
                ids=ids,
                crs=WGS84,
                extra=extra,
                user=user,
                timezone=reading.timezone,
                trips=ragged.pieces(np.array(self.owners, dtype=np.int64)),
            ),
            rows=len(self.sizes),
            notes=(*notes, *times.notes),
            doubts=unzoned(times.unzoned, reading),
        )
