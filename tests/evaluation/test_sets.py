from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluation_data import drifting_walks, timed
from ldptrace.errors import InputError
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.sets import open_sides, set_names

SQUARE = (0.0, 0.0, 10.0, 10.0)


@pytest.mark.parametrize(("names", "given"), [("mine", "'mine'"), (["a", "b"], "2 entries")])
def test_names_are_one_for_each_set(names: list[str], given: str) -> None:
    with pytest.raises(InputError, match=rf"names is a list .* each synthetic set \(1\), got {given}"):
        set_names(names, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"privacy": {"epsilon": "1"}}, r"privacy is a list .* got \{'epsilon': '1'\}"),
        ({"privacy": [None, None]}, "privacy is a list .* got 2 entries"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"roads": "nowhere.csv"}, "there is no file or folder nowhere.csv"),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate(drifting_walks(20, 1), drifting_walks(20, 2), **options)


def test_sets_share_an_area_and_count_what_they_have() -> None:
    real, other = drifting_walks(30, 1), drifting_walks(20, 2)
    sides, origin = open_sides(real, [other], ["ours"], 4, SQUARE)
    assert [(side.area.n, side.census.kept) for side in sides] == [(4, 30), (4, 20)]
    assert [side.name for side in sides] == ["the real set", "the synthetic set ours"]
    assert origin == "given"
    with pytest.raises(InputError, match="no synthetic set"):
        open_sides(real, [], [], 4, SQUARE)


def test_bounds_that_are_no_degrees_are_refused_where_one_set_has_degrees() -> None:
    degrees = replace(drifting_walks(20, 2), crs="EPSG:4326")
    with pytest.raises(InputError, match=r"bounds 0,0,20000,20000 are no degrees"):
        open_sides(drifting_walks(30, 1), [degrees], ["ours"], 4, (0, 0, 20_000, 20_000))


def test_hours_of_two_time_zones_are_noted_also_where_one_states_none() -> None:
    one, two = timed(drifting_walks(20, 1), 1), timed(drifting_walks(20, 2), 2)
    shown = replace(two, timezone="Asia/Shanghai")
    for real, other, said in (
        (
            one,
            shown,
            "are those of Asia/Shanghai, and the hours of the real set those of no stated time zone",
        ),
        (
            shown,
            one,
            "are those of no stated time zone, and the hours of the real set those of Asia/Shanghai",
        ),
    ):
        notes = open_sides(real, [other], ["ours"], 4, SQUARE)[0][1].notes
        assert any(note.endswith(said) for note in notes), notes
    for real, other in ((one, two), (shown, shown), (shown, drifting_walks(20, 1))):
        notes = open_sides(real, [other], ["ours"], 4, SQUARE)[0][1].notes
        assert not any("hours" in note for note in notes)
