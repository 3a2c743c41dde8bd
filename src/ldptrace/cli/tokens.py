"""`ldptrace campaign token`: who may look at campaigns, run them, and answer them."""

from __future__ import annotations

from typing import Annotated

import typer

from ldptrace.cli.common import note
from ldptrace.cli.operators import actor, campaign_names
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of


def token(
    name: Annotated[
        str,
        typer.Argument(help="Campaign the token is for; * for all of them.", autocompletion=campaign_names),
    ] = "*",
    scope: Annotated[
        str, typer.Option("--scope", help="read: look and download; manage: everything.")
    ] = "manage",
    label: Annotated[str, typer.Option("--label", help="Who uses it, for the audit log.")] = "",
    show_all: Annotated[bool, typer.Option("--list", help="List tokens, without their secrets.")] = False,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="Revoke a token.")] = None,
    admission: Annotated[
        int | None,
        typer.Option(
            "--admission", min=1, help="Make this many lists of single-use codes, one list per device."
        ),
    ] = None,
    codes: Annotated[
        int, typer.Option("--codes", min=1, max=1_000, help="Codes in a list, one for each window.")
    ] = 1,
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
