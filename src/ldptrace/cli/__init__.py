"""The command line: each module has the functions of one or more commands.

Heavy imports are made inside the functions, so that `ldptrace --help` starts fast.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import typer

from ldptrace import __version__, plugins
from ldptrace.cli.common import UsageError, note, said_as_notes, sentence
from ldptrace.errors import LdptraceError

if TYPE_CHECKING:
    from types import FrameType

# Exit status after Ctrl-C, and after other signals that end a program.
STOPPED = 130
ENDED = {
    signal.SIGINT: STOPPED,
    signal.SIGTERM: 143,
    **({signal.SIGHUP: 129} if hasattr(signal, "SIGHUP") else {}),
}
# Code that swallows what is raised in it: imports of compiled libraries, and callbacks of the compiler. A signal during
# it is sent again soon.
SWALLOWING = ("<frozen importlib", "llvmlite")
# Servers handle signals themselves and keep what they wrote. What a device gave away stays in its ledger, so its report
# stays too.
LASTING = frozenset({"serve", "shuffle", "fleet", "campaign", "report"})
# Idle threads of the linear algebra wait at full speed for 2^26 ticks of the clock before they sleep, and most of a
# command has no work for them. After 2^20 ticks, half a millisecond, they leave the processors to others.
WAIT = ("OPENBLAS_THREAD_TIMEOUT", "20")
# The commands of each area, in the order of the help.
AREAS = {
    "generate": ("demo", "generate"),
    "synthesize": ("synthesize", "stream"),
    "evaluate": ("evaluate", "attack"),
    "files": ("inspect", "convert", "roads"),
    "plan": ("plan",),
    "own": ("report",),
    "collect": ("tally", "estimate", "fit", "sample"),
    "decode": ("decode",),
    "products": ("matrix", "flows", "profile", "statement"),
    "audit": ("audit",),
    "serve": ("serve", "shuffle"),
    "campaign": ("campaign",),
    "fleet": ("fleet",),
}
# The area of each command, and the commands of which all files stay or none.
AREA_OF = {name: area for area, commands in AREAS.items() for name in commands}
WHOLE = AREA_OF.keys() - LASTING


def application(command: str | None = None) -> typer.Typer:
    """Make the application with all commands, or with the commands that this command line needs."""
    app = typer.Typer(
        name="ldptrace",
        help="Synthetic trajectories under local differential privacy.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def start(
        context: typer.Context,
        version: bool = typer.Option(
            False, "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        """Synthetic trajectories under local differential privacy."""
        context.with_resource(said_as_notes())

    if command in AREA_OF:
        _add_area(app, AREA_OF[command])
        return app
    if command == "--version":
        return app
    other = None if command is None else plugins.find(plugins.COMMANDS, command)
    if other is not None:
        plugins.load(other)(app)
        return app
    others = plugins.installed(plugins.COMMANDS)
    for area in AREAS:
        _add_area(app, area)
    for name in sorted(others.keys() - AREA_OF.keys()):
        # A command of another package that cannot be imported is reported, and all other commands work.
        try:
            plugins.load(others[name])(app)
        except LdptraceError as error:
            note(f"warning: {error}")
    return app


def _add_area(app: typer.Typer, area: str) -> None:
    module = import_module(f"ldptrace.cli.{area}")
    for name in AREAS[area]:
        command = getattr(module, name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ldptrace {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Bad input prints one sentence and gives exit status 2."""
    os.environ.setdefault(*WAIT)
    # Where the encoding of a pipe has no arrows, as on Windows, a question mark stands for each.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            # For people: no file names and line numbers.
            warnings.showwarning = lambda message, *_, **__: note(f"warning: {message}")
            command = next(iter(sys.argv[1:]), None)
            run = application(command)
            with _whole() if command in WHOLE else nullcontext():
                status = run(prog_name="ldptrace", standalone_mode=False)
            sys.exit(status)
    except typer.Abort:
        # A question was answered with no.
        note("nothing done")
        sys.exit(1)
    except BrokenPipeError:
        # Whoever reads has seen enough; files were written before anything was printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (UsageError, LdptraceError, MemoryError, OSError) as error:
        said = sentence(error, sys.argv)
        if said:
            note(f"error: {said}")
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as stop:
        # Typer makes an exit of Ctrl-C, without a word.
        code = stop.code if isinstance(stop, SystemExit) else STOPPED
        if code not in (STOPPED, *ENDED.values()):
            raise
        note("stopped")
        sys.exit(code)


@contextmanager
def _whole() -> Iterator[None]:
    """Let a command write all of its files or none, also if a signal ends it."""
    from ldptrace.core.atomic import together

    before: dict[int, Any] = {}
    ended: list[int] = []
    again: list[threading.Timer] = []
    is_over = False

    def end(number: int, frame: FrameType | None) -> None:
        if is_over:
            return
        ended.append(ENDED[signal.Signals(number)])
        while frame is not None and not any(name in frame.f_code.co_filename for name in SWALLOWING):
            frame = frame.f_back
        if frame is None:
            sys.exit(ended[0])
        again.append(threading.Timer(0.1, _to_main_thread, (number,)))
        again[-1].start()

    if threading.current_thread() is threading.main_thread():
        # What nohup ignores stays ignored.
        heard = [number for number in ENDED if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, end) for number in heard}
    try:
        with together():
            try:
                yield
            finally:
                is_over = True
                for timer in again:
                    timer.cancel()
                # A library may make another error of the exit, or none.
                if ended:
                    sys.exit(ended[0])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _to_main_thread(number: int) -> None:
    """Send a signal to the thread that runs the command, which may wait for others."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
