from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation_data import drifting_walks
from ldptrace.engines.files import Files
from ldptrace.errors import InputError
from ldptrace.evaluation.evaluator import central_peers, evaluate

SQUARE = (0.0, 0.0, 10.0, 10.0)
SHUFFLED = {"epsilon": "0.5", "trust": "shuffler", "delta": "0.00000001", "local_epsilon": "4", "batch": 300}


def test_peers_stand_beside_a_set_at_its_central_epsilon() -> None:
    real = drifting_walks(300, 1)
    ours = replace(drifting_walks(300, 2), provenance=SHUFFLED)
    card = evaluate(real, ours, bounds=SQUARE, seed=1, attacks=False, peers="adatrace, privtrace")
    assert [item["name"] for item in card.sets] == ["synthetic", "adatrace", "privtrace"]
    for item in card.sets[1:]:
        stated = item["privacy"] or {}
        assert (stated["epsilon"], stated["trust"]) == ("0.5", "curator")
        assert stated["adjacency"] == "one trip replaced by another"
    said = card.remarks()
    assert any("privtrace: epsilon 0.5: central, if the curator is trusted" in one for one in said)
    assert any("synthetic: epsilon 0.5 and delta 1e-08: central, if the shuffler" in one for one in said)
    # The same values as without peers.
    alone = evaluate(real, ours, bounds=SQUARE, seed=1, attacks=False)
    assert card["trip_error"] == pytest.approx(alone["trip_error"])


def test_sets_with_different_epsilons_are_named() -> None:
    real = drifting_walks(50, 1)
    sets = [replace(drifting_walks(50, 2), provenance={"epsilon": epsilon}) for epsilon in ("1", "2")]
    card = evaluate(real, *sets, names=["a", "b"], bounds=SQUARE, seed=1, attacks=False)
    assert "the sets promise different epsilons, so compare them with care: a 1, b 2" in card.remarks()


@pytest.mark.parametrize(
    ("peers", "promise", "words"),
    [
        ("single-report", SHUFFLED, "methods with a trusted curator.*single-report"),
        (" , ", SHUFFLED, "methods with a trusted curator"),
        ("adatrace", None, "a synthetic set that states its epsilon"),
        ("nothing", SHUFFLED, "nothing"),
    ],
)
def test_wrong_peers(peers: str, promise: dict[str, str] | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        central_peers(peers, drifting_walks(5, 1), [promise], SQUARE, 1)


def test_peers_need_the_trips_in_memory() -> None:
    with pytest.raises(InputError, match="in memory"):
        central_peers("adatrace", object.__new__(Files), [SHUFFLED], SQUARE, 1)
