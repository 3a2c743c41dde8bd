"""Results of several seeds of one method become one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation_data import good_and_bad
from ldptrace.evaluation.attacks import KAPPAS, Resilience
from ldptrace.evaluation.results import Attack, SetResult, attack_table, attacks_document


def attack(attacked: int, ratio: float) -> Attack:
    hidden = Resilience(attacked, (1.0,) * len(KAPPAS))
    return Attack(Resilience(attacked, (ratio,) * len(KAPPAS)), hidden, hidden, 0.5)


def result(attacked: int, ratio: float, *notes: str) -> SetResult:
    found = good_and_bad().sets[0]
    return replace(found, attacks={"outlier": attack(attacked, ratio)}, notes=notes)


def test_seeds_of_one_method_are_one_set_with_the_mean_of_their_attacks() -> None:
    other = good_and_bad().sets[1]
    one, left = SetResult.of_seeds(
        [result(100, 0.2, "few points"), other, result(102, 0.6, "few points", "no times")]
    )
    assert left is other
    assert (one.name, one.seeds, one.notes) == ("good", 2, ("few points", "no times"))
    assert one.attacks["outlier"].synthetic.attacked == 101
    assert one.attacks["outlier"].synthetic.ratios == pytest.approx((0.4,) * len(KAPPAS))
    assert len(one.query_curve) == len(other.query_curve)


def test_attacks_are_shown_beside_real_data_and_random_walks() -> None:
    attacks = {"reidentification": attack(7, 0.5), "outlier": attack(9, 0.25)}
    shown = attack_table({"ours": attacks})
    assert list(shown.columns[-1].cells) == ["ours", "the other real trips", "uniform random walks"] * 2
    assert list(shown.columns[2].cells) == ["0.5000", "1.0000", "1.0000", "0.2500", "1.0000", "1.0000"]
    assert attacks_document(attacks)["outlier"]["synthetic"] == {
        "attacked": 9,
        "resilience": [0.25] * len(KAPPAS),
    }
