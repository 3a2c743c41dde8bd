"""The published randomiser beside the correct one, on the same data.

    python -m benchmarks.published_randomizer [--data FOLDER] [--repeats K] [--out FOLDER]

Until July 2023 the public code of LDPTrace drew every bit of its unary encoding with probability q, then set the
true bit with probability 1/2 and otherwise left it as drawn. The true bit was 1 with probability (1 + q) / 2
instead of 1/2. This simulates that client with the paper's split of the budget, de-biased as the code did, beside
the same mechanism with the correct client. What follows from it, and what does not:
docs/explanation/published-numbers.md.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from benchmarks.tables import Scores, header, repeated, row, save
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates, Tally
from ldptrace.models.lengths import length_quantile
from ldptrace.models.markov import MarkovModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation.answers import answers
from ldptrace_lab.reproduce.published import EPSILONS, LDPTRACE, utility

CLIENTS = ("published", "correct", "correct, padded")
QUANTILE = 0.9


def true_bit(q: float, client: str) -> float:
    """Chance that a client sends 1 for its true item."""
    return (1 + q) / 2 if client == "published" else 0.5


def spent(epsilon: float, client: str) -> float:
    """Epsilon that one report of the client really spends when `epsilon` is what it is configured with.

    Two different items: the largest ratio is that of a report with the bit of one of them set and of the other not.
    """
    q = 1 / (math.exp(epsilon) + 1)
    p = true_bit(q, client)
    return math.log(p * (1 - q) / ((1 - p) * q))


def collected(
    plan: Plan, paths: CellPaths, round_number: int, client: str, rng: np.random.Generator
) -> Tally:
    """The tally of a round, each bit drawn as the client draws it."""
    everyone = np.arange(len(paths), dtype=np.int64)
    counts, reports = [], []
    for ask in plan.rounds[round_number].asks:
        rows = answers(ask.question, paths, everyone, rng)
        if not plan.rounds[round_number].padded:
            rows = rows[rows[:, 0] >= 0]
        held = np.bincount(rows[rows >= 0], minlength=ask.randomizer.domain)
        q = float(ask.randomizer.probabilities[1])
        counts.append(rng.binomial(held, true_bit(q, client)) + rng.binomial(len(rows) - held, q))
        reports.append(len(rows))
    return Tally(plan.id, round_number, tuple(counts), tuple(reports), (len(paths),) * len(counts))


def scaled(lengths: Estimates) -> Estimates:
    """Length frequencies that add up to one. The published client inflates all of them by one factor."""
    estimate = lengths["length"]
    total = estimate.frequencies.sum()
    even = np.ones_like(estimate.std_errors)
    return Estimates(
        lengths.plan, {"length": replace(estimate, frequencies=estimate.frequencies / total, std_errors=even)}
    )


def synthetic(paths: CellPaths, epsilon: float, client: str, seed: int) -> tuple[Trajectories, int]:
    """The paper's mechanism with one of the clients; also the number of reports of a user at most."""
    rng = np.random.default_rng(seed)
    name = "paper" if client.endswith("padded") else "paper-unpadded"
    plan = Plan.paper(paths.grid, epsilon, method=name)
    estimates = scaled(Estimates.from_tally(plan, collected(plan, paths, 0, client, rng)))
    quantile = length_quantile(estimates["length"], QUANTILE)
    plan = plan.paper_second_round(quantile)
    estimates = estimates.joined(Estimates.from_tally(plan, collected(plan, paths, 1, client, rng)))
    model = MarkovModel.fit(estimates, capped=True)
    return place(model.sample_paths(len(paths), rng), rng), quantile + 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the Oldenburg files; without it, a generated city"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    data = oldenburg(arguments.data)
    paths = CellPaths.from_trajectories(data.trajectories, Grid(data.bounds, 6))
    results: dict[str, Scores | dict[str, float]] = {}
    for epsilon in EPSILONS:
        print(header(f"{data.name}, n = {len(paths):,}, eps = {epsilon:g}"))
        printed = utility("oldenburg", LDPTRACE, epsilon) or {}
        results[f"table 3, eps = {epsilon:g}"] = printed
        print(row("Table 3 (n = 500,000)", printed))
        for client in CLIENTS:
            reports = 0

            def make(seed: int, client: str = client, epsilon: float = epsilon) -> Trajectories:
                nonlocal reports
                trajectories, reports = synthetic(paths, epsilon, client, seed)
                return trajectories

            scores = repeated(data, make, arguments.repeats)
            results[f"{client}, eps = {epsilon:g}"] = scores
            print(row(f"{client} client", scores), flush=True)
            each = 0.9 * epsilon / (reports - 1)
            total = spent(epsilon / 10, client) + (reports - 1) * spent(each, client)
            print(
                f"    up to {reports} reports per user; they spend epsilon {total:.2f} where {epsilon:g} is stated"
            )
        print()
    save(arguments.out / "published_randomizer.json", results)
    plot(results, arguments.out / "published-numbers.svg")


def plot(results: dict[str, Scores | dict[str, float]], path: Path) -> None:
    """Three metrics against the stated epsilon, for Table 3 and for each client."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    lines = {
        "table 3": ("Table 3 of the paper", "#6b7280", "D"),
        "published": ("published code", "#c2410c", "o"),
        "correct": ("corrected code", "#0f766e", "s"),
    }
    plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "ldptrace", "font.size": 9}
    figure, axes = plt.subplots(1, 3, figsize=(7.6, 2.9), layout="constrained")
    for axis, metric in zip(axes, ("density_error", "trip_error", "pattern_error"), strict=True):
        for key, (label, colour, marker) in lines.items():
            values = [np.atleast_1d(results[f"{key}, eps = {epsilon:g}"][metric]) for epsilon in EPSILONS]
            spread = [value.std(ddof=1) if len(value) > 1 else 0.0 for value in values]
            means = [value.mean() for value in values]
            axis.errorbar(EPSILONS, means, spread, color=colour, marker=marker, capsize=3, label=label)
        axis.set_title(metric.replace("_", " "))
        axis.set_xlabel("stated epsilon")
        axis.set_xticks(EPSILONS)
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
