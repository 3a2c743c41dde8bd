"""What operators do beside the life of a campaign: tokens and backups; who acts, and names completed by the shell."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated

import typer

from ldptrace.cli.common import note
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of
from ldptrace.errors import LdptraceError


def campaign_names(incomplete: str) -> list[str]:
    """Names of campaigns that begin like this, for the shell; a database that cannot be read has none."""
    try:
        from ldptrace.server.registry import all_campaigns

        store = database_of(os.environ.get("LDPTRACE_DATA"), os.environ.get("LDPTRACE_DATABASE"))
        with store.reading() as session:
            return [one.name for one in all_campaigns(session) if one.name.startswith(incomplete)]
    except (LdptraceError, OSError):
        return []


NameArgument = Annotated[str, typer.Argument(help="Name of the campaign.", autocompletion=campaign_names)]


def actor() -> str:
    """Whom the audit log names for a command."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"


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


def token(
    name: Annotated[
        str,
        typer.Argument(help="Campaign the token is for; * for all of them.", autocompletion=campaign_names),
    ] = "*",
    scope: Annotated[str, typer.Option(help="read: look and download; manage: everything.")] = "manage",
    label: Annotated[str, typer.Option(help="Who uses it, for the audit log.")] = "",
    show_all: Annotated[bool, typer.Option("--list", help="List tokens, without their secrets.")] = False,
    revoke: Annotated[str | None, typer.Option(metavar="ID", help="Revoke a token.")] = None,
    admission: Annotated[
        int | None, typer.Option(min=1, help="Make this many lists of single-use codes, one list per device.")
    ] = None,
    codes: Annotated[int, typer.Option(min=1, max=1_000, help="Codes in a list, one for each window.")] = 1,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make a token for an operator, printed once; list or revoke tokens; make admission tokens for devices."""
    from ldptrace.server import tokens

    store = database_of(data, database, new=revoke is None and not show_all)
    if revoke is not None:
        tokens.revoke_token(store, revoke, actor=actor())
        note(f"token {revoke} is revoked")
    elif show_all:
        with store.reading() as session:
            for one in tokens.tokens_of(session):
                state = f"revoked {one.revoked}" if one.revoked else "valid"
                typer.echo(
                    f"{one.id}  {one.scope:<6}  {one.campaign}  {one.created}  {state}  {one.label}".rstrip()
                )
    elif admission is not None:
        made = tokens.create_admissions(store, name, admission * codes, actor=actor())
        for first in range(0, len(made), codes):
            typer.echo(" ".join(made[first : first + codes]))
        note(f"campaign {name} counts only reports that come with one of these; they are not shown again")
    else:
        text, _ = tokens.create_token(store, name, scope, label, actor=actor())
        typer.echo(text)
        note("this token is not shown again")
