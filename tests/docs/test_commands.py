"""The reference of commands against what `--help` prints, command by command, option by option."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ldptrace.cli import application

pytest.importorskip("mkdocs")

HOOKS = Path(__file__).parents[2] / "docs" / "hooks.py"
OPTION = re.compile(r"--[a-z][a-z-]*")


def reference() -> dict[str, set[str]]:
    """The long options of each command on the page."""
    spec = importlib.util.spec_from_file_location("hooks", HOOKS)
    assert spec is not None
    assert spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    parts = re.split(r"^## `ldptrace ([^`]+)`$", hooks.commands(), flags=re.M)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        rows = re.findall(r"^\| `([^`]+)`", text, re.M)
        found[name] = {option for row in rows for option in OPTION.findall(row)}
    return found


def commands(command: Any, name: str = "") -> Iterator[str]:
    """The names of all commands that do something, such as `campaign create`."""
    if not hasattr(command, "list_commands"):
        yield name
        return
    for sub in command.list_commands(None):
        yield from commands(command.get_command(None, sub), f"{name} {sub}".strip())


@pytest.mark.slow
def test_every_command_and_every_option_of_the_help_is_on_the_page() -> None:
    app, shown = application(), reference()
    for name in commands(typer.main.get_command(app)):
        help_text = (
            CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "300"}, color=False).output
        )
        # Names of options are the first words of a line of the table.
        rows = re.findall(r"^│[ *]*((?:--?[a-z-]+\s+)+)", help_text, re.M)
        options = {option for row in rows for option in OPTION.findall(row)} - {"--help"}
        assert shown[name] == options, name
