"""`ldptrace serve` and `ldptrace shuffle`: the server of the curator, and the independent shuffler."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import note, read_document, was_typed
from ldptrace.cli.options import with_options
from ldptrace.core.extras import installing
from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_DOCUMENT
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.shuffler.served import NO_WINDOW
from ldptrace.web.limits import Settings, trial_clock

if TYPE_CHECKING:
    from ldptrace.server.storage import Database
    from ldptrace.shuffler.store import Store

DataOption = Annotated[
    Path | None,
    typer.Option(envvar="LDPTRACE_DATA", help="Folder of the database; by default ldptrace-data."),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        envvar="LDPTRACE_DATABASE",
        show_envvar=True,
        help="PostgreSQL database to use instead of a folder: postgresql://user:password@host/name.",
    ),
]

HostOption = Annotated[
    str,
    typer.Option(
        help="Network address of the server; with the default address, only this machine can connect."
    ),
]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Network port of the server.")]
ProxyOption = Annotated[
    str,
    typer.Option(
        help="Addresses or networks of reverse proxies whose header X-Forwarded-For is trusted, with commas between."
    ),
]
ClockOption = Annotated[
    str | None,
    typer.Option(
        metavar="START,RATE[,SINCE]",
        help="For trials: use a clock that shows START now and runs RATE times as fast as real time. With "
        "SINCE (Unix seconds), the clock shows START at the real time SINCE, not now.",
    ),
]


def database_of(data: str | Path | None, database: str | None, *, new: bool = False) -> Database:
    """Open the database of a command. A missing database is created only if `new` is true."""
    try:
        from ldptrace.server.storage import is_database, open_database
    except ImportError as error:
        raise missing(error) from None
    if not new and not is_database(data, database):
        raise InputError(
            f"there are no campaigns in {data or database or 'ldptrace-data'}: make one with `ldptrace campaign "
            "create`, or name another place with --data or --database"
        )
    return open_database(data, database)


def clock_of(text: str | None) -> Callable[[], float]:
    """Return the clock of the system, or one for trials."""
    return time.time if text is None else trial_clock(text)


def missing(error: ImportError) -> InputError:
    """Return an error that says which extra to install."""
    return InputError(
        f'this command needs the extra "server" ({error.name}); install it with: {installing("server")}'
    )


@with_options(settings=Settings)
def serve(
    *,
    data: DataOption = None,
    database: DatabaseOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    settings: Settings,
    trust_proxy: ProxyOption = "127.0.0.1",
    trial_clock: ClockOption = None,
) -> None:
    """Run the curator's server for devices, contributors and operators.

    Ctrl-C stops the server without losing an accepted report.
    """
    store = database_of(data, database, new=True)
    try:
        from ldptrace.server.app import create_app
        from ldptrace.web.run import address, listen
        from ldptrace.web.run import serve as run
    except ImportError as error:
        raise missing(error) from None
    clock = clock_of(trial_clock)
    with listen(host, port) as listening:
        url = settings.address or address(listening)
        settings = replace(settings, address=url, clock=clock)
        note(f"operators: {url}/operate   contributors: {url}/c/NAME")
        run(create_app(store, settings), listening, settings, trust_proxy)


FolderOption = Annotated[
    Path, typer.Option("--data", envvar="LDPTRACE_SHUFFLER", help="Folder of the shuffler's storage.")
]
FOLDER = Path("ldptrace-shuffler")
# Seconds that the curator's server has to answer.
PATIENCE = 30.0


def store_of(
    data: Path, *, new: bool = False, clock: Callable[[], float] = time.time, witness: Path | None = None
) -> Store:
    """Open the storage of a shuffler. A missing one is made only if `new` is true."""
    try:
        from ldptrace.shuffler.store import FILE, Store
    except ImportError as error:
        raise missing(error) from None
    if not new and not (data / FILE).exists():
        raise InputError(f"there is no shuffler in {data}: add a plan with `ldptrace shuffle add`")
    if witness is not None and not witness.is_dir():
        raise InputError(f"--witness is a folder on another disk, got {witness}")
    return Store(data, clock, witness)


# A device sends few reports, and a shuffler serves nobody else.
@with_options(settings=Settings, only=("rate", "burst", "timeout"), defaults={"rate": 5.0, "burst": 50.0})
def run(
    *,
    context: typer.Context,
    data: FolderOption = FOLDER,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8001,
    settings: Settings,
    trust_proxy: ProxyOption = "127.0.0.1",
    trial_clock: ClockOption = None,
    witness: Path | None = typer.Option(
        None,
        help="Folder on another disk. A file in it tells the shuffler when its own disk was set back, as by a snapshot "
        "of the machine. The shuffler remembers the folder.",
    ),
) -> None:
    """Run a shuffler: it mixes the sealed reports of devices and hands them to the curator without their senders.

    Add plans with `ldptrace shuffle add`. Somebody who is independent of the curator must run the shuffler.
    """
    if context.invoked_subcommand is not None:
        if any(was_typed(context, name) for name in context.params):
            raise InputError(
                f"write options after the command: ldptrace shuffle {context.invoked_subcommand} ..."
            )
        return
    clock = clock_of(trial_clock)
    store = store_of(data, new=True, clock=clock, witness=witness)
    from ldptrace.shuffler.app import create_app
    from ldptrace.web.run import address, listen, serve

    settings = replace(settings, clock=clock)
    with listen(host, port) as listening:
        note(f"devices send to {address(listening)}; plans: {len(store.plans())}")
        serve(create_app(store, settings), listening, settings, trust_proxy)


def add(
    campaign: str = typer.Argument(
        help="Address of the campaign: https://host/v1/campaigns/NAME. Batches are sent there."
    ),
    token: Path = typer.Option(
        help="File with the token that the curator made for the shuffler; - is standard input."
    ),
    plan_id: str | None = typer.Option(
        None, "--id", help="Id that the plan must have; without it, the command prints the id to compare."
    ),
    plan: Path | None = typer.Option(
        None, help="File of the plan; by default, the command asks the campaign for it."
    ),
    codes: bool = typer.Option(
        False, help="Take only reports that come with a code of `ldptrace shuffle codes`."
    ),
    data: FolderOption = FOLDER,
) -> None:
    """Add a plan, or change where the batches of a plan are sent."""
    campaign = campaign.rstrip("/")
    if not campaign.startswith(("https://", "http://")):
        raise InputError(
            f"a campaign has an address such as https://host/v1/campaigns/NAME, got {campaign[:80]!r}"
        )
    document = read_document(plan) if plan is not None else _fetched(f"{campaign}/plan")
    chosen = Plan.from_json(document)
    if plan_id is not None and chosen.id != plan_id:
        raise PlanRefused(Problem.PLAN_CHANGED, f"the plan has the id {chosen.id}, not {plan_id}")
    secret = read_document(token).decode("ascii", "replace").strip()
    if not secret.isprintable() or not secret or len(secret) > 200:
        raise InputError(f"{token} holds no token")
    store = store_of(data, new=True)
    store.add_plan(chosen, campaign, secret, admission=codes)
    shuffled = chosen.shuffled
    assert shuffled is not None
    note(
        f"plan {chosen.id}\n"
        "compare the id with the one that the curator publishes\n"
        f"operator of the shuffler: {shuffled.operator}; devices send to {shuffled.address}\n"
        f"a batch has at least {shuffled.batch:,} reports"
    )
    if not store.plan(chosen.id).admission:
        note(
            "reports are taken from anybody, and somebody who forges most of a batch sees the rest: admit people by "
            "codes (ldptrace shuffle codes)"
        )


def codes(
    plan: str = typer.Argument(help="Id of the plan, or the first digits of it."),
    people: int = typer.Option(min=1, help="Number of people, each of whom gets a line of codes."),
    first: int | None = typer.Option(None, min=0, help="In a standing plan: number of the first window."),
    windows: int = typer.Option(
        1, min=1, max=1_000, help="In a standing plan: number of windows, each with a code."
    ),
    data: FolderOption = FOLDER,
) -> None:
    """Make one-time codes. From now on, the shuffler takes reports of the plan only with a code.

    Each line is for one person. The codes of a line are for the windows from --first on, one for each; each code
    begins with the number of its window.
    """
    store = store_of(data)
    number = _plan_id(store, plan)
    standing = store.plan(number).plan.standing
    if (standing is not None) != (first is not None) or (standing is None and windows != 1):
        latest = -1 if standing is None else standing.latest(time.time(), 0)
        now = "" if latest < 0 else f"; devices answer window {latest} now"
        raise InputError(
            f"--first and --windows say for which windows of a standing plan codes are made{now}"
        )
    numbers = [NO_WINDOW] if first is None else list(range(first, first + windows))
    for row in store.make_codes(number, numbers, people):
        typer.echo(" ".join(row))
    note("these codes are not shown again")


def show(
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
    data: FolderOption = FOLDER,
) -> None:
    """Show the plans and batches of the shuffler, and what the curator answered."""
    store = store_of(data)
    plans = store.plans()
    batches = [
        {
            "plan": one.plan,
            "window": None if one.window < 0 else one.window,
            "state": one.state,
            "reports": one.reports,
            "answer": json.loads(one.answer) if one.answer else None,
        }
        for one in store.batches()
    ]
    if as_json:
        listed = [{"id": one.plan.id, "campaign": one.campaign, "admission": one.admission} for one in plans]
        typer.echo(json.dumps({"plans": listed, "batches": batches}, indent=1))
        return
    for entry in plans:
        typer.echo(f"plan {entry.plan.id}, {entry.campaign}{', with codes' if entry.admission else ''}")
        for one in batches:
            if one["plan"] == entry.plan.id:
                window = "all reports" if one["window"] is None else f"window {one['window']}"
                answer = "" if one["answer"] is None else f"  {json.dumps(one['answer'])}"
                typer.echo(f"  {window}  {one['state']}  {one['reports']:,} reports{answer}")


def backup(
    output: Path = typer.Option(..., "-o", "--out", help="File for the backup."),
    data: FolderOption = FOLDER,
) -> None:
    """Write the plans, codes and closed batches to a file. Put it in place of `shuffler.sqlite` to restore it.

    A shuffler that was restored takes no reports of windows that had begun, because a second batch of one window would
    show single reports.
    """
    if output.exists():
        raise InputError(f"{output} exists already")
    store_of(data).backup(output)
    note(f"backup: {output}; it holds the curator's token and sealed reports, keep it as you keep {data}")


def _fetched(url: str) -> bytes:
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return bytes(answer.read(MAX_DOCUMENT + 1))
    except (OSError, ValueError) as error:
        raise InputError(f"{url} cannot be read: {error}") from None


def _plan_id(store: Store, text: str) -> str:
    ids = [one.plan.id for one in store.plans() if text and one.plan.id.startswith(text)]
    if len(ids) != 1:
        raise InputError(f"{len(ids)} plans of this shuffler have an id that begins with {text[:80]!r}")
    return ids[0]


shuffle = typer.Typer(help="Run a shuffler for sealed reports, and manage its plans, codes and backups.")
shuffle.callback(invoke_without_command=True)(run)
for name, command in (("add", add), ("codes", codes), ("show", show), ("backup", backup)):
    shuffle.command(name)(command)
