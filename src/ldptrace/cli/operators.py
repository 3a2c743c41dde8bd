"""Commands for operators: tokens, backups, publication and export; completion of campaign names."""

from __future__ import annotations

import getpass
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import Progress, note
from ldptrace.cli.options import with_options
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of
from ldptrace.core.atomic import atomic_path, make_folder, together
from ldptrace.errors import InputError, LdptraceError
from ldptrace.server.terms import Publishing

if TYPE_CHECKING:
    from ldptrace.server.registry import Campaign
    from ldptrace.server.storage import Session


def campaign_names(incomplete: str) -> list[str]:
    """Return the names of campaigns that begin with this text, for completion in a shell.

    If the database cannot be read, the list is empty.
    """
    try:
        from ldptrace.server.registry import all_campaigns

        store = database_of(os.environ.get("LDPTRACE_DATA"), os.environ.get("LDPTRACE_DATABASE"))
        with store.reading() as session:
            return [one.name for one in all_campaigns(session) if one.name.startswith(incomplete)]
    except (LdptraceError, OSError):
        return []


NameArgument = Annotated[str, typer.Argument(help="Name of the campaign.", autocompletion=campaign_names)]


def actor() -> str:
    """Return the name that the audit log records for a command."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"


def backup(
    name: NameArgument,
    output: Path = typer.Option(..., "-o", "--out", help="File for the backup."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write everything about one campaign into one file. You need not stop the server for this backup."""
    from ldptrace.server import backups

    reports = backups.backup(database_of(data, database), name, output, actor=actor())
    note(
        f"campaign {name} with {reports:,} reports: {output}; keep it as you keep the database, with which it shares "
        "the private key of a shuffled campaign"
    )


def restore(
    source: Path = typer.Argument(help="File that `campaign backup` wrote."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Restore a campaign from its backup.

    If a device sends a report again that is in the backup, the report is not counted twice. The tokens of the campaign
    are revoked; make new ones with `campaign token`.
    """
    from ldptrace.server import backups

    # Before a database is made.
    backups.check(source)
    restored = backups.restore(database_of(data, database, new=True), source, actor=actor())
    rounds = f"round {restored.round} of {restored.rounds}"
    so_far = rounds if restored.plan.standing is None else f"{restored.round} windows"
    note(f"campaign {restored.name} is back: {restored.state}, {so_far}")


def token(
    name: str = typer.Argument(
        "*",
        help="Name of the campaign that the token gives access to; * means all campaigns.",
        autocompletion=campaign_names,
    ),
    scope: str = typer.Option(
        "manage",
        help="What the token allows; read: view and download; manage: everything; shuffle: hand over the batches of a "
        "shuffled campaign.",
    ),
    label: str = typer.Option("", help="Name of the person who uses the token, for the audit log."),
    show_all: bool = typer.Option(False, "--list", help="List all tokens, without their secret parts."),
    revoke: str | None = typer.Option(
        None, metavar="ID", help="Revoke the token with this id, so that it is no longer valid."
    ),
    admission: int | None = typer.Option(
        None, min=1, help="Make admission codes, each of which admits one report, for this many devices."
    ),
    codes: int = typer.Option(
        1,
        min=1,
        max=1_000,
        help="Number of admission codes of each device, one for each time window of a standing campaign.",
    ),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make, list or revoke tokens for operators, or make admission codes for devices. A token is printed only once."""
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


TRIPS = (".parquet", ".csv", ".geojson")


@with_options(publishing=Publishing)
def publish(
    name: NameArgument,
    publishing: Publishing,
    address: str = typer.Option(
        "",
        help="Public address of the server, such as https://collect.example, which the metadata of the release name.",
    ),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make the release of a campaign: estimates, model, synthetic trips, and how well the model fits the reports."""
    from ldptrace.server import releases
    from ldptrace.web.limits import checked_address

    checked_address(address)
    store = database_of(data, database)
    attempt = releases.begin(store, name, actor=actor(), **vars(publishing))
    try:
        with Progress() as stages, ExitStack() as running:
            shown = ""

            def tell(stage: str, done: int) -> None:
                nonlocal shown
                attempt.tell(stage, done)
                if stage != shown:
                    shown = stage
                    running.close()
                    running.enter_context(stages(stage))

            attempt.make(tell, address=address or None)
    except BaseException as error:
        attempt.fail(str(error) or type(error).__name__)
        raise
    note(f"campaign {name} is published; ldptrace campaign export {name} -o FOLDER writes its files")


def export(
    name: NameArgument,
    output: Path = typer.Option(
        ...,
        "-o",
        "--out",
        help="Folder for all files, or a file (.parquet, .csv, .geojson) for the synthetic trips only.",
    ),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write the release of a campaign to files. If the campaign is not published yet, write its plans and tallies.

    The command omits a tally with fewer reports than the campaign requires (`campaign create --min-reports`). For a
    standing campaign, the command writes one folder for each published time window, named by the first day of the
    window.
    """
    from ldptrace.server import registry

    with together(), database_of(data, database).reading() as session:
        campaign = registry.find(session, name)
        if campaign.plan.standing is not None:
            written = _windows(session, campaign, output)
        elif campaign.state == "published":
            written = _release(session, name, output)
        elif output.suffix in TRIPS:
            raise InputError(
                f"campaign {name} is {campaign.state}: synthetic trips are there when it is published"
            )
        else:
            written = _tallies(session, campaign, output)
    note(f"{written} file{'s' if written > 1 else ''} of campaign {name}: {output}")


def _release(session: Session, name: str, output: Path, number: int | None = None) -> int:
    """Write the files of one release, or its trips in one format. Returns the number of files."""
    from ldptrace.server import releases, views

    wanted = {output: f"synthetic{output.suffix}"}
    if output.suffix not in TRIPS:
        make_folder(output)
        files = views.files_of(session, name, number)
        wanted = {output / file["name"]: file["name"] for file in files}
    for path, file in wanted.items():
        stored = releases.folder_of(number) + file
        with atomic_path(path) as temporary, open(temporary, "wb") as target:
            for part in releases.parts_of(session, name, stored):
                target.write(releases.part(session, name, stored, part))
    return len(wanted)


def _windows(session: Session, campaign: Campaign, output: Path) -> int:
    """Write the releases of all windows, or the trips of the newest window if the output is one file."""
    from ldptrace.server.registry import day
    from ldptrace.server.rounds import published

    windows = published(session, campaign.name)
    if not windows:
        raise InputError(f"campaign {campaign.name} has published no window yet")
    if output.suffix in TRIPS:
        return _release(session, campaign.name, output, windows[0].number)
    written = 0
    for one in windows:
        written += _release(session, campaign.name, output / f"{day(one.begin)}-{one.number + 1}", one.number)
    return written


def _tallies(session: Session, campaign: Campaign, output: Path) -> int:
    """Write the plans of the rounds that were opened, and the tallies with enough reports."""
    from ldptrace.server import rounds

    texts = {
        f"plan-{entry.number + 1}.json": entry.plan.to_json()
        for entry in rounds.rounds_of(session, campaign.name)
    }
    for _, tally in rounds.tallies_of(session, campaign):
        texts[f"tally-{tally.round + 1}.json"] = tally.to_json()
    make_folder(output)
    for file, text in texts.items():
        with atomic_path(output / file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return len(texts)
