from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from evaluation_data import drifting_walks, good_and_bad, values_of
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.metrics import CORRECTED, METRICS
from ldptrace.evaluation.scorecard import Scorecard, attack_table, merged

SQUARE = (0.0, 0.0, 10.0, 10.0)


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return good_and_bad()


def test_json_has_the_names_that_scripts_rely_on(card: Scorecard, tmp_path: Path) -> None:
    text = card.to_json(tmp_path / "card.json")
    document = json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))
    assert document == json.loads(text)
    assert list(document["metrics"])[:9] == [
        "density_error",
        "query_error",
        "hotspot_query_error",
        "kendall_tau",
        "trip_error",
        "length_error",
        "diameter_error",
        "pattern_f1",
        "pattern_error",
    ]
    for entry in document["metrics"].values():
        assert {"value", "goal", "std", "floor", "uniform"} <= set(entry)
        assert entry["goal"] in ("min", "max")
    assert set(document["metrics"]) >= {"fine_density_error_96", "small_query_error_900", "od_error_12"}
    # Without times and without a road network there is nothing to say about either.
    assert not set(document["metrics"]) & {"departure_error", "street_share"}
    assert set(document["corrected"]) == {*CORRECTED, "query_error_raw_points"}
    assert set(document["attacks"]) == {"reidentification", "outlier"}
    for attack in document["attacks"].values():
        assert attack["kappa"] == list(range(2, 11))
        for kind in ("synthetic", "fresh_real", "uniform"):
            assert len(attack[kind]["resilience"]) == 9
            assert attack[kind]["attacked"] > 0
    assert document["privacy"] == {"epsilon": "1", "method": "made up"}
    assert [item["name"] for item in document["sets"]] == ["good", "bad"]
    assert document["sets"][0]["metrics"] == document["metrics"]
    assert document["evaluation"]["seed"] == 4


def test_json_holds_no_real_trip(card: Scorecard) -> None:
    found = json.loads(card.to_json())
    assert found["real"]["samples"] == []
    assert len(found["sets"][0]["portrait"]["samples"]) == 300


def test_real_samples_can_be_left_out(card: Scorecard) -> None:
    assert len(card.document()["real"]["samples"]) == 300
    assert len(card.document()["sets"][0]["portrait"]["samples"]) == 300
    real = drifting_walks(40, 1)
    assert evaluate(real, real, seed=1, samples=False, repeat=1).document()["real"]["samples"] == []


def printed(card: Scorecard) -> str:
    console = Console(width=120, file=io.StringIO())
    console.print(card.table(corrected=True), card.attack_table())
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_it_prints_as_its_table(card: Scorecard) -> None:
    lines = repr(card).splitlines()
    assert lines[0].split()[:3] == ["metric", "goal", "perfect"]
    assert 9 < len(lines) < 60
    assert max(map(len, lines)) < 120
    html = card._repr_html_()
    assert "good is" in html
    assert html.count("<tr>") == 1 + len(card.document()["metrics"])
    assert "Not covered by ε" in html


def test_the_better_value_is_marked(card: Scorecard) -> None:
    assert card.best("density_error") == {0}
    rows = {row.split("  ")[0]: row for row in printed(card).splitlines()}
    density = rows["Density error"].split()
    assert density[density.index("*") - 1] == f"{card['density_error']:.4f}"


@pytest.mark.slow
def test_a_large_grid_is_drawn_in_blocks() -> None:
    card = evaluate(drifting_walks(50, 1), drifting_walks(50, 2), grid=100, bounds=SQUARE, seed=1, repeat=1)
    document = card.document()
    assert len(document["real"]["density"]) == 32 * 32
    assert len(document["real"]["trips"]) == 36
    assert len(card.to_html()) < 1_500_000


@pytest.fixture(scope="module")
def small_card() -> Scorecard:
    return good_and_bad()


def test_a_frame_has_a_row_for_each_metric_of_each_set(small_card: Scorecard) -> None:
    frame = small_card.to_frame()
    assert len(frame) == len(small_card.measured) * len(small_card.sets)
    first = frame[(frame["set"] == small_card.sets[0]["name"]) & (frame["metric"] == "density_error")]
    assert (
        first["value"].item()
        == small_card["density_error"]
        == values_of(small_card)["density_error"]["value"]
    )


def test_without_pandas_the_extra_is_named(small_card: Scorecard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'ldptrace\[geo\]'"):
        small_card.to_frame()


def test_an_unknown_metric_names_those_there_are(small_card: Scorecard) -> None:
    with pytest.raises(KeyError, match=r"no metric 'speed'; there are density_error, query_error"):
        small_card["speed"]


def attack(attacked: int, ratio: float) -> dict[str, Any]:
    own, hidden = ({"attacked": attacked, "resilience": [found] * len(KAPPAS)} for found in (ratio, 1.0))
    return {"synthetic": own, "fresh_real": hidden, "uniform": hidden}


def result(name: str, attacked: int, ratio: float, *notes: str) -> dict[str, Any]:
    """What is known of a set before seeds are combined."""
    values = {"trip_error": METRICS["trip_error"].entry(ratio)}
    own = {"outlier": attack(attacked, ratio)}
    return {
        "name": name,
        "seeds": 1,
        "values": values,
        "attacks": own,
        "notes": [*notes],
        "query_curve": [ratio],
    }


def test_seeds_of_one_method_are_one_set_with_the_mean_of_their_attacks() -> None:
    other = result("bad", 9, 0.5)
    one, left = merged(
        [result("good", 100, 0.2, "few points"), other, result("good", 102, 0.6, "few points", "no times")]
    )
    assert left is other
    assert (one["name"], one["seeds"], one["notes"]) == ("good", 2, ["few points", "no times"])
    assert one["values"]["trip_error"]["value"] == pytest.approx(0.4)
    assert one["attacks"]["outlier"]["synthetic"]["attacked"] == 101
    assert one["attacks"]["outlier"]["synthetic"]["resilience"] == pytest.approx([0.4] * len(KAPPAS))
    assert one["query_curve"] == pytest.approx([0.4])


def test_attacks_are_shown_beside_real_data_and_random_walks() -> None:
    attacks = {"reidentification": attack(7, 0.5), "outlier": attack(9, 0.25)}
    shown = attack_table({"ours": attacks})
    assert list(shown.columns[-1].cells) == ["ours", "the other real trips", "uniform random walks"] * 2
    assert list(shown.columns[2].cells) == ["0.5000", "1.0000", "1.0000", "0.2500", "1.0000", "1.0000"]


def test_a_changed_document_does_not_change_the_scorecard(small_card: Scorecard) -> None:
    text, document = small_card.to_json(), small_card.document()
    document["sets"][0]["metrics"].clear()
    document["evaluation"]["notes"].append("another note")
    assert small_card.to_json() == text
