"""Ids of counted reports are known wherever they are kept."""

from __future__ import annotations

import pytest

from ldptrace.server import seen
from ldptrace.server.counting import Counter
from ldptrace.server.storage import Database
from server_kit import (
    COUNTED,
    DUPLICATE,
    TELLING,
    codes,
    counts,
    opened,
    telling_report,
)


@pytest.mark.slow
@pytest.mark.parametrize(("fold", "settle"), [(2, 7), (3, 1000), (1000, 5), (64, 1 << 15)])
def test_ids_are_known_wherever_they_are(
    database: Database, monkeypatch: pytest.MonkeyPatch, fold: int, settle: int
) -> None:
    monkeypatch.setattr(seen, "FOLD", fold)
    monkeypatch.setattr(seen, "SETTLE", settle)
    opened(database, "trips", TELLING)
    # Two counters are two processes: each sees what the other one wrote.
    counters = [Counter(database), Counter(database)]
    sent: list[bytes] = []
    for value in range(40):
        sent.append(telling_report(value))
        assert codes(counters[value % 2], "trips", sent[-1]) == [[COUNTED]]
        for one in (sent[value // 2], sent[-1], sent[0]):
            assert codes(counters[value % 3 == 0], "trips", one) == [[DUPLICATE]]
    assert counts(database, "trips")[:41] == [1] * 40 + [0]
    assert codes(Counter(database), "trips", b"".join(sent)) == [[DUPLICATE] * 40]
