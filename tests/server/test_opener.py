"""Opening in other processes gives the same as in this one, in the same order."""

from __future__ import annotations

import pytest

from ldptrace.curator.opening import CuratorKey
from ldptrace.server import opener
from ldptrace.server.opener import open_batch
from shuffler_kit import KEY, batch_of, sealed, telling


def values(reports: bytes) -> list[int]:
    size = 41
    return [int.from_bytes(reports[at - 2 : at], "big") for at in range(size, len(reports) + 1, size)]


@pytest.mark.slow
def test_processes_keep_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = telling()
    body, size = batch_of(plan, range(11)), len(sealed(plan, 1).body)
    body = body[: 5 * size] + bytes(size) + body[5 * size :]
    assert values(open_batch(KEY.text, plan.id, None, body, size)) == list(range(11))
    monkeypatch.setattr(opener, "FEW", 5)
    assert values(open_batch(KEY.text, plan.id, None, body, size)) == list(range(11))


def test_another_key_opens_nothing() -> None:
    plan = telling()
    body, size = batch_of(plan, range(3)), len(sealed(plan, 1).body)
    assert open_batch(CuratorKey.drawn().text, plan.id, None, body, size) == b""
    assert open_batch(KEY.text, "0" * 64, None, body, size) == b""
    assert open_batch(KEY.text, plan.id, 0, body, size) == b""
