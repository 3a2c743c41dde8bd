"""`ldptrace plan`: choose a plan from public facts, and explain it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ldptrace.cli.common import (
    CentreOption,
    JsonOption,
    TimeOption,
    WeekOption,
    check_outputs,
    note,
    parse_centre,
    table_console,
    write_text,
)
from ldptrace.cli.reading import BoundsOption, CrsOption, parse_bounds
from ldptrace.cli.windows import (
    EveryOption,
    LifetimeOption,
    QuestionsOption,
    RecentOption,
    StartOption,
    questions_of,
    standing_of,
)
from ldptrace.errors import InputError
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.protocol.grid import Grid

if TYPE_CHECKING:
    from rich.table import Table

    from ldptrace.curator.planning import Outlook


def plan(
    users: Annotated[int, typer.Option(min=1, help="Expected number of users.")],
    epsilon: Annotated[
        float,
        typer.Option(
            help="Epsilon, the privacy budget of each user (with --every, of each answer); smaller is more private."
        ),
    ],
    bounds: BoundsOption = None,
    grid: Annotated[
        str,
        typer.Option(metavar="N|auto", help="Number of cells per side of the grid; auto chooses the number."),
    ] = "auto",
    mean_trip: Annotated[
        float | None,
        typer.Option(
            help="Mean length of a trip from public statistics, in the unit of the bounds; by default "
            "half the longer side of the bounds."
        ),
    ] = None,
    method: Annotated[
        Literal["single-report", "paper", "paper-unpadded"],
        typer.Option(
            help="Method of the collection; paper and paper-unpadded are methods of the LDPTrace paper."
        ),
    ] = "single-report",
    for_map: Annotated[
        bool,
        typer.Option(
            "--for-map",
            help="Divide the users among the questions in the best way for a model with a street map "
            "(`fit --roads`).",
        ),
    ] = False,
    time: TimeOption = False,
    week: WeekOption = False,
    centre: CentreOption = None,
    questions: QuestionsOption = None,
    crs: CrsOption = None,
    every: EveryOption = None,
    recent: RecentOption = None,
    start: StartOption = None,
    lifetime: LifetimeOption = None,
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
    from ldptrace.cli.synthesize import whole_number
    from ldptrace.curator.planning import TRIP, choose_grid, choose_plan, mostly_noise
    from ldptrace.protocol.plan import CampaignName
    from ldptrace.protocol.plan import Plan as Collection
    from ldptrace.protocol.shares import Wanted
    from ldptrace.protocol.words import explain as sentences

    budget = epsilon_fraction(epsilon)
    check_outputs([output, json_file])
    box = parse_bounds(bounds) or (0.0, 0.0, 1.0, 1.0)
    if bounds is None and output is not None:
        raise InputError(
            "a plan that is written needs the public bounds of the area: give --bounds X0,Y0,X1,Y1"
        )
    side = max(box[2] - box[0], box[3] - box[1])
    trip = TRIP if mean_trip is None else mean_trip / side
    n = choose_grid(users, float(budget), trip, for_map) if grid == "auto" else whole_number("--grid", grid)
    view = None
    if method == "single-report":
        named = questions_of(questions)
        wanted = Wanted(time=time, week=week, centre=parse_centre(centre), for_map=for_map, questions=named)
        chosen, view = choose_plan(users, budget, box, n=n, trip=trip, wanted=wanted, crs=crs)
    elif time or week or centre is not None:
        raise InputError(f"method {method} asks nothing about time")
    elif questions is not None or every is not None:
        raise InputError(f"method {method} has its own questions and no windows")
    else:
        chosen = Collection.paper(Grid(box, n), budget, method=method)
    standing = standing_of(budget, every, recent, start, lifetime)
    chosen = chosen.changed(
        standing=standing, campaign=None if campaign is None else CampaignName.fresh(campaign)
    )
    words = sentences(chosen, users)
    noise = mostly_noise(users, budget, n, trip=trip)
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
        console.print(_outlooks(view, users, epsilon, trip))
    if explain:
        console.print("\n".join(words), markup=False, soft_wrap=True)
    if noise:
        note(f"Note: {noise}.")


def _outlooks(chosen: Outlook, users: int, epsilon: float, trip: float) -> Table:
    """Return a table of the chosen grid and similar grids, with the predicted error of each."""
    from rich.table import Table

    from ldptrace.curator.planning import FLAT, GRIDS, MAP_GRID, MAP_NOISE, outlook

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
