from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ldptrace.pages.verdict import best, map_remark, position, promise, sharing, uses, verdict


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
        (
            0.6,
            "is far from the real set: 0 of 1 metrics are nearly perfect; the weakest is trip error, 40 %",
        ),
        (2.0, "the weakest is trip error, no better than random."),
    ],
)
def test_grades(value: float, words: str) -> None:
    assert words in verdict(named(entry(value)))


def test_the_middle_decides_and_the_weakest_is_named() -> None:
    said = verdict(named(entry(0.0), entry(0.01), entry(0.9, title="Kendall tau"), entry(9.0, level="fine")))
    assert said.startswith("ours is very close to the real set: 2 of 3 metrics")
    assert "the weakest is Kendall tau, 10 % of the way" in said


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


def test_the_page_itself_is_never_private() -> None:
    document = {"real": {"samples": [[], []]}, "sets": [{"name": "ours"}, {"name": "theirs"}]}
    promises = [promise({"epsilon": "1", "experiment": "it was seeded"}), promise(None)]
    ours, theirs, page = sharing(document, promises)
    assert page["warned"]
    assert page["sets"] == []
    assert "draws 2 of them" in page["said"]
    assert (ours["sets"], ours["warned"]) == ([0], False)
    assert "at most 2.7 times as likely" in ours["said"]
    assert ours["said"].endswith("Note: it was seeded.")
    assert theirs["warned"]
    document["real"] = {"samples": []}
    assert "draws" not in sharing(document, promises)[-1]["said"]
    # The same promise stands once.
    assert [row["sets"] for row in sharing(document, [promises[0], promises[0]])] == [[0, 1], []]
    with pytest.raises(ValueError, match="shorter"):
        sharing(document, [SimpleNamespace(warning="x", remark=None)])


def test_the_promise_of_a_trip_says_trip_everywhere() -> None:
    document = {"real": {"samples": []}, "sets": [{"name": "ours"}]}
    said = sharing(document, [promise({"epsilon": "1", "unit": "trip"})])[0]["said"]
    assert "user" not in said


def test_what_a_set_may_be_used_for() -> None:
    known = {"controls": {"map_alone": 0.5}}
    ours = {"name": "ours", "metrics": {"trip_error": entry(0.05, **known), "length_error": entry(0.2)}}
    theirs = {"name": "theirs", "metrics": {"trip_error": entry(0.5), "length_error": entry(None)}}
    pairs, lengths = uses([ours, theirs])
    assert pairs["title"] == "From where to where"
    assert (pairs["answers"], pairs["alone"]) == (["yes", "no"], 0.5)
    assert (lengths["answers"], lengths["alone"]) == (["roughly", "–"], None)
    assert best([entry(0.5), entry(0.1), entry(None)]) == [False, True, False]


@pytest.mark.parametrize("privacy", [None, {}, {"method": "paper"}, {"epsilon": None}])
def test_silence_promises_nothing(privacy: dict[str, object] | None) -> None:
    said = promise(privacy)
    assert said.epsilon is None
    assert said.warning is not None
    assert said.warning.startswith("Nothing is promised")


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [("1", "2.7"), ("1/2", "1.6"), ("0.1", "1.1"), ("5", "150"), ("1000", "e^ε"), ("a lot", "e^ε")],
)
def test_epsilon_in_words(epsilon: str, factor: str) -> None:
    said = promise({"epsilon": epsilon})
    assert said.headline == f"ε = {epsilon} for each user."
    assert f"at most {factor} times as likely" in said.meaning
    assert said.warning is None


def test_a_trip_as_the_unit_is_said() -> None:
    said = promise({"epsilon": "1", "unit": "trip"})
    assert said.headline == "ε = 1 for each trip."
    assert "user" not in said.meaning
    assert "one trip is at most 2.7 times as likely with that trip" in said.meaning


def test_leaks_and_experiments_are_not_hidden() -> None:
    said = promise({"epsilon": "1", "leaks": "its length shows", "experiment": "it was seeded"})
    assert said.warning == "This is not ε-LDP for the whole trajectory: its length shows."
    assert said.remark == "Note: it was seeded."


def test_facts_and_sentences() -> None:
    said = promise(
        {
            "epsilon": "1",
            "sample_seed": 7,
            "report": "9 bytes",
            "plan": {"not": "a fact"},
            "explanation": ["One round:", "  start", "  end"],
            "notes": ["Public map."],
        }
    )
    assert said.facts == (("One report", "9 bytes"), ("Seed of sampling", "7"))
    assert said.sentences == (("One round:", ("start", "end")), ("Public map.", ()))
    assert promise({"epsilon": "1", "explanation": "In one line."}).sentences == (("In one line.", ()),)
