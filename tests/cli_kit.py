"""Calling the command line in this process, with the plan of a collection at hand."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application, main
from ldptrace.errors import LdptraceError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)


def run(*arguments: str) -> Result:
    """What a command said, and how it ended."""
    return CliRunner().invoke(application(arguments[0]), arguments)


def error_of(*arguments: str) -> str:
    """What is wrong with a command."""
    result = run(*arguments)
    assert isinstance(result.exception, LdptraceError), result.output
    return str(result.exception)


def status(*arguments: object) -> int:
    """Exit status of the program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["ldptrace", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0)
    return 0
