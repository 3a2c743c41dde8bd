"""`ldptrace plan`: choose a plan from public facts, and explain it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import JsonOption, check_outputs, note, table_console, write_text
from ldptrace.cli.options import with_options
from ldptrace.curator.facts import SHUFFLER, Facts
from ldptrace.curator.hiding import refused_by_default
from ldptrace.curator.opening import CuratorKey
from ldptrace.device.storage import replace_file
from ldptrace.errors import InputError
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.seals import GENERATOR

if TYPE_CHECKING:
    from rich.table import Table

    from ldptrace.curator.planning import Outlook


@with_options(facts=Facts)
def plan(
    facts: Facts,
    campaign: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Name of the campaign (a collection on a server); the plan also gets a random number, so that no two "
        "campaigns have the same plan.",
    ),
    output: Path | None = typer.Option(None, "-o", "--out", help="File for the plan."),
    explain: bool = typer.Option(
        True, "--explain/--no-explain", help="Whether to print the plan in plain words."
    ),
    json_file: JsonOption = None,
) -> None:
    """Write the plan of a collection: the public file with the questions to devices, the grid and epsilon.

    With --grid auto, the command chooses the grid with the smallest predicted error.

    With --every the command writes a standing plan: each device answers again in every time window, for example once a
    week, until its answers have spent the epsilon of --lifetime.

    With --shuffled, reports go through an independent shuffler, and fewer people tell as much. Without --key, the
    command makes a pair of keys and writes the private one beside the plan, to PLAN.key: keep it on the curator's
    server. Without --closes, the batch closes in 30 days. The command also prints what the same people would tell
    without a shuffler.
    """
    from ldptrace.protocol.words import explain as sentences

    check_outputs([output, json_file])
    if facts.bounds is None:
        if output is not None:
            raise InputError(
                "a plan that is written needs the public bounds of the area: give --bounds X0,Y0,X1,Y1"
            )
        # Enough to see what a plan would promise.
        facts = replace(facts, bounds=(0.0, 0.0, 1.0, 1.0))
    secret = _secret(facts, output)
    # A plan that is only shown needs some key: that of the private key 1.
    chosen = facts.plan(None if facts.key else GENERATOR if secret is None else secret.public)
    view, noise = facts.outlook(), facts.noise()
    if campaign is not None:
        chosen = chosen.changed(campaign=CampaignName.fresh(campaign))
    words = sentences(chosen, facts.users)
    if output is not None:
        # A plan is known by its bytes: not one more.
        write_text(chosen.to_json(), output, end="")
        note(f"plan {chosen.id[:12]} written to {output}")
        if secret is not None:
            replace_file(str(key_file(output)), f"{secret.text}\n".encode(), 0o600)
            note(f"private key written to {key_file(output)}: only the curator's server may have it")
        if facts.shuffled and facts.shuffler is None:
            note(f"the plan names the shuffler {SHUFFLER}, for trials; give --shuffler and --operator")
    direct = facts.direct().outlook() if facts.shuffled else None
    if json_file is not None:
        document = {
            "plan_id": chosen.id,
            "plan": chosen.document(),
            "outlook": None if view is None else asdict(view) | {"error": view.error},
            "mostly_noise": noise,
            "direct": None if direct is None else asdict(direct) | {"error": direct.error},
            "explanation": words,
        }
        write_text(json.dumps(document, indent=2), json_file)
    if str(json_file) == "-":
        return
    console = table_console(output)
    if view is not None:
        console.print(_outlooks(view, facts))
    if view is not None and direct is not None:
        console.print(_both_ways(view, direct, facts, chosen))
    if explain:
        console.print("\n".join(words), markup=False, soft_wrap=True)
    for caution in (noise, refused_by_default(chosen)):
        if caution:
            note(f"Note: {caution}.")


def _secret(facts: Facts, output: Path | None) -> CuratorKey | None:
    """Draw the keys of a shuffled plan that is written and has none."""
    if not facts.shuffled or facts.key is not None or output is None:
        return None
    if str(output) == "-":
        raise InputError("a private key is written beside the plan: give -o a file, or --key")
    if key_file(output).exists():
        raise InputError(
            f"{key_file(output)} exists, and may open the reports to another plan: give -o another file"
        )
    return CuratorKey.drawn()


def key_file(output: Path) -> Path:
    """Return where the private key of a plan is."""
    return output.with_name(f"{output.name}.key")


def _both_ways(view: Outlook, direct: Outlook, facts: Facts, chosen: Plan) -> Table:
    """Return a table of the shuffled plan and of a direct one with the same people and the same epsilon."""
    from rich.table import Table

    from ldptrace.curator.planning import outlook

    shuffled, epsilon = chosen.shuffled, float(facts.epsilon)
    assert shuffled is not None
    # On the same grid, noise falls with the root of the number of people.
    same = outlook(facts.users, epsilon, view.n, trip=facts.trip, most_moves=facts.most_moves)
    needed = facts.users * (same.noise / view.noise) ** 2
    table = Table(
        caption=f"For the same predicted noise, about {float(f'{needed:.2g}'):,.0f} people would have to answer "
        "directly. Both promises are for the replacement of one person's data.",
        caption_justify="left",
        title=f"The same {facts.users:,} people with and without a shuffler",
    )
    for column in ("", "epsilon", "if shuffler and curator work together", "traffic error"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("direct", f"{epsilon:g}", f"{epsilon:g}", f"{direct.error:.3f}")
    central = f"{float(shuffled.epsilon):g}, delta {float(shuffled.delta):g}"
    table.add_row("shuffled", central, f"{float(chosen.epsilon):g}", f"{view.error:.3f}")
    return table


def _outlooks(chosen: Outlook, facts: Facts) -> Table:
    """Return a table of the chosen grid and similar grids, with the predicted error of each."""
    from rich.table import Table

    from ldptrace.curator.planning import FLAT, GRIDS, MAP_GRID, MAP_NOISE, outlook

    users, epsilon, trip = facts.users, float(facts.budget), facts.trip
    table = Table(
        caption=f"--grid auto chooses N among {', '.join(map(str, GRIDS))}; without a map, only among those with about "
        f"as little noise in starts and ends of trips as {GRIDS[0]} x {GRIDS[0]}; for a map, N is at least {MAP_GRID} "
        f"if the noise of {MAP_GRID} x {MAP_GRID} cells is at most {MAP_NOISE:g}. m is the largest within "
        f"{FLAT - 1:.0%} of the best, because it cuts fewer long trips.",
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
