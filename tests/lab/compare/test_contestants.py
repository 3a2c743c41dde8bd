from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace_lab.compare.contestants import LOCAL, contestant, contestants


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("walker", "no method 'walker'; the methods are single-report"),
        ("single-report+map", "needs a street map"),
        ("map-alone", "needs a street map"),
        ("paper+map", "no use for a map"),
        (" , ", "at least one method"),
    ],
)
def test_what_cannot_be_compared_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        contestants(text, has_map=False)
