from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from audit_kit import ONE_GRR, ONE_OUE, SINGLE, seeded
from ldptrace.audit.system import source_findings
from ldptrace.device import Reporter
from ldptrace.device import reporter as reporter_module
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import RANDOMIZERS
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.standing import Standing


def repeated_block() -> Callable[[int], bytes]:
    block, at = os.urandom(64), [0]

    def take(count: int) -> bytes:
        piece = bytes(block[(at[0] + k) % 64] for k in range(count))
        at[0] += count
        return piece

    return take


def zeros_after_a_while() -> Callable[[int], bytes]:
    left = [64]

    def take(count: int) -> bytes:
        good = min(count, left[0])
        left[0] -= good
        return os.urandom(good) + bytes(count - good)

    return take


KEPT = [b""]


def kept_between_reports() -> Callable[[int], bytes]:
    """A read-ahead for all reports of the process, which a fork shares with its parent."""

    def take(count: int) -> bytes:
        if len(KEPT[0]) < count:
            KEPT[0] += os.urandom(count + 4096)
        piece, KEPT[0] = KEPT[0][:count], KEPT[0][count:]
        return piece

    return take


def the_wrong_way_round() -> Callable[[int], bytes]:
    return lambda count: os.urandom(count)[::-1]


def stretched() -> Callable[[int], bytes]:
    """Every byte of the system is used twice."""
    return lambda count: bytes(byte for byte in os.urandom((count + 1) // 2) for _ in range(2))[:count]


@pytest.mark.parametrize(
    "source",
    [seeded, repeated_block, zeros_after_a_while, kept_between_reports, the_wrong_way_round, stretched],
)
@pytest.mark.parametrize("plan", [SINGLE, ONE_OUE, ONE_GRR], ids=["privset", "oue", "grr"])
def test_a_bad_random_source_falls(
    source: Callable[[], Callable[[int], bytes]], plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporter_module, "_ReadAhead", source)
    found = source_findings(plan)
    assert not all(finding.stands for finding in found)
    # Each randomizer's probe needs thousands of bytes, so it sees what comes after the first ones.
    probes = [finding.stands for finding in found if finding.target.startswith("probe")]
    assert not any(probes)


def test_bytes_that_are_changed_on_the_way_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many bytes as the report needs, all fresh, and other ones in the id: only comparing the reports shows it."""

    def other_ids() -> Callable[[int], bytes]:
        return lambda count: bytes(byte ^ (count == 16) for byte in os.urandom(count))

    monkeypatch.setattr(reporter_module, "_ReadAhead", other_ids)
    details = {finding.detail for finding in source_findings(ONE_GRR)}
    assert details == {"the report does not follow from the bytes that the system handed out for it"}


def test_every_randomizer_has_a_probe() -> None:
    found = source_findings(ONE_GRR)
    assert all(finding.stands for finding in found)
    assert [finding.target for finding in found] == ["round 0", *(f"probe of {kind}" for kind in RANDOMIZERS)]
    assert all(finding.bytes > 1000 * finding.reports for finding in found[1:])


def test_two_reports_with_one_id_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that hands out the same bytes again: each report follows from them, and all have one id."""
    monkeypatch.setattr(os, "urandom", bytes)
    found = source_findings(ONE_GRR)
    assert next(finding.detail for finding in found if not finding.stands) == "two reports have one id"


@pytest.mark.parametrize("source", [seeded, repeated_block, kept_between_reports])
def test_a_bad_random_source_of_windows_falls(
    source: Callable[[], Callable[[int], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers of windows come by a way of their own: bad there alone, and good for rounds and probes."""
    plan = SINGLE.changed(standing=Standing.of(7 * 86_400, epsilon=SINGLE.epsilon))
    good = source_findings(plan)
    assert good[0].target == "windows"
    assert all(finding.stands for finding in good)
    draw, take = Reporter.draw_about, source()

    def worse(self: Reporter, *arguments: Any, window: int = 0, **more: Any) -> bytes:
        if window and len(arguments) == 2:
            arguments = (*arguments, Source(take))
        return draw(self, *arguments, window=window, **more)

    monkeypatch.setattr(Reporter, "draw_about", worse)
    assert [finding.stands for finding in source_findings(plan)] == [False, *[True] * len(RANDOMIZERS)]
