"""What is wrong with a command line, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import typer

# The error behind all errors of a command line; typer names only some of its children.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def sentence(error: Exception, words: Sequence[str]) -> str:
    """What typer found wrong, what was given, and where to look; empty if it has printed the help already."""
    found = str(getattr(error, "format_message", error.__str__)()).strip().rstrip(".")
    if not found:
        return ""
    names = getattr(getattr(error, "param", None), "opts", ())
    given = [value for name in names for value in _given(name, words)]
    context = getattr(error, "ctx", None)
    command = context.command_path if context else " ".join(["ldptrace", *words[1:2]])
    return "".join(
        [
            found[0].lower() + found[1:],
            f", got {given[-1]!r}" if given and given[-1] not in found else "",
            f"; `{command} --help` lists what is allowed",
        ]
    )


def _given(name: str, words: Sequence[str]) -> list[str]:
    """The values of an option."""
    after = [value for word, value in pairwise(words) if word == name]
    return after + [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]
