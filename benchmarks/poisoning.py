"""How far lying clients push an estimate, measured, beside the formula.

    python -m benchmarks.poisoning [--users 100000] [--repeats 10] [--plot FILE.svg]

Honest devices are simulated report by report; liars send forged bytes that all name one cell. For each share of
liars: the shift of that cell's estimate, the formula's shift, and how often the curator's checks notice.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ldptrace.audit.poisoning import reach
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.receive import Receiver
from ldptrace.curator.tally import findings
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question, Start, Visits
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.reports import Report, plan_prefix
from ldptrace.protocol.round import Ask, Round
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
TARGET = 3
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
RATIO = ratio_at_most(Fraction(1))


@dataclass(frozen=True)
class Line:
    """One randomizer: formula and measurements by share of liars."""

    name: str
    formula: list[float]
    shift: list[float]
    spread: list[float]
    noticed: list[float]


def channels() -> dict[str, tuple[Question, Randomizer]]:
    start, visits = Start(6), Visits(6, 4)
    return {
        "OUE, start": (start, OUE(36, 1, RATIO)),
        "GRR, start": (start, GRR(36, 1, RATIO)),
        "PrivSet, start": (start, PrivSet.best(36, 1, RATIO)),
        "PrivSet, visits (m = 4)": (visits, PrivSet.best(36, 4, RATIO)),
    }


def forged(plan: Plan, channel: Randomizer, rng: np.random.Generator) -> bytes:
    """A valid report that names the target and, where more items must be named, random others."""
    others = rng.permutation([item for item in range(channel.outputs) if item != TARGET])
    count = channel.size if isinstance(channel, PrivSet) else 1
    named = sorted([TARGET, *others[: count - 1].tolist()])
    return Report(plan_prefix(plan), 0, 0, rng.bytes(16), channel.encode(named)).encode()


def measure(name: str, question: Question, channel: Randomizer, users: int, repeats: int) -> Line:
    plan = Plan("poisoning", GRID, Fraction(1), (Round((Ask(question, channel),), "everyone"),))
    rng = np.random.default_rng(1)
    up = reach(channel).up
    line = Line(name, [], [], [], [])
    for share in SHARES:
        shifts, noticed = [], 0
        for _ in range(repeats):
            liars = round(share * users)
            cells = rng.integers(0, GRID.cells, size=users - liars, dtype=np.int32)
            honest = collect(plan, CellPaths(cells, np.arange(len(cells) + 1), GRID), rng, mode="devices")
            receiver = Receiver(plan)
            receiver.receive(b"".join(forged(plan, channel, rng) for _ in range(liars)))
            tally = honest + receiver.tally
            estimate = Estimates.from_tally(plan, tally)[question.name].frequencies[TARGET]
            shifts.append(estimate - (cells == TARGET).sum() / users)
            noticed += bool(findings(plan, tally))
        line.formula.append(share * up)
        line.shift.append(float(np.mean(shifts)))
        line.spread.append(float(np.std(shifts)))
        line.noticed.append(noticed / repeats)
    return line


def draw(lines: list[Line], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    # Fixed names inside the file, so that a rerun changes only what changed.
    plt.rcParams["svg.hashsalt"] = "poisoning"
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    percent = [100 * share for share in SHARES]
    for line in lines:
        (drawn,) = axes.plot(percent, line.formula, label=line.name, linewidth=1)
        axes.errorbar(percent, line.shift, line.spread, fmt="o", color=drawn.get_color(), markersize=4)
        seen = [k for k, rate in enumerate(line.noticed) if rate >= 0.5]
        noticed = [line.shift[k] for k in seen]
        axes.plot([percent[k] for k in seen], noticed, "o", markersize=11, mfc="none", mec="black")
    axes.plot(percent, SHARES, "--", color="grey", label="false trajectory, honest code", linewidth=1)
    axes.plot([], [], "o", markersize=11, mfc="none", mec="black", label="noticed by the checks")
    axes.set_xlabel("lying clients, % of those asked")
    axes.set_ylabel("shift of the target's estimate\n(users per user asked)")
    axes.set_title("Lines: formula. Points: measured. 36 cells, epsilon 1", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    lines = [
        measure(name, question, channel, arguments.users, arguments.repeats)
        for name, (question, channel) in channels().items()
    ]
    print(
        f"{arguments.users:,} clients, {arguments.repeats} repeats, epsilon 1, 36 cells; shift of one cell's estimate"
    )
    for line in lines:
        print(f"\n{line.name}")
        print("  liars    formula   measured   spread   noticed")
        for row in zip(SHARES, line.formula, line.shift, line.spread, line.noticed, strict=True):
            print("  {:5.1%}  {:8.4f}   {:8.4f}  {:7.4f}   {:6.0%}".format(*row))
    if arguments.plot:
        draw(lines, arguments.plot)


if __name__ == "__main__":
    main()
