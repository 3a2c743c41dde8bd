"""What all commands share: options, reading of input, notes, progress, and messages about a wrong command line.

Results go to stdout. Notes and progress go to stderr, and progress is shown on a terminal only.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, TypeVar

import typer

from ldptrace.core.atomic import STDOUT, atomic_path, check_output
from ldptrace.core.running import Stages
from ldptrace.errors import FormatError, InputError, LdptraceError, PlanError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars

    from ldptrace.core.reading import Reading
    from ldptrace.core.trajectories import Trajectories

Document = TypeVar("Document")


# Before Python 3.12 only the path class of the operating system can be extended, and its name differs.
class Address(type(Path())):  # type: ignore[misc]
    """A path that remembers its text, because a path such as s3a://bucket/trips loses one slash."""

    def __init__(self, text: str) -> None:
        self.address = text


def typed_path(text: str | Path) -> Path:
    """Make a path that remembers the address that was typed.

    >>> typed_path("s3a://bucket/trips").address
    's3a://bucket/trips'
    """
    return Address(text) if isinstance(text, str) and "://" in text else Path(text)


typed_path.__name__ = "path"  # the type that help texts show

InputArgument = Annotated[
    Path,
    typer.Argument(
        parser=typed_path,
        help="File of trips, or a folder or archive of files in one format; - reads standard input.",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help="Format of the output, such as csv; by default the file extension decides."
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Allow the output file to replace the input file.")
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="File for the results as JSON; - writes to standard output."),
]


PlanOption = Annotated[Path, typer.Option(help="File of the plan of the collection.")]
RoundOption = Annotated[
    int | None,
    typer.Option(
        "--round",
        min=1,
        help="Number of the round, from 1, if the plan asks devices in several rounds; by default the newest.",
    ),
]


def was_typed(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line, rather than by default or by the environment."""
    return str(context.get_parameter_source(name)) == "ParameterSource.COMMANDLINE"


def check_outputs(
    outputs: Iterable[Path | None], inputs: Iterable[Path] = (), *, force: bool | None = None
) -> None:
    """Raise an error before the work begins if an output cannot be written or would replace an input."""
    given = [path for path in outputs if path is not None]
    if [str(path) for path in given].count(STDOUT) > 1:
        raise InputError("only one output can go to standard output")
    sources = list(inputs)
    for number, path in enumerate(given):
        if os.path.realpath(path) in map(os.path.realpath, given[:number]) and not path.is_char_device():
            raise InputError(f"{path} is given for two outputs: give each a name of its own")
        check_output(path, sources, force=force)


def read_input(path: Path, reading: Reading, *, private: bool = False) -> Trajectories:
    """Read a file of trips, and print in one line what was kept and what was omitted. The trips of a simulation are
    `private`."""
    from ldptrace.io.files import read_with_account, refuse_unnamed_users

    trajectories, account = read_with_account(path, reading)
    note(account.line())
    if private:
        refuse_unnamed_users(trajectories, account.source)
    return trajectories


def read_document(path: Path) -> bytes:
    """Read the bytes of a file, or of standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def read_as(path: Path, reader: Callable[[bytes], Document]) -> Document:
    """Read a document from a file. An error in the document names the file."""
    try:
        return reader(read_document(path))
    except (FormatError, PlanError) as error:
        error.args = (f"{path}: {error}",)
        raise


def write_text(text: str, output: Path | None, *, end: str = "\n") -> None:
    """Write a document to a file, or to standard output if no file is given."""
    with atomic_path(output or "-") as temporary:
        temporary.write_text(text + end, encoding="utf-8")


def table_console(*outputs: Path | None) -> Console:
    """Return the console for tables: standard output, or stderr if a result goes to standard output."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # Whoever reads has seen enough, which is no failure; `main` ends quietly.
            raise BrokenPipeError

    return Pipe(stderr=any(str(path) == "-" for path in outputs), highlight=False)


def wide_console() -> Console:
    """Return a console on stdout; a table in a file is not folded to the width of a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 240)


def note(message: str) -> None:
    """Print one line to stderr."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


@contextmanager
def said_as_notes() -> Iterator[None]:
    """Print the log messages of long computations as notes."""
    handler, loggers = (
        logging.StreamHandler(),
        [logging.getLogger(f"ldptrace.{room}") for room in ("core", "models")],
    )
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)


class Progress(Stages):
    """Shows each stage of the work with a spinner and its time, on a terminal only.

    >>> with Progress() as stages:
    ...     with stages("read"):
    ...         pass
    >>> list(stages.seconds)
    ['read']
    """

    def __init__(self) -> None:
        super().__init__()
        self._bars = _bars() if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def tell(self, share: float) -> None:
        if self._bars is not None and self._bars.tasks:
            current = self._bars.tasks[-1]
            self._bars.update(current.id, description=f"{current.fields['name']} {share:.0%}")

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self._bars is None:
            with super().__call__(name):
                yield
            return
        bar = self._bars.add_task(name, total=None, name=name)
        with super().__call__(name):
            yield
        self._bars.update(bar, total=1, completed=1, description=name)


def _bars() -> Bars:
    """Make the progress display. The library that draws it is imported only if it is shown."""
    from rich import console, progress

    return progress.Progress(
        progress.SpinnerColumn(finished_text="✓"),
        progress.TextColumn("{task.description}", markup=False),
        progress.TimeElapsedColumn(),
        console=console.Console(stderr=True, highlight=False),
    )


@contextmanager
def counted(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal how many parts of a long work are done.

    Yields the function that takes what is done next, and how many parts are done, of how many.
    """
    from rich import console, progress

    err = console.Console(stderr=True, highlight=False)
    columns = (
        progress.TextColumn(title, markup=False),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.description}", markup=False),
    )
    with progress.Progress(*columns, console=err, disable=not err.is_terminal) as bars:
        task = bars.add_task("", total=None)
        yield lambda what, done, total: bars.update(task, description=what, completed=done, total=total)


# The error behind all errors of a command line; typer names only some of its children.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def sentence(error: Exception, words: Sequence[str]) -> str:
    """Turn an error into one sentence. The result is empty if typer has already printed the help."""
    if isinstance(error, MemoryError):
        return f"not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, LdptraceError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    text = str(getattr(error, "format_message", error.__str__)()).strip().rstrip(".?")
    text = text.replace(". Did you mean ", "; did you mean ")
    # What typer calls the values of options, and what people call them.
    text = re.sub(r"a valid int(eger)?( range)?\b", "a whole number", text)
    text = re.sub(r"a valid float( range)?\b", "a number", text)
    if not text:
        return ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else " ".join(["ldptrace", *words[1:2]])
    return f"{text[0].lower()}{text[1:]}; `{command} --help` lists what is allowed"
