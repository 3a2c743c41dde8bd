"""The experiments of the paper's section 6, each as a list of points to measure on a data set.

A point is one place in a table or plot: a data set, a method, and where it stands on the axis. It is measured in
one cell per repeat; a cell can hold the values of several points of an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.kept import others
from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.bench import CENTRAL, FLOOR, WALKS
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


# A value of the paper: method, place on the axis, metric, value.
Printed = tuple[str, float, str, float]


@dataclass(frozen=True)
class Experiment:
    """One table or figure: what it asks, how it is measured and drawn, and what the paper printed."""

    name: str
    title: str
    source: str
    question: str
    axis: str
    metrics: tuple[str, ...]
    # Of one data set: what is measured, and what the paper has of it.
    measured: Callable[[Setup, DataSet], Iterator[Point]]
    printed: Callable[[DataSet], Iterator[Printed]]
    layout: Literal["lines", "bars"] = "lines"
    log: bool = False
    log_axis: bool = False
    # Names of the paper's data sets to which it applies; others of the generated ones are left out.
    only: tuple[str, ...] = ()
    # Where a vertical line is drawn.
    mark: Callable[[DataSet], float] | None = None

    def sets(self, setup: Setup) -> tuple[DataSet, ...]:
        """Return the data sets it runs on: all, or those the paper has; the user's own always."""
        chosen = tuple(data for data in setup.sets if not self.only or data.name in self.only)
        return chosen or setup.sets

    def points(self, setup: Setup) -> list[Point]:
        """Return what is measured on all data sets."""
        return [point for data in setup.sets for point in self.measured(setup, data)]

    def published(self, setup: Setup) -> list[Row]:
        """Return what the paper printed of all data sets."""
        return [Row.printed(data.title, *value) for data in setup.sets for value in self.printed(data)]


ALL = tuple(METRICS)
BOTH = (published.LDPTRACE, published.NGRAM)


def _metrics_at(x: float, metrics: Sequence[str] = ALL) -> dict[str, tuple[str, float]]:
    return {name: (name, x) for name in metrics}


def _table_3(
    data: DataSet,
    metrics: Sequence[str],
    x: float,
    methods: Sequence[str] = BOTH,
    epsilon: float = PAPER_EPSILON,
) -> Iterator[Printed]:
    """Yield the values that Table 3 prints for methods at this epsilon, each at the place x of an axis."""
    for method in methods:
        values = published.utility(data.beside, method, epsilon)
        yield from ((method, x, metric, values[metric]) for metric in metrics if metric in values)


def _columns(table: dict[str, list[float]]) -> Iterator[Printed]:
    """Yield the values of a table with a column of metrics for each method."""
    for method, values in table.items():
        name = published.LDPTRACE if method == PADDED else method
        yield from ((name, 0.0, *item) for item in zip(METRICS, values, strict=True))


def _total_seconds(data: DataSet, methods: Sequence[str], x: float | None = None) -> Iterator[Printed]:
    """Yield the paper's seconds for all trajectories of its set, from Table 4; x is by default their number."""
    table, users = published.SECONDS.get(data.beside or "", {}), published.users(data.beside)
    for method in methods if table else ():
        seconds = table["total" if method == published.LDPTRACE else method] * users / 1000
        yield method, float(users) if x is None else x, "seconds", seconds


def _utility(setup: Setup, data: DataSet) -> Iterator[Point]:
    for epsilon in published.EPSILONS:
        for method in (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others, CENTRAL, FLOOR):
            yield Point(data, method, "metrics", _metrics_at(epsilon), epsilon=epsilon)


def _utility_printed(data: DataSet) -> Iterator[Printed]:
    for epsilon in published.EPSILONS:
        yield from _table_3(data, ALL, epsilon, epsilon=epsilon)


# The stages of a run, by the columns of Table 4.
STAGES = {
    "prepare": ("read", "choose trajectories"),
    "devices": ("collect", "collect lengths", "collect transitions", "perturb and reconstruct"),
    "estimate": ("estimate", "estimate lengths", "estimate model", "fit model"),
    "synthesise": ("synthesise", "place points"),
    "total": ("total",),
}


def _efficiency(setup: Setup, data: DataSet) -> Iterator[Point]:
    takes = {stage: (metric, 0.0) for metric, stages in STAGES.items() for stage in stages}
    for method in (ONE_REPORT, PADDED, NGRAM, *setup.others):
        yield Point(data, method, "seconds", takes, per=1000.0)


def _efficiency_printed(data: DataSet) -> Iterator[Printed]:
    table = published.SECONDS.get(data.beside or "")
    if table is not None:
        parts = table | {"devices": table["length"] + table["moves"] + table["ends"]}
        for part in ("prepare", "devices", "estimate", "synthesise", "total"):
            yield published.LDPTRACE, 0.0, part, parts[part]
        yield published.NGRAM, 0.0, "total", table[published.NGRAM]


def _variants(setup: Setup, data: DataSet) -> Iterator[Point]:
    for method in ("randsyn", "combtran", "noadapt", PADDED):
        yield Point(data, method, "metrics", _metrics_at(0.0))


QUERY = ("query_error",)


def _granularity(setup: Setup, data: DataSet) -> Iterator[Point]:
    for grid in setup.scale.grids:
        for method in (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others):
            if method in (PADDED, PRINTED) or grid <= setup.scale.finest:
                yield Point(data, method, "metrics", _metrics_at(float(grid), QUERY), grid=grid)


def _lambda(setup: Setup, data: DataSet) -> Iterator[Point]:
    for lam in setup.scale.lambdas:
        grid = data.guideline(PAPER_EPSILON, lam)
        for method in (ONE_REPORT, PADDED, PRINTED):
            if method != ONE_REPORT or grid <= setup.scale.finest:
                yield Point(data, method, "metrics", _metrics_at(lam, QUERY), grid=grid)


def _query_size(setup: Setup, data: DataSet) -> Iterator[Point]:
    takes = {f"{fraction:.4f}": ("query_error", fraction) for fraction in FRACTIONS}
    for method in (ONE_REPORT, PADDED, PRINTED, NGRAM, *setup.others, FLOOR):
        yield Point(data, method, "queries", takes)


def _runtime(setup: Setup, data: DataSet) -> Iterator[Point]:
    for grid in setup.scale.grids:
        for method in (ONE_REPORT, PADDED, *setup.others):
            if method == PADDED or grid <= setup.scale.finest:
                takes = {"total": ("seconds", float(grid))}
                yield Point(data, method, "seconds", takes, grid=grid, users=setup.scale.timed_users)


QUANTILE_METRICS = ("query_error", "diameter_error", "pattern_f1")


def _quantile(setup: Setup, data: DataSet) -> Iterator[Point]:
    for method in (PADDED, PRINTED):
        for k in setup.scale.quantiles:
            options, users = {"quantile": k}, setup.scale.timed_users
            yield Point(data, method, "metrics", _metrics_at(k, QUANTILE_METRICS), options=options)
            yield Point(data, method, "seconds", {"total": ("seconds", k)}, options=options, users=users)


def _scalability(setup: Setup, data: DataSet) -> Iterator[Point]:
    for part in setup.scale.parts:
        users = max(1, round(part * len(data.trajectories)))
        for method in (ONE_REPORT, PADDED, NGRAM, *setup.others):
            yield Point(data, method, "seconds", {"total": ("seconds", float(users))}, users=users)


def _unmodified(setup: Setup, data: DataSet) -> Iterator[Point]:
    users = min(setup.scale.full_users, len(data.trajectories))
    for method in (ONE_REPORT, PADDED, NGRAM, *((FULL,) if data.pois is not None else ()), FLOOR):
        yield Point(data, method, "metrics", _metrics_at(0.0), users=users)


def _attacks(setup: Setup, data: DataSet) -> Iterator[Point]:
    attacks = ("reidentification", "outlier")
    takes = {f"{attack}@{kappa}": (attack, float(kappa)) for attack in attacks for kappa in KAPPAS}
    for method in (ONE_REPORT, PADDED, NGRAM, *setup.others, FLOOR, WALKS):
        yield Point(data, method, "attacks", takes)


def _attacks_printed(data: DataSet) -> Iterator[Printed]:
    """Yield the printed resilience to the attacks, which is the same for every kappa."""
    for attack, value in published.RESILIENCE.items() if data.beside == "oldenburg" else ():
        yield from ((published.LDPTRACE, float(kappa), attack, value) for kappa in KAPPAS)


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "utility", "Utility", "Table 3, section 6.3",
            "How good is each method in nine metrics, at three values of epsilon?",
            "epsilon", ALL, _utility, _utility_printed,
        ),
        Experiment(
            "efficiency", "Efficiency", "Table 4, section 6.4",
            "How many seconds does each stage of a method take for 1,000 trajectories? Preparation reads the"
            " trajectories, devices make all reports, estimation makes a model of them, and synthesis draws trips.",
            "", ("devices", "prepare", "estimate", "synthesise", "total"),
            _efficiency, _efficiency_printed, layout="bars", log=True,
        ),
        Experiment(
            "variants", "Variants of the paper's method", "Table 5, section 6.5.1",
            "How much worse is LDPTrace without one of its parts?",
            "", ALL, _variants,
            lambda data: _columns(published.VARIANTS.get(data.beside or "", {})), layout="bars",
        ),
        Experiment(
            "granularity", "Granularity", "Figure 2, section 6.5.2",
            "How does the query error depend on the number N of cells per side?"
            " Dotted lines show the N that the LDPTrace paper recommends.",
            "N", QUERY, _granularity, lambda data: _table_3(data, QUERY, float(data.grid)), log=True,
            mark=lambda data: float(data.guideline(PAPER_EPSILON)),
        ),
        Experiment(
            "lambda", "Lambda of the guideline", "Figure 3a, section 6.5.4",
            "The LDPTrace paper recommends a number of cells per side by a formula with a constant, lambda."
            " Which value of lambda gives the smallest query error?",
            "lambda", QUERY, _lambda, lambda data: _table_3(data, QUERY, 2.5, (published.LDPTRACE,)), log=True,
        ),
        Experiment(
            "query-size", "Query size", "Figure 3b, section 6.5.4",
            "How does the query error depend on the size r of the queried squares, as a share of the whole area?",
            "r", QUERY, _query_size, lambda data: _table_3(data, QUERY, 1 / 9), log=True,
        ),
        Experiment(
            "runtime", "Running time", "Figure 3c, section 6.5.2",
            "How does the running time in seconds depend on the number N of cells per side? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick) and include making all"
            " reports. Times printed in the LDPTrace paper are for all trajectories of a data set.",
            "N", ("seconds",), _runtime,
            lambda data: _total_seconds(data, (published.LDPTRACE,), float(data.grid)), log=True,
        ),
        Experiment(
            "quantile", "Quantile of the length", "Figure 5, section 6.5.3",
            "LDPTrace cuts long trajectories at the k-quantile of all lengths."
            " How do errors and running time depend on this quantile k? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick).",
            "k", (*QUANTILE_METRICS, "seconds"), _quantile,
            lambda data: _table_3(data, QUANTILE_METRICS, 0.9, (published.LDPTRACE,)),
        ),
        Experiment(
            "scalability", "Scalability", "Figure 4, section 6.6",
            "How does the running time in seconds grow with the number of trajectories?",
            "trajectories", ("seconds",), _scalability, lambda data: _total_seconds(data, BOTH), log=True,
            log_axis=True, only=("porto", "campus"),
        ),
        Experiment(
            "unmodified-ngram", "Unmodified NGRAM", "Table 6, section 6.7",
            "The LDPTrace paper measures a version of NGRAM that knows only cells. Is NGRAM better if it knows places"
            f" with categories and opening hours, too? All methods get at most {PAPER.full_users:,} trajectories"
            f" ({QUICK.full_users:,} with --scale quick).",
            "", ALL, _unmodified, lambda data: _columns(published.CAMPUS if data.beside == "campus" else {}),
            layout="bars", only=("campus",),
        ),
        Experiment(
            "attacks", "Attacks", "Figure 6, section 6.8",
            "An attacked trip is safe if more than kappa other trips are similar to it."
            " Which share of attacked trips is safe?",
            "kappa", ("reidentification", "outlier"), _attacks, _attacks_printed,
            only=("oldenburg",),
        ),
    )
}  # fmt: skip
