"""What people read: rows side by side, the names and colours of the methods, and what the rows show, in sentences.

A table has one line per data set, place on the axis and metric, and one column per method. Three or more equal
lines of neighbouring places are one line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby

from ldptrace.evaluation.metrics import METRICS
from ldptrace.methods import method as method_of
from ldptrace_lab.kept import others
from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.bench import CENTRAL, FLOOR, MEASURED, PUBLISHED, WALKS, Row
from ldptrace_lab.reproduce.experiments import Experiment
from ldptrace_lab.tables import Entry, Line, Table

# The title and the colour of each method. Published and measured values of one method share a colour, and stand beside
# each other in this order.
LOOKS = {
    "single-report": ("one report", "#0072b2"),
    "paper": ("LDPTrace, padded", "#d55e00"),
    published.LDPTRACE: (published.LDPTRACE, "#d55e00"),
    "paper-unpadded": ("LDPTrace, leaking length", "#e69f00"),
    "ngram": ("NGRAM", "#009e73"),
    published.NGRAM: (published.NGRAM, "#009e73"),
    "ngram-full": ("NGRAM with places", "#56b4e9"),
    published.UNMODIFIED: (published.UNMODIFIED, "#56b4e9"),
    "randsyn": ("RandSyn", "#cc79a7"),
    "combtran": ("CombTran", "#999933"),
    "noadapt": ("NoAdapt", "#882255"),
    CENTRAL: ("central DP (trusted curator)", "#7f7f7f"),
    FLOOR: ("real data", "#bbbbbb"),
    WALKS: ("random walks", "#444444"),
}
# Colours of the methods of other packages.
FURTHER = ("#6a3d9a", "#b15928", "#e7298a", "#1a9850")


@cache
def family(method: str) -> int:
    """Return where a method stands among all: those of other packages after ours."""
    known = (*LOOKS, *others())
    return known.index(method) if method in known else len(known)


def title(method: str) -> str:
    return LOOKS[method][0] if method in LOOKS else method


def colour(method: str) -> str:
    """Return the same in every plot, and of four methods of other packages each has its own."""
    return LOOKS[method][1] if method in LOOKS else FURTHER[(family(method) - len(LOOKS)) % len(FURTHER)]


UNITS = {
    "seconds": "seconds ↓",
    "devices": "Devices, s per 1,000 ↓",
    "prepare": "Preparation, s per 1,000 ↓",
    "estimate": "Estimation, s per 1,000 ↓",
    "synthesise": "Synthesis, s per 1,000 ↓",
    "total": "Total, s per 1,000 ↓",
    "reidentification": "safe trips, re-identification ↑",
    "outlier": "safe trips, outlier attack ↑",
}


def label(source: str, method: str) -> str:
    """Return the name of a series of values."""
    return title(method) + (", published" if source == PUBLISHED else "")


def side_by_side(experiment: Experiment, rows: Sequence[Row]) -> Table:
    """Return the table of an experiment. Its axis has a column if there is more than one place on it."""
    series = list(dict.fromkeys((row.source, row.method) for row in rows))
    sets = list(dict.fromkeys(row.data for row in rows))
    metrics = list(dict.fromkeys([*experiment.metrics, *(row.metric for row in rows)]))
    by_place: dict[tuple[str, str, float], dict[tuple[str, str], Row]] = {}
    for row in sorted(rows, key=lambda row: (sets.index(row.data), metrics.index(row.metric), row.x)):
        by_place.setdefault((row.data, row.metric, row.x), {})[row.source, row.method] = row
    lines = []
    for (data, metric, x), own in by_place.items():
        aligned = [own.get(pair) for pair in series]
        best = _best([row for row in aligned if row is not None], metric)
        entries = tuple(Entry(_text(row), row is not None and row is best) for row in aligned)
        lines.append((data, f"{x:,.0f}" if x >= 1000 else f"{x:.4g}", title_of(metric), entries))
    joined: list[Line] = []
    for (data, metric, entries), group in groupby(lines, lambda line: (line[0], *line[2:])):
        places = [place for _, place, *_ in group]
        for place in [f"{places[0]} to {places[-1]}"] if len(places) > 2 else places:
            joined.append(Line((data, place, metric) if experiment.axis else (data, metric), entries))
    labels = ("data", experiment.axis, "metric") if experiment.axis else ("data", "metric")
    return Table("", labels, tuple(label(*pair) for pair in series), tuple(joined))


def title_of(metric: str) -> str:
    """Return the name of a metric, with an arrow: whether less or more is better."""
    if metric not in METRICS:
        return UNITS.get(metric, metric)
    return f"{METRICS[metric].title} {'↓' if METRICS[metric].goal == 'min' else '↑'}"


def _best(own: Sequence[Row], metric: str) -> Row | None:
    """Return the best measured value of a method that publishes data under local privacy: yardsticks do not compete,
    nor does what needs a trusted curator."""
    rivals = [
        row
        for row in own
        if row.source == MEASURED
        and not math.isnan(row.mean)
        and row.method not in (CENTRAL, FLOOR, WALKS)
        and (row.method in LOOKS or method_of(row.method).leaks is None)
    ]
    if metric not in METRICS or len(rivals) < 2:
        return None
    return min(rivals, key=lambda row: row.mean if METRICS[metric].goal == "min" else -row.mean)


def _text(row: Row | None) -> str:
    if row is None:
        return ""
    if math.isnan(row.mean):
        return "undefined"
    mean = f"{row.mean:.4f}" if abs(row.mean) < 100 else f"{row.mean:,.0f}"
    if 0 < abs(row.mean) < 0.001:
        mean = f"{row.mean:.1e}"
    if row.std is None:
        return mean
    # Equal values differ by rounding alone.
    spread = f"{row.std:.0f}" if row.std >= 10 or row.std < 1e-12 else f"{row.std:.1g}"
    return f"{mean} ±{spread}"


Values = dict[tuple[str, float, str], float]
WHY = (
    "We measure larger errors for LDPTrace than the LDPTrace paper prints. The printed errors most likely come from a "
    "faulty randomizer that spent far more than the stated epsilon; see the page on the published numbers."
)


# Methods that are compared in all metrics, by experiment.
PAIRS = {
    "utility": (("single-report", "paper"), ("single-report", "ngram"), ("paper", "ngram")),
    "variants": (("paper", "randsyn"), ("paper", "combtran"), ("paper", "noadapt")),
    "unmodified-ngram": (("ngram-full", "ngram"), ("single-report", "ngram-full"), ("paper", "ngram-full")),
}


def remarks(name: str, rows: Sequence[Row]) -> list[str]:
    """Return what the rows of an experiment show, in sentences."""
    said = []
    for first, second in PAIRS.get(name, ()):
        wins, places = _wins(_values(rows, first), _values(rows, second))
        if places:
            said.append(
                f'The method "{title(first)}" is better than the method "{title(second)}" '
                f"in {wins} of {places} comparisons."
            )
    return said + (_REMARKS[name](rows) if name in _REMARKS else [])


def _values(rows: Sequence[Row], method: str, source: str = MEASURED) -> Values:
    return {
        (row.data, row.x, row.metric): row.mean
        for row in rows
        if row.method == method and row.source == source
    }


def _wins(first: Values, second: Values) -> tuple[int, int]:
    """Return in how many of the common places the first is better, and how many there are."""
    both = [key for key in first if key in second and key[2] in METRICS]
    return sum(METRICS[key[2]].better(first[key], second[key]) for key in both), len(both)


def _utility(rows: Sequence[Row]) -> list[str]:
    """Return how the printed LDPTrace and NGRAM compare, and why ours may compare otherwise."""
    said = []
    printed = _wins(_values(rows, published.LDPTRACE, PUBLISHED), _values(rows, published.NGRAM, PUBLISHED))
    if printed[1]:
        said.append(
            "In the tables of the LDPTrace paper, LDPTrace is better than NGRAM "
            f"in {printed[0]} of {printed[1]} comparisons."
        )
        wins, places = _wins(_values(rows, "paper"), _values(rows, "ngram"))
        if wins < places:
            said.append(WHY)
    return said


def _efficiency(rows: Sequence[Row]) -> list[str]:
    said = []
    for method, printed in (("paper", published.LDPTRACE), ("ngram", published.NGRAM)):
        ours, theirs = _values(rows, method), _values(rows, printed, PUBLISHED)
        ratios = [
            theirs[key] / ours[key] for key in ours if key in theirs and key[2] == "total" and ours[key] > 0
        ]
        if ratios:
            said.append(
                f'Our program for the method "{title(method)}" is {_span(ratios, ",.0f")} times as fast as the '
                "program that the LDPTrace paper measures, on another machine."
            )
    return said


def _attacks(rows: Sequence[Row]) -> list[str]:
    """Return what each attack shows: the range of the shares of safe trips over all kappas and data sets."""
    said = []
    for attack, name in (("reidentification", "re-identification"), ("outlier", "outlier")):
        by_method: dict[str, list[float]] = {}
        for row in rows:
            if row.source == MEASURED and row.metric == attack:
                by_method.setdefault(title(row.method), []).append(row.mean)
        if not by_method:
            continue
        shares = {method: _span(values) for method, values in by_method.items()}
        if len(set(shares.values())) == 1:
            said.append(
                f"The {name} attack shows no difference: all methods, the real data and random walks have the same "
                f"share of safe trips ({next(iter(shares.values()))})."
            )
        else:
            listed = ", ".join(f'"{method}" {share}' for method, share in shares.items())
            said.append(f"Shares of safe trips in the {name} attack, over all values of kappa: {listed}.")
    return said


def _span(values: Sequence[float], form: str = ".2f") -> str:
    """Return the lowest and the highest value."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


_REMARKS: dict[str, Callable[[Sequence[Row]], list[str]]] = {
    "utility": _utility,
    "efficiency": _efficiency,
    "attacks": _attacks,
}
