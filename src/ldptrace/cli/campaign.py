"""`ldptrace campaign`: create, open, close, show and delete campaigns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from time import time as now
from typing import TYPE_CHECKING, Any

import typer

from ldptrace.cli.common import note, read_as, table_console
from ldptrace.cli.operators import NameArgument, actor, backup, export, publish, restore, token
from ldptrace.cli.options import with_options
from ldptrace.cli.plan import key_file
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of
from ldptrace.curator.facts import Facts
from ldptrace.curator.hiding import refused_by_default
from ldptrace.curator.opening import CuratorKey
from ldptrace.errors import InputError
from ldptrace.options import decoded
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import date_words, duration_words
from ldptrace.server.terms import Terms

if TYPE_CHECKING:
    from ldptrace.server.views import Overview, Predicted, RoundReports

# Windows that are shown of a standing campaign.
NEWEST = 4


@with_options(partial=("facts",), facts=Facts, terms=Terms)
def create(
    name: NameArgument,
    facts: dict[str, Any],
    terms: Terms,
    plan: Path | None = typer.Option(
        None,
        help="File of the plan of the collection, for a shuffled plan with its private key in PLAN.key; without this "
        "file, the command makes a plan from --users, --epsilon, --bounds and further options.",
    ),
    roads: Path | None = typer.Option(None, help="Public road network; synthetic trips follow its streets."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Create a campaign as a draft. Devices can answer after you run `ldptrace campaign open`."""
    from ldptrace.server import campaigns, releases

    if plan is not None:
        for told in facts.keys() - {"users"}:
            raise InputError(
                "give --plan FILE, or --users N --epsilon E --bounds X0,Y0,X1,Y1 and further options, not both: "
                f"--{told.replace('_', '-')} is what the plan says"
            )
        chosen = read_as(plan, Plan.from_json)
    elif not {"users", "epsilon", "bounds"} <= facts.keys():
        raise InputError("a campaign needs --plan FILE, or --users N --epsilon E --bounds X0,Y0,X1,Y1")
    else:
        chosen = decoded(Facts, {"for_map": roads is not None} | facts).campaign_plan()
    network = {} if roads is None else _network_files(roads)
    notice = terms.notice
    if notice and not notice.startswith(("https://", "http://")):
        notice = Path(notice).read_text(encoding="utf-8").strip()
    terms = replace(terms, notice=notice)
    key = None
    if plan is not None and chosen.shuffled is not None and key_file(plan).exists():
        key = CuratorKey.from_text(key_file(plan).read_text(errors="replace"))
    campaigns.prepared(name, chosen, terms, key)
    store = database_of(data, database, new=True)
    made = campaigns.create(store, name, chosen, terms, actor=actor(), key=key)
    if network:
        releases.keep_roads(store, name, network, actor=actor())
    shuffled = made.plan.shuffled
    epsilon = f"{float(chosen.epsilon):g}"
    if shuffled is not None:
        epsilon = f"{float(shuffled.epsilon):g} ({epsilon} if curator and shuffler work together)"
    note(
        f"campaign {name} is in draft: plan {made.plan.id[:12]}, {chosen.grid.n} x {chosen.grid.n} cells, "
        f"epsilon {epsilon}; open it with: ldptrace campaign open {name}"
    )
    if key is not None and plan is not None:
        note(f"the database holds the private key of {key_file(plan)} now: delete that file")
    refused = refused_by_default(chosen)
    if refused is not None:
        note(f"Note: {refused}.")
    if shuffled is not None:
        note(
            f"the id of the plan is {made.plan.id}; the private key stays in the database and its backups. Make a "
            f"token for the shuffler: ldptrace campaign token {name} --scope shuffle"
        )


def _network_files(path: Path) -> dict[str, bytes]:
    """Return the bytes of a road network: of one file, or of the files of a folder."""
    from ldptrace.roads import read_roads

    # Read once, so that a network that cannot be read is an error now and not when the campaign is published.
    read_roads(path)
    files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
    return {one.name: one.read_bytes() for one in files}


def list_all(
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """List all campaigns."""
    from rich.console import Console
    from rich.table import Table

    from ldptrace.server import registry, views
    from ldptrace.server.storage import is_database

    shown = []
    if is_database(data, database):
        with database_of(data, database).reading() as session:
            shown = [views.overview(session, one) for one in registry.all_campaigns(session)]
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    table = Table()
    for column in ("campaign", "state", "round", "reports", "needed", "epsilon", "title"):
        table.add_column(column, justify="right" if column in ("reports", "needed") else "left")
    for one in shown:
        table.add_row(
            one["name"],
            one["state"],
            f"{one['round']} of {one['rounds']}",
            f"{one['reports']:,}",
            f"{one['min_reports']:,}",
            one["epsilon"],
            one["title"],
        )
    Console().print(table)


def show(
    name: NameArgument,
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Show one campaign: its state, the counted reports, the rejected reports by problem, and the predicted errors of
    the estimates.
    """
    from ldptrace.server import registry, views

    with database_of(data, database).reading() as session:
        shown = views.overview(session, registry.find(session, name))
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    _facts(shown)
    _errors(shown["predicted"], shown["reports"], shown["min_reports"])


def _facts(shown: Overview) -> None:
    """Print the facts about a campaign and its state, line by line."""
    standing = shown["standing"]
    rounds = f"{shown['round']} windows" if standing else f"round {shown['round']} of {shown['rounds']}"
    lines = [("state", f"{shown['state']}, {rounds}")]
    if standing:
        lines.append(
            ("windows", f"every {duration_words(standing['every'])}, lifetime {standing['lifetime']}")
        )
    lines += [(key, shown[key]) for key in ("organiser", "contact") if shown[key]]
    lines += [(key, date_words(at)) for key in ("opens", "until") if (at := shown[key]) is not None]
    if shown["shuffled"] and shown["shuffled"]["until"] is not None:
        lines.append(("until", date_words(shown["shuffled"]["until"])))
    lines.append(("reports", f"{shown['reports']:,} counted, {shown['min_reports']:,} needed"))
    if standing:
        lines += [("window", text) for text in _windows(shown)]
    lines += [("rejected", f"{count:,} {problem}") for problem, count in shown["rejected"].items()]
    lines.append(("plan", f"{shown['plan']}, epsilon {shown['epsilon']}, method {shown['method']}"))
    lines += _batches(shown)
    if shown["release"]:
        release = shown["release"]
        lines.append(("release", f"{release['state']}: {release['stage']} {release['error']}".rstrip()))
    lines += [("file", f"{file['name']}, {file['bytes']:,} bytes") for file in shown["files"]]
    typer.echo(f"{shown['name']}: {shown['title']}")
    for key, text in lines:
        typer.echo(f"{key:<10}{text}")


def _batches(shown: Overview) -> list[tuple[str, str]]:
    """Return the shuffler of a campaign, both promises, and the newest batches with what they achieve."""
    shuffled = shown["shuffled"]
    if shuffled is None:
        return []
    where = f"{shuffled['operator']}, {shuffled['address']}, batches of {shuffled['batch']:,} or more"
    one = f"epsilon {shuffled['epsilon']}, delta {float(shuffled['delta']):g} for an answer"
    together = "if curator and shuffler work together"
    lines = [("shuffler", where), ("promise", f"{one}; {shown['epsilon']} {together}")]
    if shown["standing"]:
        whole = f"epsilon {shuffled['lifetime']} for all answers"
        lines.append(("", f"{whole}; {shown['standing']['lifetime']} {together}"))
    for batch in shown["batches"][-NEWEST:]:
        window = "" if batch["window"] is None else f"window {batch['window']}: "
        what = (
            "deleted by the shuffler"
            if batch["deleted"]
            else f"{batch['counted']:,} counted, {batch['honest']:,} taken to be honest: central epsilon "
            f"{batch['epsilon']:g}"
        )
        lines.append(("batch", f"{window}{batch['reports']:,} reports, {what}"))
    return lines


def _windows(shown: Overview) -> list[str]:
    """Return the newest windows of a standing campaign: start, number of reports, and state of the release."""
    released = {one["round"]: one["state"] for one in shown["releases"]}
    several = len({one["plan"] for one in shown["round_reports"]}) > 1

    def line(one: RoundReports) -> str:
        too_few = one["state"] == "closed" and one["reports"] < shown["min_reports"]
        release = "too few for a release" if too_few else f"release {released.get(one['round'], 'not begun')}"
        plan = f" by plan {one['plan'][:12]}" if several else ""
        reports = f"{one['reports']:,} report{'' if one['reports'] == 1 else 's'}"
        return f"from {date_words(one['begin'] or 0)}{plan}: {reports}, {one['state']}, {release}"

    return [line(one) for one in shown["round_reports"][-NEWEST:]]


def _errors(predicted: list[Predicted], reports: int, least: int) -> None:
    """Print a table of predicted standard errors: a row for each question, and a column for each number of reports that
    is still to come and enough for a release."""
    from rich.table import Table

    chosen = [entry for entry in predicted if entry["reports"] >= max(1, reports, least)][:4] or predicted[
        -1:
    ]
    table = Table(title="Predicted standard error of a share", title_justify="left", title_style="")
    table.add_column("question")
    for entry in chosen:
        table.add_column(
            f"{entry['reports']:,} reports" + (" (now)" if entry["reports"] == reports else ""),
            justify="right",
        )
    for question in chosen[0]["standard_errors"]:
        table.add_row(question, *(f"{entry['standard_errors'][question]:.4f}" for entry in chosen))
    table_console().print(table)


def open_round(name: NameArgument, data: DataOption = None, database: DatabaseOption = None) -> None:
    """Open the next round of a campaign. The plan of a round cannot change after the round is open."""
    from ldptrace.server import campaigns

    opened = campaigns.open_round(database_of(data, database), name, actor=actor())
    if opened.plan.standing is not None:
        note(f"campaign {name} is open, and its windows open and close by themselves: plan {opened.plan.id}")
        return
    note(f"round {opened.round} of campaign {name} is open: plan {opened.plan.id}")


def close_round(name: NameArgument, data: DataOption = None, database: DatabaseOption = None) -> None:
    """Close the open round of a campaign, so that later reports are refused. A closed standing campaign begins no new
    time window.
    """
    from ldptrace.server import campaigns

    closed = campaigns.close(database_of(data, database), name, actor=actor(), now=now())
    if closed.plan.standing is not None:
        note(
            f"campaign {name} begins no further window; those that have begun are counted until their time is over"
        )
        return
    left = closed.rounds - closed.round
    note(
        f"round {closed.round} of campaign {name} is closed; "
        + ("another one follows" if left else "publish is next")
    )


def change(
    name: NameArgument,
    plan: Path = typer.Option(help="File of the new plan."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Continue a standing campaign with a new plan. After this change, the old plan begins no new time window."""
    from ldptrace.server import campaigns

    new = read_as(plan, Plan.from_json)
    changed = campaigns.change_plan(database_of(data, database), name, new, actor=actor(), now=now())
    note(
        f"campaign {name} goes on with plan {changed.plan.id}; windows of the old one that have begun run out"
    )


def audit(
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """List the actions of operators."""
    from ldptrace.server import registry

    with database_of(data, database).reading() as session:
        entries: list[dict[str, Any]] = registry.audit_log(session)
    if as_json:
        typer.echo(json.dumps(entries, indent=1))
        return
    for entry in entries:
        typer.echo("  ".join(str(value) for value in entry.values()).rstrip())


def delete(
    name: NameArgument,
    yes: bool = typer.Option(False, "--yes", help="Delete without asking for confirmation."),
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Delete a campaign and all its counts."""
    from ldptrace.server import campaigns

    store = database_of(data, database)
    if not yes and not typer.confirm(f"Delete campaign {name} with everything that was counted?"):
        raise typer.Abort
    campaigns.delete(store, name, actor=actor())
    note(f"campaign {name} is deleted")


campaign = typer.Typer(
    no_args_is_help=True,
    help="Manage campaigns: create, open, close, publish and export collections from real devices.",
)
for name, command in (
    ("create", create),
    ("list", list_all),
    ("show", show),
    ("open", open_round),
    ("close", close_round),
    ("change", change),
    ("publish", publish),
    ("export", export),
    ("token", token),
    ("backup", backup),
    ("restore", restore),
    ("audit", audit),
    ("delete", delete),
):
    campaign.command(name)(command)
