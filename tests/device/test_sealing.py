"""A sealed report is read by the curator alone; two seals of one report share nothing."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from ldptrace.curator.opening import CuratorKey
from ldptrace.device.sealing import Sealer
from ldptrace.errors import InputError
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.seals import SEAL_BYTES

PLAN = "ab" * 32


def test_each_seal_has_a_fresh_key() -> None:
    key = CuratorKey.drawn()
    sealer = Sealer.of_plan(key.public, PLAN)
    report = bytes(50)
    sealed = [sealer.seal(report, 7) for _ in range(50)]
    assert {len(one) for one in sealed} == {50 + SEAL_BYTES}
    assert len({one[:65] for one in sealed}) == len({one[65:] for one in sealed}) == 50
    assert key.opener(PLAN).open_all(sealed, 7) == ([report] * 50, 0)


def test_the_fresh_key_comes_from_the_systems_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 bytes of the system make the seal: equal bytes give equal seals, so nothing else is random."""
    assert [take.__module__ for take in Source.__init__.__defaults__ or ()] == [os.name]
    public = CuratorKey.from_text("5").public
    asked: list[int] = []

    def of_the_system(count: int) -> bytes:
        asked.append(count)
        return b"\x07" * count

    monkeypatch.setattr(Source.__init__, "__defaults__", (of_the_system,))
    sealed = {Sealer.of_plan(public, PLAN).seal(b"report", None) for _ in range(3)}
    assert (len(sealed), asked) == (1, [32, 32, 32])
    secret = 1 + int.from_bytes(b"\x07" * 32, "big")
    assert sealed.pop()[:65] == CuratorKey.from_text(f"{secret:x}").public


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    public = CuratorKey.drawn().public
    broken: Any = None
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, name, broken)
    with pytest.raises(InputError, match=r"ldptrace-device\[shuffled\]"):
        Sealer.of_plan(public, PLAN)
