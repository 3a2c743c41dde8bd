"""One number for one thing: what the README prints is what the pages print, and what the code computes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.protocol.shuffling import stated_epsilon
from ldptrace.protocol.words import explain
from shuffler_kit import KEY

ROOT = Path(__file__).parents[2]
Table = dict[str, dict[str, str]]


def tables(page: str) -> list[Table]:
    """The tables of a page: values by row and column (without the arrow that says whether less or more is better).

    A row without the name of its data has that of the rows above.
    """
    found = []
    text = (ROOT / page).read_text(encoding="utf-8")
    for head, body in re.findall(r"^ *(\|.*\|)\n *\|[-|:]+\|\n((?: *\|.*\|\n)+)", text, re.M):
        columns = [cell.strip(" ↓↑") for cell in head.strip("|").split("|")]
        table: Table = {}
        data = ""
        for line in body.splitlines():
            name, *values = (cell.strip() for cell in line.strip().strip("|").split("|"))
            named = re.match(r"\*\*(.*?)\*\* (.*)", name)
            if named:
                data, name = named[1].rstrip(":"), named[2]
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
    (("README.md", ours), (STREETS, f"Oldenburg, 300,000 users: {theirs}"))
    for ours, theirs in (
        ("ldptrace with the street map", "with the map"),
        ("the street map alone, without reports", "the map alone"),
        ("ldptrace without a map", "without a map"),
    )
]
SAME += [
    ((OWN_DATA, ours), (STREETS, f"city 77, 150,000 users: {theirs}"))
    for ours, theirs in (
        ("150,000 trips, without a map", "without a map"),
        ("150,000 trips, with the street map", "with the map"),
        ("the street map alone, without reports", "the map alone"),
    )
]
SAME += [
    ((STREETS, f"{data} users: {ours}"), (NOTES, f"{data} users: {theirs}"))
    for data in ("Oldenburg, 300,000", "city 77, 150,000", "city 93, 150,000")
    for ours, theirs in (
        ("without a map", "without a map"),
        ("with the map", "with the map"),
        ("the map alone", "the map alone"),
    )
]
ONE_REPORT = "docs/explanation/one-report.md"
SAME += [
    (
        ("README.md", "ldptrace without a map"),
        (ONE_REPORT, "one report per user (`single-report`)"),
    ),
    (
        ("README.md", "the mechanism of the LDPTrace paper, corrected to be private"),
        (ONE_REPORT, "the paper's mechanism, [corrected](published-numbers.md) to be private"),
    ),
    (
        ("README.md", "the mechanism of the LDPTrace paper, corrected to be private"),
        ("docs/how-to/reproduce.md", "LDPTrace, padded"),
    ),
    (
        ("README.md", "printed in Table 3 of the LDPTrace paper (500,000 users)"),
        ("docs/how-to/reproduce.md", "LDPTrace, published"),
    ),
    (
        ("README.md", "printed in Table 3 of the LDPTrace paper (500,000 users)"),
        ("docs/explanation/published-numbers.md", "Table 3 of the paper"),
    ),
]
SAME += [
    (("docs/how-to/stream.md", ours), ("docs/lab/streams.md", theirs))
    for ours, theirs in (
        ("`hidden`, without a map, from tick 250", "hidden, cells, from tick 250"),
        ("`hidden`, with the street map", "hidden, with the map"),
        ("the street map alone, without reports", "the map alone"),
    )
]


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=lambda place: place[1])
def test_a_row_has_the_same_values_wherever_it_stands(ours: tuple[str, str], theirs: tuple[str, str]) -> None:
    here, there = row(*ours), row(*theirs)
    shared = here.keys() & there.keys() - {""}
    assert len(shared) >= {"README.md": 3, OWN_DATA: 3, "docs/how-to/stream.md": 4}.get(ours[0], 8)
    different = {name: (here[name], there[name]) for name in shared if not agree(here[name], there[name])}
    assert not different, f"{ours[0]} and {theirs[0]} differ"


@pytest.mark.parametrize("city", ["city 77", "city 93"])
def test_the_trip_errors_of_the_front_page_are_those_of_the_explanation(city: str) -> None:
    shown = row("README.md", f"generated {city}")
    for name, kind in (
        ("with the street map", "with the map"),
        ("the street map alone", "the map alone"),
        ("without a map", "without a map"),
    ):
        assert agree(shown[name], row(STREETS, f"{city}, 150,000 users: {kind}")["trip"]), name


def test_beliefs_follow_from_epsilon() -> None:
    promised = next(table for table in tables("docs/explanation/epsilon.md") if "0.1" in table)
    assert {"1", "5"} < promised.keys()
    for epsilon, beliefs in promised.items():
        factor = math.exp(float(epsilon))
        for before, column in ((0.5, "from 50 % to at most"), (0.01, "from 1 % to at most")):
            after = 100 * factor * before / (factor * before + 1 - before)
            assert agree(f"{after:.6f}", beliefs[column].strip("% ")), epsilon


COMPARED = "docs/explanation/local-and-central.md"
SETS = ["Oldenburg", "City 77", "City 93", "T-Drive", "GeoLife", "San Francisco"]
METHODS = ("adatrace", "privtrace", "dpt", "single-report", "single-report+map")


@pytest.mark.parametrize("place", SETS)
def test_the_comparison_shows_what_the_lab_notes_have(place: str) -> None:
    notes = (ROOT / "docs/lab/local-and-central.md").read_text(encoding="utf-8")
    section = notes.partition(f"## {place}, ")[2].partition("\n## ")[0]
    heads = [
        cell.strip(" ↓↑") for cell in re.findall(r"^\| method .*$", section, re.M)[0].strip("|").split("|")
    ]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line
    ]
    found = {row[0]: dict(zip(heads, row, strict=True)) for row in rows if row[1] == "1"}
    shown = [table for table in tables(COMPARED) if place in next(iter(table.values()))]
    assert len(shown) == 1
    for method in METHODS:
        name = next(name for name in shown[0] if name.split(" ")[0] == f"`{method}`")
        if shown[0][name][place]:
            assert agree(shown[0][name][place], found[method]["density"].partition(" ")[0]), method


def test_the_example_of_epsilon_is_that_of_the_lab_notes() -> None:
    notes = (ROOT / "docs/lab/local-and-central.md").read_text(encoding="utf-8")
    section = notes.partition("## City 77, ")[2].partition("\n## ")[0]
    text = (ROOT / "docs/explanation/epsilon.md").read_text(encoding="utf-8")
    for line, value in (
        (r"\| single-report \| 1 ", ".074"),
        (r"\| single-report\+map \| 0\.5 ", ".027"),
        (r"\| map-alone ", ".089"),
    ):
        cells = re.findall(f"^{line}.*$", section, re.M)[0].strip("|").split("|")
        assert agree(cells[7].split()[0], value), line
        assert value in text


EXPLANATION = "docs/explanation/shuffled.md"
FEW = 10_000


def facts(users: int, *, shuffled: bool) -> Facts:
    return Facts(users, "1", (0, 0, 20_000, 20_000), shuffled=shuffled)


def error_of(users: int, *, shuffled: bool) -> str:
    """The error of the share of people who cross a cell, in percentage points."""
    plan = facts(users, shuffled=shuffled).plan(KEY.public)
    [found] = re.findall(
        r"^ *visits:.*expected standard error ([.\d]+)", "\n".join(explain(plan, users)), re.M
    )
    return str(100 * float(found))


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_limits_of_the_readme(shuffled: bool) -> None:
    found = row("README.md", "shuffled (`--shuffled`, delta 1e-8)" if shuffled else "direct")
    users = int(found["plan for"].split()[0].replace(",", ""))
    for named, people in ((found["error"], users), (found["with 10,000 users"], FEW)):
        assert agree(error_of(people, shuffled=shuffled), named), people
    if shuffled:
        together = re.findall(r"\d\.\d", found["who must not work together"])
        assert together == [f"{float(facts(people, shuffled=True).budget):.1f}" for people in (users, FEW)]


@pytest.mark.parametrize("n", ["2,000", "10,000", "100,000", "300,000"])
def test_the_table_of_central_epsilons(n: str) -> None:
    for local, shown in row(EXPLANATION, n).items():
        exact = stated_epsilon(int(n.replace(",", "")), float(local.removeprefix("eps0 = ")), 1e-8)
        assert agree(str(exact), shown), local


def test_forged_reports_hide_nobody() -> None:
    text = (ROOT / EXPLANATION).read_text(encoding="utf-8")
    [(half, instead)] = re.findall(
        r"half of 300,000 reports are forged, eps0 5 costs (\S+) instead of (\S+);", text
    )
    [tenth] = re.findall(r"if nine of ten are forged, (\S+)\.\n", text)
    for honest, shown in ((150_000, half), (300_000, instead), (30_000, tenth)):
        assert agree(str(stated_epsilon(honest, 5, 1e-8)), shown), honest
