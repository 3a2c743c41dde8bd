"""What the commands for operators share: the name of a campaign, completed by the shell, and who acts."""

from __future__ import annotations

import getpass
import os
from typing import Annotated

import typer

from ldptrace.cli.serve import database_of


def campaign_names(incomplete: str) -> list[str]:
    """Names of campaigns that begin like this, for the shell; a database that cannot be read has none."""
    from ldptrace.errors import LdptraceError

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
