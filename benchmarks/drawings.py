"""Pictures of the explanations, drawn from the code that they explain: no number in them is typed in.

    python -m benchmarks.drawings [--out docs/images]

one-report.svg: a trip, its report, and what 100, 10,000 and 100,000 reports show.
standing.svg: the windows, trips and answers of one person in a standing collection.
belief.svg: how much a report can change a belief, and how precise the answers are, by epsilon.
kept.svg: what a device, a server and a release hold, and what is kept nowhere.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.generators import city
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import cell_name
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Visits
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.standing import Standing
from ldptrace.simulation import collect

CELLS = 6
MOST = 5
TRUE, NAMED = (3, 4, 10), (10, 27)
BLUE, ORANGE, GREY = "#0b6e99", "#d95f0e", "#888888"
WEEK = 7 * 86_400
# Who holds what: title, what is kept, colour.
HELD = (
    ("device", ("trips", "ledger: what was\nanswered, epsilon spent"), BLUE),
    (
        "server",
        ("counts per question", "ids of counted reports,\nuntil publication", "hashes of tokens"),
        GREY,
    ),
    (
        "release, public",
        ("synthetic trips, model", "estimates", "how well the model\nfits the answers"),
        ORANGE,
    ),
)
PASSED = ("randomised\nreport, {size} bytes", "a model of\nthe counts")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    folder: Path = parser.parse_args().out
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "drawings", "font.size": 10}
    for draw in (one_report, standing, belief, kept):
        name = draw.__name__.replace("_", "-")
        draw().savefig(folder / f"{name}.svg", metadata={"Date": None})
        print(folder / f"{name}.svg")


def one_report() -> Any:
    """The worked example of the page "One report per user", and maps from more and more reports."""
    import matplotlib.pyplot as plt

    plan = Plan("visits", Grid((0, 0, 20_000, 20_000), CELLS), Fraction(1), (Round((asked(1),), "everyone"),))
    town = few_cells(CellPaths.from_trajectories(city(40_000, seed=1), plan.grid))
    rng = np.random.default_rng(1)
    figure, panels = plt.subplots(2, 3, figsize=(8.4, 5.9), layout="constrained")
    axes = panels.ravel()
    _cells(
        axes[0],
        "a trip crosses\ncells {}, {} and {}".format(*(cell_name(cell, CELLS) for cell in TRUE)),
        dict.fromkeys(TRUE, BLUE),
    )
    x, y = zip(*(_middle(cell) for cell in TRUE), strict=True)
    axes[0].plot(x, y, color="white", linewidth=2, marker="o", markersize=5)
    _cells(
        axes[1],
        "its report names\ncells {} and {}".format(*(cell_name(cell, CELLS) for cell in NAMED)),
        {NAMED[0]: BLUE, NAMED[1]: ORANGE},
    )
    for cell, word in zip(NAMED, ("true", "random"), strict=True):
        axes[1].text(*_middle(cell), word, ha="center", va="center", fontsize=7, color="white")
    crossed = np.unique(np.repeat(np.arange(len(town)), town.sizes) * CELLS**2 + town.cells) % CELLS**2
    truth = np.bincount(crossed, minlength=CELLS**2) / len(town)
    maps = {f"{count:,} reports": shares(plan, town, count, rng) for count in (100, 10_000, 100_000)}
    for axis, (title, values) in zip(axes[2:], (maps | {"the truth": truth}).items(), strict=True):
        shown = axis.imshow(
            values.reshape(CELLS, CELLS).T, origin="lower", vmin=0, vmax=truth.max(), cmap="GnBu"
        )
        error = np.sqrt(np.mean((values - truth) ** 2))
        axis.set_title(
            f"{title}\n" + (f"error {100 * error:.1f} % of people" if error else "share of people")
        )
        axis.set_xticks([])
        axis.set_yticks([])
    figure.colorbar(shown, ax=panels, shrink=0.6, format=lambda share, _: f"{100 * share:.0f} %")
    return figure


def few_cells(paths: CellPaths) -> CellPaths:
    """The paths that a device can name completely: longer ones name some of their cells only."""
    return paths.take(np.flatnonzero(paths.sizes <= MOST))


def asked(epsilon: float) -> Ask:
    """The question which cells a trip crosses, with the randomizer of the default plan."""
    question = Visits(CELLS, MOST)
    return Ask(
        question, PrivSet.best(question.domain, question.capacity, ratio_at_most(Fraction(epsilon))), SHARES
    )


def shares(plan: Plan, town: CellPaths, count: int, rng: np.random.Generator) -> Any:
    """Estimated shares of people who cross each cell, from reports of this many people."""
    people = town.take(rng.integers(len(town), size=count))
    return Estimates.from_tally(plan, collect(plan, people, rng))["visits"].frequencies[: CELLS**2]


def _middle(cell: int) -> tuple[float, float]:
    return cell // CELLS + 0.5, cell % CELLS + 0.5


def _cells(axis: Any, title: str, coloured: dict[int, str]) -> None:
    """The grid with the names of its cells, some of them coloured."""
    from matplotlib.patches import Rectangle

    for cell in range(CELLS**2):
        x, y = _middle(cell)
        fill = coloured.get(cell, "white")
        axis.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="#bbbbbb", linewidth=0.7)
        )
        colour = "white" if cell in coloured else GREY
        axis.text(x - 0.44, y + 0.42, cell_name(cell, CELLS), fontsize=7, va="top", color=colour)
    axis.set(xlim=(0, CELLS), ylim=(0, CELLS), xticks=[], yticks=[], aspect="equal", title=title)


def standing() -> Any:
    """One person, weekly windows at epsilon 1 with a lifetime of 5: trips, answers, and the epsilon that they cost."""
    import matplotlib.pyplot as plt

    rule, rng = Standing.of(WEEK, epsilon=1, lifetime=5, start=0), np.random.default_rng(3)
    phase = int(2.6 * 86_400)
    ends = [rule.end(k, phase) for k in range(8)]
    trips = np.sort(rng.uniform(phase, ends[-1], 22))
    trips = trips[(trips < ends[3]) | (trips > ends[4])]
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(11, 3.9), sharex=True, layout="constrained", height_ratios=(1, 1.15)
    )
    spent, steps = 0, [(0.0, 0)]
    for number, (begin, end) in enumerate(pairwise(ends), start=1):
        answered = spent + 1 <= rule.lifetime
        above.axvspan(begin, end, color="#e7f1f4" if number % 2 else "#f7f7f7", linewidth=0)
        above.text((begin + end) / 2, 0.93, f"window {number}", ha="center", va="top", fontsize=9, color=GREY)
        inside = trips[(trips > end - rule.recent) & (trips <= end)]
        above.plot(inside, np.full(len(inside), 0.35), "o", color=GREY, markersize=5)
        if not answered:
            words = "no more answers"
        elif len(inside):
            drawn = rng.choice(inside)
            above.plot([drawn], [0.35], "o", color=ORANGE, markersize=8)
            words = "answer about\none trip"
        else:
            words = "answer about\nno trip"
        above.text(end - WEEK * 0.03, 0.72, words, ha="right", va="top", fontsize=8, color=BLUE)
        if answered:
            above.plot([end], [0.08], marker="^", color=BLUE, markersize=9)
            spent += 1
            steps.append((end, spent))
    steps.append((ends[-1] + 0.3 * WEEK, spent))
    above.set(ylim=(0, 1), yticks=[], xlim=(0, ends[-1] + 0.3 * WEEK))
    above.set_title(
        "grey: trips; orange: the trip that is drawn; triangle: a report is sent", fontsize=10, loc="left"
    )
    below.step(*zip(*steps, strict=True), where="post", color=BLUE, linewidth=2)
    below.axhline(float(rule.lifetime), color=ORANGE, linestyle="--")
    below.text(0.1 * WEEK, float(rule.lifetime) - 0.15, "lifetime of the plan", color=ORANGE, va="top")
    below.set(ylim=(0, float(rule.lifetime) + 0.6), ylabel="epsilon spent", yticks=range(6))
    below.set_xticks([WEEK * week for week in range(8)], [f"Monday {week + 1}" for week in range(8)])
    for side in ("top", "right"):
        below.spines[side].set_visible(False)
    return figure


def belief() -> Any:
    """What a report can change in a belief, and what the answers of many people are worth."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    before = np.linspace(0, 1, 201)
    left.plot(before, before, color=GREY, linestyle=":", label="no report")
    for epsilon, colour in zip((0.5, 1, 2, 4), ("#9ecae1", BLUE, "#fdae6b", ORANGE), strict=True):
        factor = float(ratio_at_most(Fraction(epsilon)))
        after = factor * before / (factor * before + 1 - before)
        left.plot(before, after, color=colour, linewidth=2, label=f"epsilon {epsilon:g}: {after[100]:.0%}")
        left.plot([0.5], [after[100]], "o", color=colour, markersize=5)
    left.axvline(0.5, color="#dddddd", zorder=0)
    percent = {"major_formatter": lambda share, _: f"{100 * share:.0f} %"}
    left.set(
        xlabel="belief before reading the report",
        ylabel="largest belief after it",
        title="What one report can reveal",
    )
    left.legend(title="from 50 % to at most", frameon=False)
    epsilons = np.geomspace(0.25, 4, 33)
    for users, colour in ((10_000, "#fdae6b"), (100_000, BLUE), (1_000_000, "#9ecae1")):
        right.plot(
            epsilons,
            [error(float(e), users) for e in epsilons],
            color=colour,
            linewidth=2,
            label=f"{users:,} users",
        )
    right.set(xscale="log", yscale="log", xlabel="epsilon", title="How precise the answers are")
    right.set_ylabel("standard error of the share of people\nwho cross a cell")
    right.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    right.set_xticks([], minor=True)
    right.set_yticks([0.001, 0.01, 0.1], ["0.1 %", "1 %", "10 %"])
    right.grid(alpha=0.3)
    right.legend(frameon=False)
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter(percent["major_formatter"])
    return figure


def kept() -> Any:
    """Where what is kept. The size of a report is that of the default plan."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    plan = Plan.single_report(Grid((0, 0, 1, 1), CELLS), 1)
    figure, axis = plt.subplots(figsize=(9, 2.5), layout="constrained")
    axis.set(xlim=(-0.15, 12.5), ylim=(-0.8, 2.6))
    axis.axis("off")
    for place, (title, lines, colour) in enumerate(HELD):
        left = 4.7 * place
        box = FancyBboxPatch((left, 0), 2.9, 2, boxstyle="round,pad=0.05", edgecolor=colour, facecolor="none")
        axis.add_patch(box)
        axis.text(left + 1.45, 2.25, title, ha="center", weight="bold", color=colour)
        text = "\n".join(f"• {line}".replace("\n", "\n   ") for line in lines)
        axis.text(left + 0.1, 1.9, text, va="top", linespacing=1.5, fontsize=9)
    for place, words in enumerate(PASSED):
        begin = 4.7 * place + 3.05
        axis.annotate("", (begin + 1.5, 0.8), (begin, 0.8), arrowprops={"arrowstyle": "-|>", "lw": 2})
        said = words.format(size=report_bytes(plan.rounds[0]))
        axis.text(begin + 0.75, 1.0, said, ha="center", va="bottom", fontsize=9)
    nowhere = "Kept nowhere: reports, network addresses, times of reports, which code came with which report"
    axis.text(6.1, -0.55, nowhere, ha="center", color=GREY)
    return figure


def error(epsilon: float, users: int) -> float:
    """The standard error of a share that a plan expects, from the users who are asked about cells."""
    plan = Plan.single_report(Grid((0, 0, 1, 1), CELLS), Fraction(f"{epsilon:.2f}"))
    ask = next(ask for ask in plan.rounds[0].asks if ask.question.name == "visits")
    members = users * ask.share / SHARES
    return math.sqrt(ask.randomizer.variance(members)) / members


if __name__ == "__main__":
    main()
