"""What the rows of an experiment show, in sentences, counted from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.results import MEASURED, PUBLISHED, Row
from ldptrace_lab.reproduce.tables import TITLES

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
    said = [_compared(rows, *pair) for pair in PAIRS.get(name, ())]
    more = _REMARKS[name](rows) if name in _REMARKS else []
    return [sentence for sentence in (*said, *more) if sentence]


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


def _compared(rows: Sequence[Row], first: str, second: str) -> str | None:
    wins, places = _wins(_values(rows, first), _values(rows, second))
    if not places:
        return None
    return (
        f'The method "{TITLES[first]}" is better than the method "{TITLES[second]}" '
        f"in {wins} of {places} comparisons."
    )


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
                f'Our program for the method "{TITLES[method]}" is {_span(ratios, ",.0f")} times as fast as the '
                "program that the LDPTrace paper measures, on another machine."
            )
    return said


def _attacks(rows: Sequence[Row]) -> list[str]:
    """Return what each attack shows: the range of the shares of safe trips over all kappas and data sets."""
    said = []
    for attack, name in (("reidentification", "re-identification"), ("outlier", "outlier")):
        found: dict[str, list[float]] = {}
        for row in rows:
            if row.source == MEASURED and row.metric == attack:
                found.setdefault(TITLES.get(row.method, row.method), []).append(row.mean)
        if not found:
            continue
        shares = {method: _span(values) for method, values in found.items()}
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
