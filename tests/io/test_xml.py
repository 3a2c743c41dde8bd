from __future__ import annotations

import pytest

from ldptrace.errors import FormatError
from ldptrace.io.xml import Tracks


class Elements(Tracks):
    root = "doc"
    known = ("more",)

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str, str]] = []

    def end(self, name: str, outer: str) -> None:
        self.seen.append((name, outer, self.text))


def test_elements_of_other_namespaces_have_no_name() -> None:
    document = Elements()
    document.parse(b'<doc xmlns="own" xmlns:m="more" xmlns:o="other"><a>1</a><m:b>2</m:b><o:a>3</o:a></doc>')
    assert document.seen == [("a", "doc", "1"), ("b", "doc", "2"), ("", "doc", "3"), ("doc", "", "3")]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<other/>", "line 1: expected <doc>, got <other>"),
        ("<doc>\n<a></doc>", "line 2: this is not well-formed XML: mismatched tag"),
        ("<!DOCTYPE doc []><doc/>", "a document type is declared; DOC files have none"),
        ('<?xml version="1.0" encoding="klingon"?><doc/>', "line 1: "),
    ],
)
def test_what_is_refused(text: str, match: str) -> None:
    with pytest.raises(FormatError, match=match):
        Elements().parse(text.encode())
