"""Values of options: those that are plain as typer reads them, all others left to typer."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
import typer

from ldptrace.cli.values import UNUSUAL, plain

OPTION = typer.Option()


class Colour(StrEnum):
    """A choice."""

    red = "red"
    dark_red = "dark-red"


@pytest.mark.parametrize(
    ("annotation", "value", "found"),
    [
        (str, "", ""),
        (bool, True, True),
        (int, "-12", -12),
        (int, 7, 7),
        (float, "0.5", 0.5),
        (float, "1e-3", 0.001),
        (float, 2.0, 2.0),
        (Path, "no/such.csv", Path("no/such.csv")),
        (Colour, "dark-red", Colour.dark_red),
        (Colour, Colour.red, Colour.red),
        (list[str], ("a", "b"), ["a", "b"]),
    ],
)
def test_plain_values_are_read(annotation: Any, value: Any, found: Any) -> None:
    got = plain(annotation, OPTION, value)
    assert got == found
    assert type(got) is type(found)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "1_000"),
        (int, "1.0"),
        (int, " 1"),
        (int, True),
        (float, "nan"),
        (float, "inf"),
        (float, "1,5"),
        (float, 3),
        (bool, "yes"),
        (Colour, "dark_red"),
        (Colour, "Red"),
        (list[int], ("1", "x")),
        (bytes, b"a"),
        (tuple[int, int], ("1", "2")),
    ],
)
def test_all_other_values_are_left_to_typer(annotation: Any, value: Any) -> None:
    assert plain(annotation, OPTION, value) is UNUSUAL


def test_what_typer_was_told_to_check_it_checks() -> None:
    assert plain(int, typer.Option(min=1), "0") is UNUSUAL
    assert plain(float, typer.Option(max=1), "1.5") is UNUSUAL
    assert plain(int, typer.Option(min=1, clamp=True), "3") is UNUSUAL
    assert plain(str, typer.Option(parser=str.upper), "a") is UNUSUAL
    assert plain(Path, typer.Option(exists=True), "a") is UNUSUAL
    assert plain(Path, typer.Option(dir_okay=False), "a") is UNUSUAL


def test_commands_start_without_the_package_that_checks_values(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "from ldptrace.cli import main\n"
        f"sys.argv = ['ldptrace', 'inspect', {str(tmp_path / 'none.csv')!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 2\n"
        "assert 'pydantic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)


def test_wrong_values_are_refused_as_before() -> None:
    command = [
        sys.executable,
        "-c",
        "from ldptrace.cli import main; main()",
        "generate",
        "city",
        "--seed",
        "-1",
    ]
    done = subprocess.run([*command, "-o", "x.csv"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "greater than or equal to 0" in done.stderr
