from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit_kit import SINGLE
from ldptrace.audit.structure import structural_findings
from ldptrace.device import Reporter
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import HEADER_BYTES
from ldptrace.protocol.trips import Occasion


def test_a_header_that_depends_on_the_trajectory_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    from ldptrace.device import reporter

    seen: list[Occasion] = []
    real = reporter.occasion_among
    monkeypatch.setattr(reporter, "occasion_among", lambda *given: seen.append(real(*given)) or seen[-1])
    monkeypatch.setattr(reporter, "_group", lambda round_, source: 0 if seen[-1].trip.path else 1)
    found = structural_findings(SINGLE)
    assert "header" in [finding.checked for finding in found if not finding.stands]


def header_that_tells(at: int, value: Callable[[list[Any]], int]) -> Callable[..., bytes]:
    """A device whose header has, in one byte, something of the trajectory."""
    honest = Reporter.draw_about

    def leaky(self: Reporter, occasion: Occasion, *rest: Any, **options: Any) -> bytes:
        report, points = honest(self, occasion, *rest, **options), list(occasion.trip.points)
        return report[:at] + bytes([report[at] ^ value(points)]) + report[at + 1 :]

    return leaky


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1, 16, 17, 18, 19, 22, 23, HEADER_BYTES - 1])
def test_every_byte_of_the_header_is_compared(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version, plan, round, group, window, id, first byte and last: one bit that depends on the trajectory is found."""
    for value in (lambda points: len(points) > 4, lambda points: len(points) > 1000):
        with monkeypatch.context() as patch:
            patch.setattr(Reporter, "draw_about", header_that_tells(at, value))
            found = structural_findings(SINGLE)
        assert "header" in [finding.checked for finding in found if not finding.stands]
        assert "number and size" not in [finding.checked for finding in found if not finding.stands]
    assert all(finding.stands for finding in structural_findings(SINGLE))


def test_a_size_that_depends_on_the_trajectory_falls() -> None:
    """The unpadded mode of the paper sends as many bytes as a path has moves."""
    found = structural_findings(Plan.paper(SINGLE.grid, 1.0, method="paper-unpadded").paper_second_round(3))
    assert "number and size" in [finding.checked for finding in found if not finding.stands]


def test_messages_that_no_receiver_counts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for everybody, so that only the form is wrong."""
    monkeypatch.setattr(Reporter, "draw_about", header_that_tells(0, lambda _: 1))
    wrong = [finding.checked for finding in structural_findings(SINGLE) if not finding.stands]
    assert wrong == ["form"]
