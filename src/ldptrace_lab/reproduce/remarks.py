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


def remarks(name: str, rows: Sequence[Row]) -> list[str]:
    """Return what the rows of an experiment show, in sentences."""
    return _REMARKS[name](rows) if name in _REMARKS else []


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
    said = [
        _compared(rows, "single-report", "paper"),
        _compared(rows, "single-report", "ngram"),
        _compared(rows, "paper", "ngram"),
    ]
    printed = _wins(_values(rows, published.LDPTRACE, PUBLISHED), _values(rows, published.NGRAM, PUBLISHED))
    if printed[1]:
        said.append(
            "In the tables of the LDPTrace paper, LDPTrace is better than NGRAM "
            f"in {printed[0]} of {printed[1]} comparisons."
        )
        wins, places = _wins(_values(rows, "paper"), _values(rows, "ngram"))
        if wins < places:
            said.append(WHY)
    return [sentence for sentence in said if sentence]


def _variants(rows: Sequence[Row]) -> list[str]:
    pairs = [_compared(rows, "paper", other) for other in ("randsyn", "combtran", "noadapt")]
    return [sentence for sentence in pairs if sentence]


def _efficiency(rows: Sequence[Row]) -> list[str]:
    said = []
    for method, printed in (("paper", published.LDPTRACE), ("ngram", published.NGRAM)):
        ours, theirs = _values(rows, method), _values(rows, printed, PUBLISHED)
        ratios = [
            theirs[key] / ours[key] for key in ours if key in theirs and key[2] == "total" and ours[key] > 0
        ]
        if ratios:
            low, high = (f"{value:,.0f}" for value in (min(ratios), max(ratios)))
            times = low if low == high else f"{low} to {high}"
            said.append(
                f'Our program for the method "{TITLES[method]}" is {times} times as fast as the program that the '
                "LDPTrace paper measures, on another machine."
            )
    return said


def _unmodified(rows: Sequence[Row]) -> list[str]:
    pairs = [
        _compared(rows, "ngram-full", "ngram"),
        _compared(rows, "single-report", "ngram-full"),
        _compared(rows, "paper", "ngram-full"),
    ]
    return [sentence for sentence in pairs if sentence]


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


def _span(values: Sequence[float]) -> str:
    """Return the lowest and the highest value."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


_REMARKS: dict[str, Callable[[Sequence[Row]], list[str]]] = {
    "utility": _utility,
    "variants": _variants,
    "efficiency": _efficiency,
    "unmodified-ngram": _unmodified,
    "attacks": _attacks,
}
