from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace_lab.compare.runs import LOCAL, contestant, contestants


def test_methods_then_what_stands_beside_them() -> None:
    assert [who.name for who in contestants("paper, adatrace,paper", has_map=False)] == [
        "paper",
        "adatrace",
        "fresh-sample",
    ]
    with_map = contestants("single-report+map", has_map=True)
    assert [who.name for who in with_map] == [
        "single-report+map",
        "fresh-sample",
        "map-alone",
        "plain-routing",
    ]
    assert with_map[0].method == "single-report"


def test_everybody_says_whom_one_trusts() -> None:
    assert contestant("paper", has_map=False).trust == LOCAL
    assert "trusted curator" in contestant("adatrace", has_map=False).trust
    assert "who is on the way" in contestant("retrasyn", has_map=False).trust
    assert contestant("retrasyn", has_map=False).kind == "stream"
    assert contestant("standing+map", has_map=True).trust == LOCAL
    assert "shows that there was one" in contestant("standing-shown", has_map=False).trust


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("walker", "no method 'walker'; the methods are single-report"),
        ("single-report+map", "needs a street map"),
        ("map-alone", "needs a street map"),
        ("standing+map", "needs a street map"),
        (" , ", "at least one method"),
    ],
)
def test_what_cannot_be_compared_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        contestants(text, has_map=False)


def test_a_map_is_for_those_who_use_it() -> None:
    for name in ("paper+map", "retrasyn+map"):
        with pytest.raises(InputError, match="no use for a map"):
            contestant(name, has_map=True)


def test_reports_that_can_be_shuffled_are_there_twice() -> None:
    found = contestants("single-report,paper,adatrace", has_map=False, delta="1e-08")
    names = ["single-report", "single-report+shuffled", "paper", "adatrace", "fresh-sample"]
    assert [who.name for who in found] == names
    mixed = found[1]
    assert (mixed.method, mixed.shuffled, mixed.local) == ("single-report", True, False)
    assert "delta 1e-08, for the replacement of one trip by another" in mixed.trust
    with pytest.raises(InputError, match="can be shuffled"):
        contestants("adatrace", has_map=False, delta="1e-08")
