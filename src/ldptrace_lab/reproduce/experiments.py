"""The experiments of the paper's section 6, each as a list of points to measure.

A point is one place in a table or plot: a data set, a method, and where it stands on the axis. It is measured in
one cell per repeat; a cell can hold the values of several points of an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.plugged import others
from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.bench import FLOOR, WALKS
from ldptrace_lab.reproduce.central import NAME as CENTRAL
from ldptrace_lab.reproduce.data import DataSet
from ldptrace_lab.reproduce.results import Cell, Row

PAPER_EPSILON = 1.0
ONE_REPORT, PADDED, PRINTED, NGRAM, FULL = "single-report", "paper", "paper-unpadded", "ngram", "ngram-full"


@dataclass(frozen=True)
class Scale:
    """How large an experiment is."""

    name: str
    repeats: int
    grids: tuple[int, ...]
    # The path model and NGRAM are the slowest on fine grids; they are measured up to this many cells per side.
    finest: int
    lambdas: tuple[float, ...]
    quantiles: tuple[float, ...]
    parts: tuple[float, ...]
    # At most this many trajectories are timed where every report is drawn again for each point.
    timed_users: int
    # At most this many trajectories go through the unmodified NGRAM.
    full_users: int


QUICK = Scale(
    name="quick",
    repeats=3,
    grids=(2, 4, 6, 8, 10),
    finest=8,
    lambdas=(1.0, 2.5, 4.0, 6.0),
    quantiles=(0.5, 0.7, 0.8, 0.9, 1.0),
    parts=(0.25, 0.5, 1.0),
    timed_users=10_000,
    full_users=5_000,
)
PAPER = Scale(
    name="paper",
    repeats=5,
    grids=(2, 4, 6, 8, 10, 12, 14, 16, 18, 20),
    finest=12,
    lambdas=(0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0),
    quantiles=(0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0),
    parts=(0.2, 0.4, 0.6, 0.8, 1.0),
    timed_users=100_000,
    full_users=100_000,
)
SCALES = {scale.name: scale for scale in (QUICK, PAPER)}
# Trajectories of a generated set at the quick scale; at the paper's scale they are as many as in the paper.
QUICK_USERS = 30_000


@dataclass(frozen=True, eq=False)
class Setup:
    """Everything that the experiments of one run share."""

    sets: tuple[DataSet, ...]
    scale: Scale
    repeats: int
    seed: int
    # Methods of other packages: they stand beside ours wherever methods are compared.
    others: tuple[str, ...] = field(default_factory=others)


@dataclass(frozen=True)
class Point:
    """One method on one data set; `takes` says which value of the cell is which metric at which x."""

    data: DataSet
    method: str
    measure: str
    takes: dict[str, tuple[str, float]]
    epsilon: float = PAPER_EPSILON
    grid: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    users: int | None = None
    # Divides the values; seconds are per 1,000 trajectories where the paper's are.
    per: float | None = None

    def cells(self, repeats: int, seed: int) -> list[Cell]:
        return [
            Cell(
                data=self.data.key,
                method=self.method,
                epsilon=self.epsilon,
                grid=self.grid or self.data.grid,
                measure=self.measure,
                repeat=repeat,
                seed=seed,
                options=self.options,
                users=self.users,
            )
            for repeat in range(repeats)
        ]


@dataclass(frozen=True)
class Experiment:
    """One table or figure: what it asks, how it is measured and drawn, and what the paper printed."""

    name: str
    title: str
    source: str
    question: str
    axis: str
    metrics: tuple[str, ...]
    points: Callable[[Setup], list[Point]]
    published: Callable[[Setup], list[Row]]
    layout: Literal["lines", "bars"] = "lines"
    log: bool = False
    log_axis: bool = False
    # Names of the paper's data sets to which it applies; others of the generated ones are left out.
    only: tuple[str, ...] = ()
    marks: Callable[[Setup], dict[str, float]] | None = None

    def sets(self, setup: Setup) -> tuple[DataSet, ...]:
        """Return the data sets it runs on: all, or those the paper has; the user's own always."""
        chosen = tuple(data for data in setup.sets if not self.only or data.name in self.only)
        return chosen or setup.sets


ALL = tuple(METRICS)


def _metrics_at(x: float, metrics: Sequence[str] = ALL) -> dict[str, tuple[str, float]]:
    return {name: (name, x) for name in metrics}


def _printed(setup: Setup, method: str, metrics: Sequence[str], xs: Sequence[float]) -> list[Row]:
    """Return the values that Table 3 prints for a method at epsilon = 1, each at the place of its data set on another
    axis."""
    rows = []
    for data, x in zip(setup.sets, xs, strict=True):
        values = published.utility(data.beside, method, PAPER_EPSILON) if data.beside else None
        if values:
            rows += [Row.printed(data.title, method, x, metric, values[metric]) for metric in metrics]
    return rows


def _utility_points(setup: Setup) -> list[Point]:
    methods = (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others, CENTRAL, FLOOR)
    return [
        Point(data, method, "metrics", _metrics_at(epsilon), epsilon=epsilon)
        for data in setup.sets
        for epsilon in published.EPSILONS
        for method in methods
    ]


def _utility_published(setup: Setup) -> list[Row]:
    rows = []
    for data in setup.sets:
        for method in (published.LDPTRACE, published.NGRAM):
            for epsilon in published.EPSILONS:
                values = published.utility(data.beside, method, epsilon) if data.beside else None
                rows += [Row.printed(data.title, method, epsilon, *item) for item in (values or {}).items()]
    return rows


STAGES = {
    "read": "prepare",
    "choose trajectories": "prepare",
    "collect": "devices",
    "collect lengths": "devices",
    "collect transitions": "devices",
    "estimate": "estimate",
    "estimate lengths": "estimate",
    "estimate model": "estimate",
    "fit model": "estimate",
    "synthesise": "synthesise",
    "place points": "synthesise",
    "perturb and reconstruct": "devices",
    "total": "total",
}


def _efficiency_points(setup: Setup) -> list[Point]:
    takes = {stage: (metric, 0.0) for stage, metric in STAGES.items()}
    return [
        Point(data, method, "seconds", takes, per=1000.0)
        for data in setup.sets
        for method in (ONE_REPORT, PADDED, NGRAM, *setup.others)
    ]


def _efficiency_published(setup: Setup) -> list[Row]:
    rows = []
    for data in setup.sets:
        table = published.SECONDS.get(data.beside or "")
        if table is None:
            continue
        parts = {
            "prepare": table["prepare"],
            "devices": table["length"] + table["moves"] + table["ends"],
            "estimate": table["estimate"],
            "synthesise": table["synthesise"],
            "total": table["total"],
        }
        rows += [Row.printed(data.title, published.LDPTRACE, 0.0, *item) for item in parts.items()]
        rows.append(Row.printed(data.title, published.NGRAM, 0.0, "total", table[published.NGRAM]))
    return rows


def _variants_points(setup: Setup) -> list[Point]:
    return [
        Point(data, method, "metrics", _metrics_at(0.0))
        for data in setup.sets
        for method in ("randsyn", "combtran", "noadapt", PADDED)
    ]


def _variants_published(setup: Setup) -> list[Row]:
    return [
        Row.printed(data.title, published.LDPTRACE if method == PADDED else method, 0.0, metric, value)
        for data in setup.sets
        for method, values in published.VARIANTS.get(data.beside or "", {}).items()
        for metric, value in zip(published.METRICS, values, strict=True)
    ]


def _granularity_points(setup: Setup) -> list[Point]:
    return [
        Point(data, method, "metrics", {"query_error": ("query_error", float(grid))}, grid=grid)
        for data in setup.sets
        for grid in setup.scale.grids
        for method in (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others)
        if method in (PADDED, PRINTED) or grid <= setup.scale.finest
    ]


def _at_default_grid(setup: Setup) -> list[Row]:
    """Return the printed query errors, at the grid of each set."""
    grids = [float(data.grid) for data in setup.sets]
    return [
        row
        for method in (published.LDPTRACE, published.NGRAM)
        for row in _printed(setup, method, ("query_error",), grids)
    ]


def _guidelines(setup: Setup) -> dict[str, float]:
    return {data.title: float(data.guideline(PAPER_EPSILON)) for data in setup.sets}


def _lambda_points(setup: Setup) -> list[Point]:
    points = []
    for data in setup.sets:
        for lam in setup.scale.lambdas:
            grid = data.guideline(PAPER_EPSILON, lam)
            takes = {"query_error": ("query_error", lam)}
            points += [
                Point(data, method, "metrics", takes, grid=grid)
                for method in (ONE_REPORT, PADDED, PRINTED)
                if method != ONE_REPORT or grid <= setup.scale.finest
            ]
    return points


def _query_size_points(setup: Setup) -> list[Point]:
    takes = {f"{fraction:.4f}": ("query_error", fraction) for fraction in FRACTIONS}
    return [
        Point(data, method, "queries", takes)
        for data in setup.sets
        for method in (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others, FLOOR)
    ]


def _runtime_points(setup: Setup) -> list[Point]:
    return [
        Point(
            data,
            method,
            "seconds",
            {"total": ("seconds", float(grid))},
            grid=grid,
            users=setup.scale.timed_users,
        )
        for data in setup.sets
        for grid in setup.scale.grids
        for method in (ONE_REPORT, PADDED, *setup.others)
        if method == PADDED or grid <= setup.scale.finest
    ]


def _total_seconds(data: DataSet, method: str) -> float | None:
    """Return the paper's total for all trajectories of its set, from Table 4."""
    table = published.SECONDS.get(data.beside or "")
    if table is None or data.beside is None:
        return None
    per_thousand = table["total" if method == published.LDPTRACE else method]
    return per_thousand * published.SETS[data.beside].trajectories / 1000


def _runtime_published(setup: Setup) -> list[Row]:
    totals = [(data, _total_seconds(data, published.LDPTRACE)) for data in setup.sets]
    return [
        Row.printed(data.title, published.LDPTRACE, float(data.grid), "seconds", total)
        for data, total in totals
        if total is not None
    ]


QUANTILE_METRICS = ("query_error", "diameter_error", "pattern_f1")


def _quantile_points(setup: Setup) -> list[Point]:
    points = []
    for data in setup.sets:
        for method in (PADDED, PRINTED):
            for k in setup.scale.quantiles:
                options = {"quantile": k}
                takes = _metrics_at(k, QUANTILE_METRICS)
                points.append(Point(data, method, "metrics", takes, options=options))
                seconds = {"total": ("seconds", k)}
                users = setup.scale.timed_users
                points.append(Point(data, method, "seconds", seconds, options=options, users=users))
    return points


def _quantile_published(setup: Setup) -> list[Row]:
    return _printed(setup, published.LDPTRACE, QUANTILE_METRICS, [0.9] * len(setup.sets))


def _scalability_points(setup: Setup) -> list[Point]:
    """Return seconds of each method on parts of each set."""
    points = []
    for data in setup.sets:
        total = len(data.trajectories)
        for part in setup.scale.parts:
            users = max(1, round(part * total))
            takes = {"total": ("seconds", float(users))}
            points += [
                Point(data, method, "seconds", takes, users=users)
                for method in (ONE_REPORT, PADDED, NGRAM, *setup.others)
            ]
    return points


def _scalability_published(setup: Setup) -> list[Row]:
    return [
        Row.printed(data.title, method, float(published.SETS[data.beside].trajectories), "seconds", total)
        for data in setup.sets
        if data.beside is not None
        for method in (published.LDPTRACE, published.NGRAM)
        if (total := _total_seconds(data, method)) is not None
    ]


def _unmodified_points(setup: Setup) -> list[Point]:
    points = []
    for data in setup.sets:
        users = min(setup.scale.full_users, len(data.trajectories))
        methods = (ONE_REPORT, PADDED, NGRAM, *((FULL,) if data.pois is not None else ()), FLOOR)
        points += [Point(data, method, "metrics", _metrics_at(0.0), users=users) for method in methods]
    return points


def _unmodified_published(setup: Setup) -> list[Row]:
    return [
        Row.printed(data.title, method, 0.0, metric, value)
        for data in setup.sets
        if data.beside == "campus"
        for method, values in published.CAMPUS.items()
        for metric, value in zip(published.METRICS, values, strict=True)
    ]


def _attacks_points(setup: Setup) -> list[Point]:
    takes = {
        f"{attack}@{kappa}": (attack, float(kappa))
        for attack in ("reidentification", "outlier")
        for kappa in KAPPAS
    }
    return [
        Point(data, method, "attacks", takes)
        for data in setup.sets
        for method in (ONE_REPORT, PADDED, NGRAM, *setup.others, FLOOR, WALKS)
    ]


def _attacks_published(setup: Setup) -> list[Row]:
    """Return the printed resilience to the attacks, which is the same for every kappa."""
    return [
        Row.printed(data.title, published.LDPTRACE, float(kappa), attack, value)
        for data in setup.sets
        if data.beside == "oldenburg"
        for attack, value in published.RESILIENCE.items()
        for kappa in KAPPAS
    ]


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "utility", "Utility", "Table 3, section 6.3",
            "How good is each method in nine metrics, at three values of epsilon?",
            "epsilon", ALL, _utility_points, _utility_published,
        ),
        Experiment(
            "efficiency", "Efficiency", "Table 4, section 6.4",
            "How many seconds does each stage of a method take for 1,000 trajectories? Preparation reads the"
            " trajectories, devices make all reports, estimation makes a model of them, and synthesis draws trips.",
            "", ("devices", "prepare", "estimate", "synthesise", "total"),
            _efficiency_points, _efficiency_published, layout="bars", log=True,
        ),
        Experiment(
            "variants", "Variants of the paper's method", "Table 5, section 6.5.1",
            "How much worse is LDPTrace without one of its parts?",
            "", ALL, _variants_points, _variants_published, layout="bars",
        ),
        Experiment(
            "granularity", "Granularity", "Figure 2, section 6.5.2",
            "How does the query error depend on the number N of cells per side?"
            " Dotted lines show the N that the LDPTrace paper recommends.",
            "N", ("query_error",), _granularity_points, _at_default_grid, log=True, marks=_guidelines,
        ),
        Experiment(
            "lambda", "Lambda of the guideline", "Figure 3a, section 6.5.4",
            "The LDPTrace paper recommends a number of cells per side by a formula with a constant, lambda."
            " Which value of lambda gives the smallest query error?",
            "lambda", ("query_error",), _lambda_points,
            lambda setup: _printed(setup, published.LDPTRACE, ("query_error",), [2.5] * len(setup.sets)),
            log=True,
        ),
        Experiment(
            "query-size", "Query size", "Figure 3b, section 6.5.4",
            "How does the query error depend on the size r of the queried squares, as a share of the whole area?",
            "r", ("query_error",), _query_size_points,
            lambda setup: [
                row
                for method in (published.LDPTRACE, published.NGRAM)
                for row in _printed(setup, method, ("query_error",), [1 / 9] * len(setup.sets))
            ],
            log=True,
        ),
        Experiment(
            "runtime", "Running time", "Figure 3c, section 6.5.2",
            "How does the running time in seconds depend on the number N of cells per side? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick) and include making all"
            " reports. Times printed in the LDPTrace paper are for all trajectories of a data set.",
            "N", ("seconds",), _runtime_points, _runtime_published, log=True,
        ),
        Experiment(
            "quantile", "Quantile of the length", "Figure 5, section 6.5.3",
            "LDPTrace cuts long trajectories at the k-quantile of all lengths."
            " How do errors and running time depend on this quantile k? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick).",
            "k", (*QUANTILE_METRICS, "seconds"), _quantile_points, _quantile_published,
        ),
        Experiment(
            "scalability", "Scalability", "Figure 4, section 6.6",
            "How does the running time in seconds grow with the number of trajectories?",
            "trajectories", ("seconds",), _scalability_points, _scalability_published, log=True,
            log_axis=True, only=("porto", "campus"),
        ),
        Experiment(
            "unmodified-ngram", "Unmodified NGRAM", "Table 6, section 6.7",
            "The LDPTrace paper measures a version of NGRAM that knows only cells. Is NGRAM better if it knows places"
            f" with categories and opening hours, too? All methods get at most {PAPER.full_users:,} trajectories"
            f" ({QUICK.full_users:,} with --scale quick).",
            "", ALL, _unmodified_points, _unmodified_published, layout="bars", only=("campus",),
        ),
        Experiment(
            "attacks", "Attacks", "Figure 6, section 6.8",
            "An attacked trip is safe if more than kappa other trips are similar to it."
            " Which share of attacked trips is safe?",
            "kappa", ("reidentification", "outlier"), _attacks_points, _attacks_published,
            only=("oldenburg",),
        ),
    )
}  # fmt: skip
