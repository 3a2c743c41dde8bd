"""Old spellings of options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ldptrace.cli import application, spelling


def test_a_present_name_is_left_as_it_is() -> None:
    assert spelling.current("count") == "count"


@pytest.mark.parametrize("old", spelling.OLD)
def test_an_old_name_warns(old: str) -> None:
    with pytest.warns(FutureWarning, match=f"--{old} is now --{spelling.OLD[old]}"):
        assert spelling.current(old) == spelling.OLD[old]


@pytest.mark.slow
def test_old_options_do_what_new_ones_do(tmp_path: Path) -> None:
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    words = ["generate", "campus", "--seed", "1"]
    done = CliRunner().invoke(
        application(), [*words, "--count", "3", "--out", str(new)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    with pytest.warns(FutureWarning):
        done = CliRunner().invoke(application(), [*words, "--trajectories", "3", f"--output={old}"])
    assert done.exit_code == 0, done.output
    assert old.read_bytes() == new.read_bytes()


def options(command: Any) -> Iterator[str]:
    """The names of all options of a command and of those below it."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from options(command.get_command(None, name))
    for option in command.params:
        yield from option.opts


@pytest.mark.slow
def test_no_command_declares_an_old_name() -> None:
    declared = set(options(typer.main.get_command(application())))
    assert "--out" in declared
    assert not declared & {f"--{old}" for old in spelling.OLD}
