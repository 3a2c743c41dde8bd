"""The command line as it was typed: old spellings of options, and what is wrong with it in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import typer

# The error behind all errors of a command line; typer names only some of its children.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
# What typer calls the values of options, and what people call them; the longer ones first.
KINDS = {
    "int range": "a whole number",
    "integer range": "a whole number",
    "float range": "a number",
    "integer": "a whole number",
    "float": "a number",
}


def sentence(error: Exception, words: Sequence[str]) -> str:
    """What typer found wrong, and where to look; empty if it has printed the help already."""
    found = str(getattr(error, "format_message", error.__str__)()).strip().rstrip(".")
    for kind, word in KINDS.items():
        found = found.replace(f"a valid {kind}", word)
    if not found:
        return ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else " ".join(["ldptrace", *words[1:2]])
    return f"{found[0].lower()}{found[1:]}; `{command} --help` lists what is allowed"


# Names without their dashes: old, and what they are called now.
OLD = {"output": "out", "trajectories": "count"}


def current(name: str) -> str:
    """The present spelling of an option, a choice or a command; an old one warns.

    >>> current("grid")
    'grid'
    """
    if name not in OLD:
        return name
    message = f"--{name} is now --{OLD[name]}; the old name goes with the next release"
    warnings.warn(message, FutureWarning, stacklevel=2)
    return OLD[name]
