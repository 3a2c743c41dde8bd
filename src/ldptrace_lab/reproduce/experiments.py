"""The experiments of the paper's section 6, each as a list of points to measure on a data set.

The methods and the places of an experiment say what its points are: every method at every place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple

from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.kept import others
from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.bench import CENTRAL, FLOOR, PUBLISHED, WALKS, Point, Row
from ldptrace_lab.reproduce.data import DataSet

ONE_REPORT, PADDED, PRINTED, NGRAM, FULL = "single-report", "paper", "paper-unpadded", "ngram", "ngram-full"
# Where methods of other packages stand among ours.
OTHERS = "others"


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


class Place(NamedTuple):
    """What all methods are measured for at one place of an axis, or at several that one measurement gives."""

    measure: str
    takes: dict[str, tuple[str, float]]
    settings: dict[str, Any] = {}  # noqa: RUF012


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
    methods: tuple[str, ...]
    # Of one data set: where it is measured, and what the paper has of it.
    places: Callable[[Scale, DataSet], Iterable[Place]]
    printed: Callable[[DataSet], Iterable[Printed]]
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

    def points(self, setup: Setup) -> Iterator[Point]:
        """Yield what is measured on all data sets. Slow methods are left out on fine grids, and NGRAM with places where
        there are none."""
        at = self.methods.index(OTHERS) if OTHERS in self.methods else None
        methods = self.methods if at is None else (*self.methods[:at], *setup.others, *self.methods[at + 1 :])
        for data in setup.sets:
            for measure, takes, settings in self.places(setup.scale, data):
                fine = settings.get("grid", 0) > setup.scale.finest
                for method in methods:
                    if (fine and method not in (PADDED, PRINTED)) or (method == FULL and data.pois is None):
                        continue
                    chosen = {"grid": data.grid, "seed": setup.seed} | settings
                    yield Point(data, method, measure, takes, **chosen)

    def published(self, setup: Setup) -> list[Row]:
        """Return what the paper printed of all data sets."""
        return [Row(PUBLISHED, data.title, *value) for data in setup.sets for value in self.printed(data)]


ALL = tuple(METRICS)
BOTH = (published.LDPTRACE, published.NGRAM)
QUERY = ("query_error",)
QUANTILE = ("query_error", "diameter_error", "pattern_f1")
ATTACKS = ("reidentification", "outlier")
# The stages of a run, by the columns of Table 4.
STAGES = {
    "prepare": ("read", "choose trajectories"),
    "devices": ("collect", "collect lengths", "collect transitions", "perturb and reconstruct"),
    "estimate": ("estimate", "estimate lengths", "estimate model", "fit model"),
    "synthesise": ("synthesise", "place points"),
    "total": ("total",),
}


def _metrics(x: float, metrics: Sequence[str] = ALL, **settings: Any) -> Place:
    return Place("metrics", {name: (name, x) for name in metrics}, settings)


def _seconds(x: float, **settings: Any) -> Place:
    return Place("seconds", {"total": ("seconds", x)}, settings)


def _quantiles(scale: Scale, _: DataSet) -> Iterator[Place]:
    for k in scale.quantiles:
        yield _metrics(k, QUANTILE, options={"quantile": k})
        yield _seconds(k, options={"quantile": k}, users=scale.timed_users)


def _parts(scale: Scale, data: DataSet) -> Iterator[Place]:
    for part in scale.parts:
        users = max(1, round(part * len(data.trajectories)))
        yield _seconds(float(users), users=users)


def _table_3(
    data: DataSet, metrics: Sequence[str], x: float, methods: Sequence[str] = BOTH, epsilon: float = 1.0
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
    table = published.SECONDS.get(data.beside or "", {})
    for method in methods if table else ():
        users = published.SETS[data.beside or ""].trajectories
        seconds = table["total" if method == published.LDPTRACE else method] * users / 1000
        yield method, float(users) if x is None else x, "seconds", seconds


def _stage_seconds(data: DataSet) -> Iterator[Printed]:
    """Yield the columns of Table 4; of NGRAM only the total."""
    table = published.SECONDS.get(data.beside or "")
    if table is not None:
        parts = table | {"devices": table["length"] + table["moves"] + table["ends"]}
        yield from ((published.LDPTRACE, 0.0, stage, parts[stage]) for stage in STAGES)
        yield published.NGRAM, 0.0, "total", table[published.NGRAM]


def _resilience(data: DataSet) -> Iterator[Printed]:
    """Yield the printed resilience to the attacks, which is the same for every kappa."""
    for attack, value in published.RESILIENCE.items() if data.beside == "oldenburg" else ():
        yield from ((published.LDPTRACE, float(kappa), attack, value) for kappa in KAPPAS)


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "utility", "Utility", "Table 3, section 6.3",
            "How good is each method in nine metrics, at three values of epsilon?",
            "epsilon", ALL, (ONE_REPORT, PADDED, PRINTED, NGRAM, OTHERS, CENTRAL, FLOOR),
            lambda scale, data: [_metrics(epsilon, epsilon=epsilon) for epsilon in published.EPSILONS],
            lambda data: chain(*(_table_3(data, ALL, each, epsilon=each) for each in published.EPSILONS)),
        ),
        Experiment(
            "efficiency", "Efficiency", "Table 4, section 6.4",
            "How many seconds does each stage of a method take for 1,000 trajectories? Preparation reads the"
            " trajectories, devices make all reports, estimation makes a model of them, and synthesis draws trips.",
            "", ("devices", "prepare", "estimate", "synthesise", "total"), (ONE_REPORT, PADDED, NGRAM, OTHERS),
            lambda scale, data: [
                Place("seconds", {name: (stage, 0.0) for stage in STAGES for name in STAGES[stage]}, {"per": 1000.0})
            ],
            _stage_seconds, layout="bars", log=True,
        ),
        Experiment(
            "variants", "Variants of the paper's method", "Table 5, section 6.5.1",
            "How much worse is LDPTrace without one of its parts?",
            "", ALL, ("randsyn", "combtran", "noadapt", PADDED), lambda scale, data: [_metrics(0.0)],
            lambda data: _columns(published.VARIANTS.get(data.beside or "", {})), layout="bars",
        ),
        Experiment(
            "granularity", "Granularity", "Figure 2, section 6.5.2",
            "How does the query error depend on the number N of cells per side?"
            " Dotted lines show the N that the LDPTrace paper recommends.",
            "N", QUERY, (ONE_REPORT, PADDED, PRINTED, NGRAM, OTHERS),
            lambda scale, data: [_metrics(float(grid), QUERY, grid=grid) for grid in scale.grids],
            lambda data: _table_3(data, QUERY, float(data.grid)), log=True,
            mark=lambda data: float(data.guideline(1.0)),
        ),
        Experiment(
            "lambda", "Lambda of the guideline", "Figure 3a, section 6.5.4",
            "The LDPTrace paper recommends a number of cells per side by a formula with a constant, lambda."
            " Which value of lambda gives the smallest query error?",
            "lambda", QUERY, (ONE_REPORT, PADDED, PRINTED),
            lambda scale, data: [_metrics(lam, QUERY, grid=data.guideline(1.0, lam)) for lam in scale.lambdas],
            lambda data: _table_3(data, QUERY, 2.5, (published.LDPTRACE,)), log=True,
        ),
        Experiment(
            "query-size", "Query size", "Figure 3b, section 6.5.4",
            "How does the query error depend on the size r of the queried squares, as a share of the whole area?",
            "r", QUERY, (ONE_REPORT, PADDED, PRINTED, NGRAM, OTHERS, FLOOR),
            lambda scale, data: [Place("queries", {f"{share:.4f}": ("query_error", share) for share in FRACTIONS})],
            lambda data: _table_3(data, QUERY, 1 / 9), log=True,
        ),
        Experiment(
            "runtime", "Running time", "Figure 3c, section 6.5.2",
            "How does the running time in seconds depend on the number N of cells per side? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick) and include making all"
            " reports. Times printed in the LDPTrace paper are for all trajectories of a data set.",
            "N", ("seconds",), (ONE_REPORT, PADDED, OTHERS),
            lambda scale, data: [_seconds(float(n), grid=n, users=scale.timed_users) for n in scale.grids],
            lambda data: _total_seconds(data, (published.LDPTRACE,), float(data.grid)), log=True,
        ),
        Experiment(
            "quantile", "Quantile of the length", "Figure 5, section 6.5.3",
            "LDPTrace cuts long trajectories at the k-quantile of all lengths."
            " How do errors and running time depend on this quantile k? Our times are for at most"
            f" {PAPER.timed_users:,} trajectories ({QUICK.timed_users:,} with --scale quick).",
            "k", (*QUANTILE, "seconds"), (PADDED, PRINTED), _quantiles,
            lambda data: _table_3(data, QUANTILE, 0.9, (published.LDPTRACE,)),
        ),
        Experiment(
            "scalability", "Scalability", "Figure 4, section 6.6",
            "How does the running time in seconds grow with the number of trajectories?",
            "trajectories", ("seconds",), (ONE_REPORT, PADDED, NGRAM, OTHERS), _parts,
            lambda data: _total_seconds(data, BOTH), log=True, log_axis=True, only=("porto", "campus"),
        ),
        Experiment(
            "unmodified-ngram", "Unmodified NGRAM", "Table 6, section 6.7",
            "The LDPTrace paper measures a version of NGRAM that knows only cells. Is NGRAM better if it knows places"
            f" with categories and opening hours, too? All methods get at most {PAPER.full_users:,} trajectories"
            f" ({QUICK.full_users:,} with --scale quick).",
            "", ALL, (ONE_REPORT, PADDED, NGRAM, FULL, FLOOR),
            lambda scale, data: [_metrics(0.0, users=min(scale.full_users, len(data.trajectories)))],
            lambda data: _columns(published.CAMPUS if data.beside == "campus" else {}),
            layout="bars", only=("campus",),
        ),
        Experiment(
            "attacks", "Attacks", "Figure 6, section 6.8",
            "An attacked trip is safe if more than kappa other trips are similar to it."
            " Which share of attacked trips is safe?",
            "kappa", ATTACKS, (ONE_REPORT, PADDED, NGRAM, OTHERS, FLOOR, WALKS),
            lambda scale, data: [
                Place("attacks", {f"{name}@{kappa}": (name, float(kappa)) for name in ATTACKS for kappa in KAPPAS})
            ],
            _resilience, only=("oldenburg",),
        ),
    )
}  # fmt: skip
