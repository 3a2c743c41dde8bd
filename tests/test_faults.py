"""The faults still fit the source; whether the tests notice them is what `make mutants` tries."""

from __future__ import annotations

from pathlib import Path

from mutants.faults import FAULTS

ROOT = Path(__file__).parents[1]


def test_every_fault_is_in_one_place_of_its_file() -> None:
    outdated = [fault.name for fault in FAULTS if (ROOT / fault.file).read_text().count(fault.old) != 1]
    assert outdated == []
    assert all(fault.old != fault.new for fault in FAULTS)


def test_the_tests_that_are_named_exist() -> None:
    named = {part for fault in FAULTS for part in fault.tests.split() if part.startswith("tests/")}
    assert [part for part in sorted(named) if not (ROOT / part.split("::")[0]).exists()] == []
