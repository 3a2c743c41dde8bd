"""`ldptrace serve`: the curator's server."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import note
from ldptrace.cli.options import with_options
from ldptrace.core.extras import installing
from ldptrace.errors import InputError
from ldptrace.web.limits import Settings

if TYPE_CHECKING:
    from ldptrace.server.storage import Database

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
    from ldptrace.web.clock import trial_clock

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
