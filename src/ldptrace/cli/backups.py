"""`ldptrace campaign backup` and `restore`: one campaign as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldptrace.cli.common import note
from ldptrace.cli.operators import NameArgument, actor
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of


def backup(
    name: NameArgument,
    output: Annotated[Path, typer.Option("-o", "--out", help="File for the backup.")],
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write everything about one campaign into one file, while the server runs."""
    from ldptrace.server import backups

    reports = backups.backup(database_of(data, database), name, output, actor=actor())
    note(f"campaign {name} with {reports:,} reports: {output}; keep it as you keep the database")


def restore(
    source: Annotated[Path, typer.Argument(help="File that `campaign backup` wrote.")],
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Restore a campaign from its backup. Reports that were counted before are not counted again."""
    from ldptrace.server import backups

    restored = backups.restore(database_of(data, database, new=True), source, actor=actor())
    note(f"campaign {restored.name} is back: {restored.state}, round {restored.round} of {restored.rounds}")
