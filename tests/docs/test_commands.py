"""The reference of commands against what `--help` prints, command by command, option by option."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ldptrace import methods
from ldptrace.cli import application
from ldptrace.streams.settings import method_names as stream_names
from site_kit import hooks

pytest.importorskip("mkdocs")

OPTION = re.compile(r"--[a-z][a-z-]*")


def reference() -> dict[str, dict[str, str]]:
    """The long options of each command on the page, with their texts."""
    page, groups = hooks().commands().split("## Options that several commands share\n")
    parts = re.split(r"^### (.+)$", groups, flags=re.M)
    shared = {
        f"[{title}](#{title.lower().replace(' ', '-')})": rows(text)
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    parts = re.split(r"^## `ldptrace ([^`]+)`$", page, flags=re.M)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        found[name] = rows(text)
        for link, names in re.findall(r"^\| (\[.+\)) \| (.+) \|$", text, re.M):
            found[name] |= {option: shared[link][option] for option in OPTION.findall(names)}
    return found


def rows(text: str) -> dict[str, str]:
    """The long options of a table, with their texts."""
    lines = re.findall(r"^\| `(.+?)` \| (.+) \|$", text, re.M)
    return {option: shown.replace("\\|", "|") for names, shown in lines for option in OPTION.findall(names)}


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands that do something, such as `campaign create`, by name."""
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for sub in command.list_commands(None):
        yield from commands(command.get_command(None, sub), f"{name} {sub}".strip())


def test_every_option_that_a_help_text_names_is_one_of_its_command() -> None:
    app = typer.main.get_command(application())
    options = {name: {word for one in it.params for word in one.opts} for name, it in commands(app)}
    for name, command in commands(app):
        for text in (command.help, *(getattr(one, "help", "") for one in command.params)):
            # `fit --roads` is an option of another command.
            elsewhere = re.findall(r"`([a-z]+) (--[a-z-]+)`", text or "")
            assert all(word in options[other] for other, word in elsewhere), (name, text)
            here = set(OPTION.findall(re.sub(r"`[^`]*`", "", text or "")))
            assert here <= options[name], (name, text)


@pytest.mark.parametrize(("name", "found"), [("synthesize", methods.names), ("stream", stream_names)])
def test_method_names_and_completes_every_method(name: str, found: Callable[[], list[str]]) -> None:
    app = application()
    command = dict(commands(typer.main.get_command(app)))[name]
    (text,) = [option.help for option in command.params if "--method" in option.opts]
    assert all(re.search(rf"\b{method}\b", text) for method in found()), text
    asked = {
        "_LDPTRACE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"ldptrace {name} --method ",
        "COMP_CWORD": "3",
    }
    completed = CliRunner().invoke(app, [], prog_name="ldptrace", env=asked)
    assert completed.output.split() == found()


@pytest.mark.slow
def test_every_option_has_the_help_of_its_command_on_the_page() -> None:
    shown = reference()
    for name, command in commands(typer.main.get_command(application())):
        context = command.make_context(name, [], resilient_parsing=True)
        for option in command.params:
            record = option.get_help_record(context)
            if record is not None and record[0].startswith("-"):
                text = " ".join(record[1].split())
                assert {shown[name].get(word) for word in OPTION.findall(record[0])} == {text}, (name, record)


@pytest.mark.slow
def test_every_command_and_every_option_of_the_help_is_on_the_page() -> None:
    app, shown = application(), reference()
    for name, _ in commands(typer.main.get_command(app)):
        help_text = (
            CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "300"}, color=False).output
        )
        # Names of options are the first words of a line of the table.
        lines = re.findall(r"^│[ *]*((?:--?[a-z-]+\s+)+)", help_text, re.M)
        options = {option for line in lines for option in OPTION.findall(line)} - {"--help"}
        assert set(shown[name]) == options, name
        assert not re.search(r"<\w*_\w*>", help_text), f"{name} shows a name of the code as a type"
