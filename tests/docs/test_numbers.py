"""One number for one thing: what the README prints is what the pages that explain it print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Table = dict[str, dict[str, str]]


def tables(page: str) -> list[Table]:
    """The tables of a page: values by row and column (without the arrow that says whether less or more is better).

    A row without the name of its data has that of the rows above.
    """
    found = []
    text = (ROOT / page).read_text(encoding="utf-8")
    for head, body in re.findall(r"^(\|.*\|)\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.M):
        columns = [cell.strip(" ↓↑") for cell in head.strip("|").split("|")]
        table: Table = {}
        data = ""
        for line in body.splitlines():
            name, *values = (cell.strip() for cell in line.strip("|").split("|"))
            named = re.match(r"\*\*(.*?)\*\* (.*)", name)
            if named:
                data, name = named.groups()
            name = f"{data}: {name}" if data else name.strip("*")
            bare = (re.sub(r" ?±.*", "", value).strip("*") for value in values)
            table[name] = dict(zip(columns[1:], bare, strict=True))
        found.append(table)
    return found


def row(page: str, name: str) -> dict[str, str]:
    """The first row of this name."""
    return next(table[name] for table in tables(page) if name in table)


def agree(one: str, other: str) -> bool:
    """Whether two numbers are the same, to the digits that the coarser one prints."""
    digits = min(len(value.partition(".")[2]) for value in (one, other))
    return abs(float(one) - float(other)) < 0.51 * 10**-digits


STREETS, NOTES = "docs/explanation/streets.md", "docs/lab/streets.md"
OWN_DATA = "docs/start/own-data.md"
SAME = [
    (("README.md", ours), (STREETS, f"Oldenburg, 300,000: {theirs}"))
    for ours, theirs in (
        ("ldptrace, with the street map", "with the map"),
        ("the street map alone, no reports", "the map alone"),
        ("ldptrace, no map", "no map"),
    )
]
SAME += [
    ((OWN_DATA, ours), (STREETS, f"city 77, 150,000: {theirs}"))
    for ours, theirs in (
        ("150,000 trips, no map", "no map"),
        ("150,000 trips, with the street map", "with the map"),
        ("the street map alone, no reports", "the map alone"),
    )
]
SAME += [
    ((STREETS, f"{data}: {ours}"), (NOTES, f"{data}: {theirs}"))
    for data in ("Oldenburg, 300,000", "city 77, 150,000", "city 93, 150,000")
    for ours, theirs in (
        ("no map", "without"),
        ("with the map", "with the map"),
        ("the map alone", "the map alone"),
    )
]
SAME += [
    (("README.md", "the paper's mechanism, made private"), ("docs/how-to/reproduce.md", "LDPTrace, padded")),
    (
        ("README.md", "the paper's printed table (500,000 users)"),
        ("docs/how-to/reproduce.md", "LDPTrace, published"),
    ),
    (
        ("README.md", "the paper's printed table (500,000 users)"),
        ("docs/explanation/published-numbers.md", "Table 3 of the paper"),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=lambda place: place[1])
def test_a_row_has_the_same_values_wherever_it_stands(ours: tuple[str, str], theirs: tuple[str, str]) -> None:
    here, there = row(*ours), row(*theirs)
    shared = here.keys() & there.keys() - {""}
    assert len(shared) >= (3 if ours[0] in ("README.md", OWN_DATA) else 8)
    different = {name: (here[name], there[name]) for name in shared if not agree(here[name], there[name])}
    assert not different, f"{ours[0]} and {theirs[0]} differ"


@pytest.mark.parametrize("city", ["city 77", "city 93"])
def test_the_trip_errors_of_the_front_page_are_those_of_the_explanation(city: str) -> None:
    shown = row("README.md", city)
    for name, kind in (
        ("the map alone", "the map alone"),
        ("reports alone", "no map"),
        ("map and reports", "with the map"),
    ):
        assert agree(shown[name], row(STREETS, f"{city}, 150,000: {kind}")["trip"]), name
