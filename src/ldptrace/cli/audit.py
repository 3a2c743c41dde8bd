"""`ldptrace audit`: try to break the privacy promise of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from ldptrace.cli.common import Progress, check_outputs, read_as, table_console, write_text
from ldptrace.curator.facts import PAPER, SINGLE
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES

if TYPE_CHECKING:
    from rich.console import Console

    from ldptrace.audit import Audit

# Methods whose devices follow a plan; the second round of the paper's is audited as for L_k = 5.
METHODS = (SINGLE, *PAPER)
QUANTILE = 5


def audit(
    plan: str = typer.Argument(metavar="PLAN|METHOD", help="File of a plan, or the name of a method."),
    json: Path | None = typer.Option(
        None, help="File for all findings of the audit as JSON; - writes to standard output."
    ),
    trials: int = typer.Option(
        4000, min=100, help="Number of reports that an attack draws for each trip that it tries to recognise."
    ),
    epsilon: float = typer.Option(
        1.0, help="Epsilon of the audited plan, if a method is given instead of a plan."
    ),
    grid: int = typer.Option(
        6, help="Number of cells per side of the grid, if a method is given instead of a plan."
    ),
    device: str | None = typer.Option(
        None,
        metavar="COMMAND",
        help="Command that starts your own client, which the audit then tests. The audit replaces {ledgers} in the "
        "command by the folder in which the client must keep its ledgers.",
    ),
) -> None:
    """Try to break the privacy promise of a plan. The exit status is 1 if an attack succeeds, otherwise 0."""
    from ldptrace.audit import CommandDevice
    from ldptrace.audit import audit as run

    check_outputs([json])
    chosen = plan_of(plan, epsilon, grid)
    with Progress() as stages, stages("audit"), ExitStack() as resources:
        client = None
        if device is not None:
            folder = resources.enter_context(TemporaryDirectory())
            client = resources.enter_context(CommandDevice(device, Path(folder)))
        outcome = run(chosen, trials=trials, device=client)
    if json is not None:
        write_text(outcome.to_json(), json)
    _print(outcome, table_console(json))
    typer.echo(outcome.summary(), err=str(json) == "-")
    if not outcome.stands:
        raise typer.Exit(1)


def plan_of(name: str, epsilon: float, n: int) -> Plan:
    """Return the plan in this file, or the plan of the method with this name, on a unit square."""
    if name not in METHODS:
        if name != "-" and not Path(name).exists():
            raise InputError(
                f"{name!r} is neither a plan document nor one of the methods {', '.join(METHODS)}"
            )
        return read_as(Path(name), Plan.from_json)
    square = Grid((0.0, 0.0, 1.0, 1.0), n)
    if name == SINGLE:
        return Plan.single_report(square, epsilon)
    return Plan.paper(square, epsilon, method=name).paper_second_round(QUANTILE)


def _print(audit: Audit, console: Console) -> None:
    from rich.table import Table

    from ldptrace.audit.poisoning import reach

    def show(title: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
        table = Table(*columns, title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*map(str, row))
        if table.row_count:
            console.print(table, "")

    def claims(
        title: str,
        columns: tuple[str, ...],
        findings: Iterable[Any],
        row: Callable[[Any], tuple[object, ...]],
    ) -> None:
        rows = ((*row(f), "[green]stands[/]" if f.stands else "[red]FALLS[/]") for f in findings)
        show(title, (*columns, "claim"), rows)

    console.print(f"Audit of plan {audit.plan.id[:12]}, method {audit.plan.method}, client {audit.device}\n")
    claims(
        "Exact: every input and output of the device code, on small domains with the plan's integers",
        ("round", "question", "randomizer", "cases", "true epsilon"),
        audit.exact,
        lambda f: (
            f.round + 1,
            f.question,
            f.kind if f.formulas_hold else f"{f.kind}, not as its formulas say",
            f"{f.inputs} x {f.outputs}",
            f"{f.epsilon:.14f}",
        ),
    )
    for epsilon, ratio in sorted({(f.epsilon, str(f.ratio)) for f in audit.exact if f.ratio is not None}):
        console.print(f"{epsilon:.14f} = ln({ratio})")
    console.print("")
    claims(
        "Marginals: how often each single item is named, at full size; the oddest one",
        ("round", "question", "items", "draws", "item", "observed", "expected"),
        audit.marginals,
        lambda f: (
            *(f.round + 1, f.question, f.items, f.draws, f"{f.item}, {'held' if f.held else 'not held'}"),
            *(f"{f.observed:.4f}", f"{f.expected:.4f}"),
        ),
    )
    claims(
        "Structure: messages for trajectories as different as the map allows, with equal luck",
        ("round", "property", "found"),
        audit.structure,
        lambda f: (f.round + 1, f.checked, f.detail),
    )
    claims(
        "Shuffler: the central epsilon, if shuffler and curator do not work together",
        ("of", "delta", "at most", "stated"),
        audit.central,
        lambda f: (f.checked, f"{f.delta:g}", f"{f.epsilon:.4g}", f"{f.claimed:g}"),
    )
    claims(
        "Source: what each report follows from",
        ("reports of", "reports", "bytes", "found"),
        audit.source,
        lambda f: (f.target, f.reports, f.bytes, f.detail),
    )
    claims(
        "Ledger: what the client remembers",
        ("checked", "steps", "found"),
        audit.ledger,
        lambda f: (f.checked, f.steps, f.detail),
    )
    asks = (ask for round_ in audit.plan.rounds for ask in round_.asks)
    show(
        "Liars: how many users a forged report adds to the estimate of an item; a false trip adds 1",
        ("question", "share of users", "one forged report adds", "to so many items"),
        (
            (ask.question.name, f"{ask.share / SHARES:.0%}", f"{lie.up:.1f}", lie.items)
            for ask, lie in ((ask, reach(ask.randomizer)) for ask in asks)
        ),
    )
    claims(
        "Black box: how much epsilon an attacker can prove from the messages alone",
        ("round", "asked", "attacked", "at least", "claimed"),
        audit.attacks,
        lambda f: (f.round + 1, f.target, f.looked_at, f"{f.epsilon_at_least:.3f}", f"{f.claimed:.3f}"),
    )
