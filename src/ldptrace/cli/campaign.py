"""`ldptrace campaign`: the life of a campaign from the command line."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ldptrace.cli.common import (
    BoundsOption,
    CentreOption,
    CrsOption,
    Progress,
    TimeOption,
    WeekOption,
    note,
    parse_bounds,
    parse_centre,
)
from ldptrace.cli.serve import DatabaseOption, DataOption, database_of
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.protocol.plan import Plan

NameArgument = Annotated[str, typer.Argument(help="Name of the campaign.")]
SINGLE = "single-report"
TRIPS = (".parquet", ".csv", ".geojson")


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, help="Real collections: make, open, close, publish, export.")
    for name, command in (
        ("create", create),
        ("list", list_all),
        ("show", show),
        ("open", open_round),
        ("close", close_round),
        ("publish", publish),
        ("export", export),
        ("token", token),
        ("audit", audit),
        ("delete", delete),
    ):
        group.command(name)(command)
    app.add_typer(group, name="campaign")


def actor() -> str:
    """Whom the audit log names for a command."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"


def create(
    name: NameArgument,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Plan document; or give the facts below.")
    ] = None,
    users: Annotated[int | None, typer.Option("--users", min=1, help="Expected number of users.")] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="Privacy budget of each user.")] = None,
    grid: Annotated[str, typer.Option("--grid", metavar="N|auto", help="Cells per side.")] = "auto",
    bounds: BoundsOption = None,
    crs: CrsOption = None,
    method: Annotated[
        str, typer.Option("--method", help="single-report, or one of the paper's two-round methods.")
    ] = SINGLE,
    time: TimeOption = False,
    week: WeekOption = False,
    centre: CentreOption = None,
    title: Annotated[str, typer.Option("--title", help="What contributors read above the page.")] = "",
    min_reports: Annotated[
        int, typer.Option("--min-reports", min=1, help="Below this, nothing but counts is shown or released.")
    ] = 1_000,
    max_reports: Annotated[
        int, typer.Option("--max-reports", min=1, help="Reports that are counted at most, in each round.")
    ] = 100_000_000,
    roads: Annotated[
        Path | None, typer.Option("--roads", help="Road network: synthetic trips then go by its streets.")
    ] = None,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make a campaign, in draft: nobody can answer before it is opened."""
    from ldptrace.protocol.plan import Plan as Collection
    from ldptrace.server import campaigns, releases

    if plan is not None:
        given: dict[str, object] = {
            "--epsilon": epsilon,
            "--bounds": bounds,
            "--crs": crs,
            "--centre": centre,
        }
        given |= {"--time": time or None, "--week": week or None}
        given |= {
            "--grid": None if grid == "auto" else grid,
            "--method": None if method == SINGLE else method,
        }
        facts = [option for option, value in given.items() if value is not None]
        if facts:
            raise InputError(
                "give --plan FILE, or --users N --epsilon E --bounds X0,Y0,X1,Y1 and what belongs to them, not both: "
                f"{facts[0]} is what the plan says"
            )
        chosen = Collection.from_json(plan.read_bytes())
    elif users is None or epsilon is None or bounds is None:
        raise InputError("a campaign needs --plan FILE, or --users N --epsilon E --bounds X0,Y0,X1,Y1")
    else:
        chosen = _planned(
            users,
            epsilon,
            grid,
            bounds,
            crs,
            method,
            for_map=roads is not None,
            time=time,
            week=week,
            centre=parse_centre(centre),
        )
    network = {} if roads is None else _network_files(roads)
    campaigns.check_new(name, chosen, title, min_reports, max_reports)
    store = database_of(data, database, new=True)
    made = campaigns.create(
        store,
        name,
        chosen,
        actor=actor(),
        title=title,
        min_reports=min_reports,
        max_reports=max_reports,
        users=users,
    )
    if network:
        releases.keep_roads(store, name, network, actor=actor())
    note(
        f"campaign {name} is in draft: plan {made.plan.id[:12]}, {chosen.grid.n} x {chosen.grid.n} cells, "
        f"epsilon {float(chosen.epsilon):g}; open it with: ldptrace campaign open {name}"
    )


def _planned(
    users: int,
    epsilon: str,
    grid: str,
    bounds: str,
    crs: str | None,
    method: str,
    **asked: Any,
) -> Plan:
    from ldptrace.cli.synthesize import whole_number
    from ldptrace.server.planning import plan_from_facts

    cells: int | Literal["auto"] = "auto" if grid == "auto" else whole_number("--grid", grid)
    box = parse_bounds(bounds)
    assert box is not None
    return plan_from_facts(users, epsilon, cells, box, crs, method, **asked)


def _network_files(path: Path) -> dict[str, bytes]:
    """The bytes of a road network: of one file, or of the files of a folder."""
    from ldptrace.roads import read_roads

    # Read once, so that a network that cannot be read is told now and not when the campaign is published.
    read_roads(path)
    files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
    return {one.name: one.read_bytes() for one in files}


def list_all(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """All campaigns."""
    from rich.console import Console
    from rich.table import Table

    from ldptrace.server import campaigns, views
    from ldptrace.server.storage import is_database

    shown = []
    if is_database(data, database):
        with database_of(data, database).reading() as session:
            shown = [views.overview(session, one) for one in campaigns.all_campaigns(session)]
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
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """One campaign: state, reports counted, reports rejected by problem, predicted errors."""
    from ldptrace.server import campaigns, views

    with database_of(data, database).reading() as session:
        shown = views.overview(session, campaigns.find(session, name))
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    typer.echo(f"{shown['name']}: {shown['title']}")
    typer.echo(f"state     {shown['state']}, round {shown['round']} of {shown['rounds']}")
    typer.echo(f"reports   {shown['reports']:,} counted, {shown['min_reports']:,} needed")
    for problem, count in shown["rejected"].items():
        typer.echo(f"rejected  {count:,} {problem}")
    typer.echo(f"plan      {shown['plan']}, epsilon {shown['epsilon']}, method {shown['method']}")
    for entry in shown["predicted"]:
        errors = ", ".join(f"{name} {value:.4f}" for name, value in entry["standard_errors"].items())
        typer.echo(f"predicted standard errors at {entry['reports']:,} reports: {errors}")
    if shown["release"]:
        release = shown["release"]
        typer.echo(f"release   {release['state']}: {release['stage']} {release['error']}")
    for file in shown["files"]:
        typer.echo(f"file      {file['name']}, {file['bytes']:,} bytes")


def open_round(name: NameArgument, data: DataOption = None, database: DatabaseOption = None) -> None:
    """Open the next round. From then on its plan cannot change."""
    from ldptrace.server import campaigns

    opened = campaigns.open_round(database_of(data, database), name, actor=actor())
    note(f"round {opened.round} of campaign {name} is open: plan {opened.plan.id}")


def close_round(name: NameArgument, data: DataOption = None, database: DatabaseOption = None) -> None:
    """Close the open round: later reports are refused."""
    from ldptrace.server import campaigns

    closed = campaigns.close_round(database_of(data, database), name, actor=actor())
    left = closed.rounds - closed.round
    note(
        f"round {closed.round} of campaign {name} is closed; "
        + ("another one follows" if left else "publish is next")
    )


def publish(
    name: NameArgument,
    count: Annotated[
        int, typer.Option("--count", min=0, max=10_000_000, help="Synthetic trips; 0: as many as reports.")
    ] = 0,
    again: Annotated[bool, typer.Option("--again", help="Replace an attempt that was interrupted.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Make the release: estimates, model, synthetic trips, scorecard."""
    from contextlib import ExitStack

    from ldptrace.server import releases

    store = database_of(data, database)
    attempt = releases.Attempt(store, name, releases.begin(store, name, actor=actor(), again=again))
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

            attempt.make(count, tell)
    except BaseException as error:
        attempt.fail(str(error) or type(error).__name__)
        raise
    note(f"campaign {name} is published; ldptrace campaign export {name} -o FOLDER writes its files")


def export(
    name: NameArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for all files; or a .parquet, .csv, .geojson file.")
    ],
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write the files of a published campaign; before that, its plans and, with enough reports, its tallies."""
    from ldptrace.io.atomic import atomic_path
    from ldptrace.server import campaigns, releases, views

    with database_of(data, database).reading() as session:
        campaign = campaigns.find(session, name)
        if output.suffix in TRIPS:
            if campaign.state != "published":
                raise InputError(
                    f"campaign {name} is {campaign.state}: synthetic trips are there when it is published"
                )
            wanted = {output: f"synthetic{output.suffix}"}
        else:
            wanted = {output / file["name"]: file["name"] for file in views.files_of(session, name)}
        texts: dict[Path, str] = {}
        if campaign.state != "published":
            for entry in campaigns.counts_of(session, name):
                texts[output / f"plan-{entry.number + 1}.json"] = entry.plan.to_json()
            for _, tally in campaigns.tallies_of(session, campaign):
                texts[output / f"tally-{tally.round + 1}.json"] = tally.to_json()
        if output.suffix not in TRIPS:
            output.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with atomic_path(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        for path, file in wanted.items():
            with atomic_path(path) as temporary, open(temporary, "wb") as target:
                for number in releases.parts_of(session, name, file):
                    target.write(releases.part(session, name, file, number))
    note(
        f"{len(wanted) + len(texts)} file{'s' if len(wanted) + len(texts) > 1 else ''} of campaign {name}: {output}"
    )


def token(
    name: Annotated[str, typer.Argument(help="Campaign the token is for; * for all of them.")] = "*",
    scope: Annotated[
        str, typer.Option("--scope", help="read: look and download; manage: everything.")
    ] = "manage",
    label: Annotated[str, typer.Option("--label", help="Whose it is, for the audit log.")] = "",
    show_all: Annotated[bool, typer.Option("--list", help="List tokens, without their secrets.")] = False,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="Revoke a token.")] = None,
    admission: Annotated[
        int | None,
        typer.Option("--admission", min=1, help="Make so many single-use tokens for devices instead."),
    ] = None,
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
        typer.echo("\n".join(tokens.create_admissions(store, name, admission, actor=actor())))
        note(f"campaign {name} counts only reports that come with one of these; they are not shown again")
    else:
        text, _ = tokens.create_token(store, name, scope, label, actor=actor())
        typer.echo(text)
        note("this token is not shown again")


def audit(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """What operators did."""
    from ldptrace.server import campaigns

    with database_of(data, database).reading() as session:
        entries: list[dict[str, Any]] = list(campaigns.audit_log(session))
    if as_json:
        typer.echo(json.dumps(entries, indent=1))
        return
    for entry in entries:
        typer.echo("  ".join(str(value) for value in entry.values()).rstrip())


def delete(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data: DataOption = None,
    database: DatabaseOption = None,
) -> None:
    """Delete a campaign with everything that was counted."""
    from ldptrace.server import campaigns

    store = database_of(data, database)
    if not yes and not typer.confirm(f"Delete campaign {name} with everything that was counted?"):
        raise typer.Abort
    campaigns.delete(store, name, actor=actor())
    note(f"campaign {name} is deleted")
