from __future__ import annotations

from typing import Any

import pytest

from ldptrace.evaluation.verdict import best, map_remark, position, uses, verdict


def entry(value: float | None, **more: Any) -> dict[str, Any]:
    """A metric of the nine with 0 for a perfect set and 1 for one that knows nothing."""
    plain = {"level": "global", "title": "Trip error", "goal": "min", "floor": 0.0, "uniform": 1.0}
    return {**plain, "value": value, **more}


def named(*entries: dict[str, Any], name: str = "ours") -> dict[str, Any]:
    return {"name": name, "metrics": {str(number): item for number, item in enumerate(entries)}}


@pytest.mark.parametrize(
    ("item", "place"),
    [
        (entry(0.2), 0.8),
        (entry(-0.1), 1.0),
        (entry(7.0), 0.0),
        (entry(0.75, goal="max", floor=1.0, uniform=0.5), 0.5),
        (entry(None), None),
        (entry(0.2, floor=None), None),
        (entry(0.2, uniform=0.0), None),
        # Knowing nothing scores better than a perfect copy: there is no way from one to the other.
        (entry(0.2, goal="max"), None),
    ],
)
def test_a_place_between_nothing_and_perfect(item: dict[str, Any], place: float | None) -> None:
    assert position(item) == (place if place is None else pytest.approx(place))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "ours is very close to the real set: 1 of 1 metrics are nearly perfect."),
        (0.08, "ours is close to the real set: 1 of 1 metrics are nearly perfect."),
        (0.2, "is a fair likeness of"),
        (0.4, "is a rough likeness of"),
        (0.6, "is far from the real set: 0 of 1 metrics are nearly perfect; the weakest is trip error, 40 %"),
        (2.0, "the weakest is trip error, no better than random"),
    ],
)
def test_grades(value: float, words: str) -> None:
    # A metric that belongs to no use.
    assert words in verdict(named(entry(value)))


def test_the_middle_decides_and_the_weakest_is_named() -> None:
    said = verdict(named(entry(0.0), entry(0.01), entry(0.9, title="Kendall tau"), entry(9.0, level="fine")))
    assert said.startswith("ours is very close to the real set: 2 of 3 metrics")
    assert "the weakest is Kendall tau, 10 % of the way" in said


def of_use(**values: float) -> dict[str, Any]:
    return {"name": "ours", "metrics": {name: entry(value, title=name) for name, value in values.items()}}


def test_a_flat_departure_curve_is_not_hidden_behind_the_middle() -> None:
    found = of_use(
        departure_error=1.0,
        duration_error=0.1,
        speed_error=0.1,
        spacetime_query_error=0.1,
        period_origin_error=0.1,
    )
    (when,) = uses([found])
    assert (when["answers"], when["places"]) == (["no"], [0.9])
    assert when["weakest"] == ["departure_error, no better than random"]


@pytest.mark.parametrize(
    ("weakest", "answer"), [(0.2, "yes"), (0.3, "roughly"), (0.5, "roughly"), (0.6, "no")]
)
def test_the_weakest_metric_of_a_use_limits_its_answer(weakest: float, answer: str) -> None:
    found = of_use(departure_error=weakest, duration_error=0.0, speed_error=0.0)
    assert uses([found])[0]["answers"] == [answer]


def test_a_headline_is_no_better_than_the_answers_below_it() -> None:
    good = dict.fromkeys(("density_error", "query_error", "kendall_tau", "length_error", "pattern_f1"), 0.0)
    one = verdict(of_use(**good, trip_error=0.6))
    assert "a rough likeness of" in one
    assert one.endswith("; not good enough for: from where to where.")
    # Two of four uses.
    two = verdict(of_use(**good, trip_error=0.6, pattern_error=0.8))
    assert "far from" in two
    assert two.endswith("not good enough for: from where to where, frequent routes.")
    assert verdict(of_use(**good, trip_error=0.04)).startswith("ours is very close to")


def test_nothing_to_judge() -> None:
    assert verdict(named(entry(None))) == "ours cannot be judged: the real set is too small."


def test_what_the_map_gives_by_itself() -> None:
    known = {"controls": {"map_alone": 0.5}}
    ours = named(entry(0.1, **known), entry(0.7, **known))
    assert map_remark([ours]) == (
        "The map alone, without any report, reaches 50 % of the way from random to perfect (median of the nine "
        "metrics); ours is better in 1 of 2."
    )
    assert map_remark([named(entry(0.1))]) is None


def test_what_a_set_may_be_used_for() -> None:
    known = {"controls": {"map_alone": 0.5}}
    ours = {"name": "ours", "metrics": {"trip_error": entry(0.05, **known), "length_error": entry(0.2)}}
    theirs = {"name": "theirs", "metrics": {"trip_error": entry(0.5), "length_error": entry(None)}}
    pairs, lengths = uses([ours, theirs])
    assert pairs["title"] == "From where to where"
    assert (pairs["answers"], pairs["alone"]) == (["yes", "no"], 0.5)
    assert (lengths["answers"], lengths["alone"]) == (["roughly", "–"], None)
    assert best([entry(0.5), entry(0.1), entry(None)]) == [False, True, False]
