"""XML files read as a stream of elements. A document that declares entities is refused."""

from __future__ import annotations

from xml.parsers import expat

from ldptrace.errors import FormatError


class Document:
    """A parser for documents of one namespace; elements of other namespaces have no name here. A subclass defines the
    name of the `root` and what happens when an element starts and ends; `text` is the content of the element, and at
    its end `local` is its name in any namespace.
    """

    root = ""
    # Further namespaces whose elements count.
    known: tuple[str, ...] = ()

    def __init__(self) -> None:
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
