from __future__ import annotations

from types import SimpleNamespace

import pytest

from ldptrace.pages.promise import promise, sharing


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
        sharing(document, [SimpleNamespace(headline="y", warning="x", remark=None)])


# Without a column of users, a trajectory counts as a device of its own: nothing is known of a user.
@pytest.mark.parametrize("unit", ["trip", "trajectory"])
def test_the_promise_of_a_trip_says_trip_everywhere(unit: str) -> None:
    document = {"real": {"samples": []}, "sets": [{"name": "ours"}]}
    said = sharing(document, [promise({"epsilon": "1", "unit": unit})])[0]["said"]
    assert said.startswith("ε = 1 for each trip.")
    assert "user" not in said


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


def test_the_panel_of_shuffled_reports_says_both_promises() -> None:
    told = {"delta": "0.00000001", "local_epsilon": "4.2", "batch": 8000, "trust": "shuffler"}
    panel = promise({"epsilon": "1", "method": "single-report"} | told)
    assert "(δ = 1e-08) if shuffler and curator do not work together; ε = 4.2 if they do." in panel.headline
    assert "at least 8,000 reports is at most 2.7 times" in panel.meaning


def test_a_trusted_curator_is_named_with_what_the_epsilon_is_about() -> None:
    told = {
        "epsilon": "1",
        "trust": "curator",
        "adjacency": "one trip replaced by another",
        "leaks": "central",
    }
    found = promise(told)
    assert found.headline == (
        "ε = 1, central: a trusted curator saw all trips. Neighbouring sets: one trip replaced by another."
    )
    document = {"sets": [{}], "real": {"samples": []}}
    assert sharing(document, [found])[0]["said"].startswith(found.headline)
