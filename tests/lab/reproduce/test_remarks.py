from __future__ import annotations

from ldptrace_lab.reproduce import published
from ldptrace_lab.reproduce.bench import PUBLISHED, Row
from ldptrace_lab.reproduce.tables import WHY, remarks


def measured(method: str, value: float, metric: str = "trip_error", x: float = 1.0) -> Row:
    return Row.measured("Porto", method, x, metric, [value])


def printed(method: str, value: float, metric: str = "trip_error", x: float = 1.0) -> Row:
    return Row(PUBLISHED, "Porto", method, x, metric, value)


def test_wins_are_counted_over_common_places_by_the_goal_of_the_metric() -> None:
    rows = [
        measured("single-report", 0.1),
        measured("paper", 0.2),
        measured("single-report", 0.1, "kendall_tau"),
        measured("paper", 0.2, "kendall_tau"),
        measured("single-report", 0.1, x=2.0),
    ]
    assert remarks("utility", rows) == [
        'The method "one report" is better than the method "LDPTrace, padded" in 1 of 2 comparisons.'
    ]


def test_the_finding_is_told_where_the_order_of_the_paper_is_not_met() -> None:
    paper = [printed(published.LDPTRACE, 0.1), printed(published.NGRAM, 0.2)]
    lost = [measured("paper", 0.3), measured("ngram", 0.2)]
    said = remarks("utility", [*lost, *paper])
    assert "In the tables of the LDPTrace paper, LDPTrace is better than NGRAM in 1 of 1 comparisons." in said
    assert said[-1] == WHY
    won = [measured("paper", 0.1), measured("ngram", 0.2)]
    assert WHY not in remarks("utility", [*won, *paper])


def test_times_are_compared_in_total() -> None:
    rows = [
        measured("paper", 0.5, "total"),
        printed(published.LDPTRACE, 10.0, "total"),
        measured("paper", 0.1, "devices"),
        printed(published.LDPTRACE, 90.0, "devices"),
    ]
    assert remarks("efficiency", rows) == [
        'Our program for the method "LDPTrace, padded" is 20 times as fast as the program that the '
        "LDPTrace paper measures, on another machine."
    ]


def test_remarks_on_attacks_give_the_shares_of_safe_trips() -> None:
    rows = [
        measured("single-report", 1.0, "reidentification", x=2.0),
        measured("random walks", 1.0, "reidentification", x=2.0),
        measured("single-report", 0.94, "outlier", x=2.0),
        measured("single-report", 0.87, "outlier", x=10.0),
        measured("real data", 1.0, "outlier", x=2.0),
        printed(published.LDPTRACE, 0.5, "outlier", x=2.0),
    ]
    assert remarks("attacks", rows) == [
        "The re-identification attack shows no difference: all methods, the real data and random walks have the same "
        "share of safe trips (1.00).",
        "Shares of safe trips in the outlier attack, over all values of kappa: "
        '"one report" 0.87 to 0.94, "real data" 1.00.',
    ]


def test_nothing_measured_nothing_said() -> None:
    for name in ("utility", "variants", "efficiency", "unmodified-ngram", "attacks", "lambda"):
        assert remarks(name, []) == []
