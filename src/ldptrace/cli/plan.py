"""`ldptrace plan`: choose a plan from public facts, and explain it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import JsonOption, check_outputs, note, table_console, write_text
from ldptrace.cli.options import with_options
from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from ldptrace.curator.planning import Outlook


@with_options(facts=Facts)
def plan(
    facts: Facts,
    campaign: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of the campaign (a collection on a server); the plan also gets a random number, so "
            "that no two campaigns have the same plan.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--out", help="File for the plan.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain/--no-explain", help="Whether to print the plan in plain words.")
    ] = True,
    json_file: JsonOption = None,
) -> None:
    """Write the plan of a collection: the public file with the questions to devices, the grid and epsilon.

    With --grid auto, the command chooses the grid with the smallest predicted error.

    With --every the command writes a standing plan: each device answers again in every time window, for example once a
    week, until its answers have spent the epsilon of --lifetime.
    """
    from ldptrace.protocol.plan import CampaignName
    from ldptrace.protocol.words import explain as sentences

    check_outputs([output, json_file])
    if facts.bounds is None:
        if output is not None:
            raise InputError(
                "a plan that is written needs the public bounds of the area: give --bounds X0,Y0,X1,Y1"
            )
        # Enough to see what a plan would promise.
        facts = replace(facts, bounds=(0.0, 0.0, 1.0, 1.0))
    chosen, view, noise = facts.plan(), facts.outlook(), facts.noise()
    if campaign is not None:
        chosen = chosen.changed(campaign=CampaignName.fresh(campaign))
    words = sentences(chosen, facts.users)
    if output is not None:
        # A plan is known by its bytes: not one more.
        write_text(chosen.to_json(), output, end="")
        note(f"plan {chosen.id[:12]} written to {output}")
    if json_file is not None:
        document = {
            "plan_id": chosen.id,
            "plan": chosen.document(),
            "outlook": None if view is None else asdict(view) | {"error": view.error},
            "mostly_noise": noise,
            "explanation": words,
        }
        write_text(json.dumps(document, indent=2), json_file)
    if str(json_file) == "-":
        return
    console = table_console(output)
    if view is not None:
        console.print(_outlooks(view, facts))
    if explain:
        console.print("\n".join(words), markup=False, soft_wrap=True)
    if noise:
        note(f"Note: {noise}.")


def _outlooks(chosen: Outlook, facts: Facts) -> Table:
    """Return a table of the chosen grid and similar grids, with the predicted error of each."""
    from rich.table import Table

    from ldptrace.curator.planning import FLAT, GRIDS, MAP_GRID, MAP_NOISE, outlook

    users, epsilon, trip = facts.users, float(facts.budget), facts.trip
    table = Table(
        caption=f"--grid auto chooses N among {', '.join(map(str, GRIDS))}; for a map, N is at least {MAP_GRID} if the "
        f"noise of {MAP_GRID} x {MAP_GRID} cells is at most {MAP_NOISE:g}. m is the largest within {FLAT - 1:.0%} of "
        "the best, because it cuts fewer long trips.",
        caption_justify="left",
        title=f"Relative error of the traffic in a ninth of the area: {users:,} user{'' if users == 1 else 's'}, "
        f"epsilon {epsilon:g}",
    )
    for column in ("cells N x N", "moves m", "noise", "shape", "traffic error", ""):
        table.add_column(column, justify="right")
    # The grids that it was chosen among, and itself where somebody chose another.
    near = {(n, None) for n in (*GRIDS, chosen.n)}
    moves = {
        (chosen.n, m) for m in (chosen.most_moves - 1, chosen.most_moves + 1, chosen.most_moves + 3) if m >= 1
    }
    views = [outlook(users, epsilon, n, trip=trip, most_moves=m) for n, m in near | moves]
    for view in sorted(views, key=lambda v: (v.n, v.most_moves)):
        mark = "chosen" if view == chosen else f"{view.error / chosen.error - 1:+.0%}"
        table.add_row(
            str(view.n),
            str(view.most_moves),
            f"{view.noise:.3f}",
            f"{view.shape:.3f}",
            f"{view.error:.3f}",
            mark,
        )
    return table
