from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ldptrace.audit.client import Json, OwnDevice
from ldptrace.audit.ledger import LedgerFinding, ledger_findings

Change = Callable[[Json], Json]


class Odd(OwnDevice):
    """A device that sees other lines than it is asked."""

    def __init__(self, folder: Path, change: Change) -> None:
        super().__init__(folder)
        self.change = change
        self.asked = 0

    def ask(self, line: Json) -> Json:
        self.asked += 1
        return super().ask(self.change(line | {"asked": self.asked}))


def fallen(found: list[LedgerFinding]) -> set[str]:
    return {finding.checked for finding in found if not finding.stands}


def test_an_honest_ledger_stands(tmp_path: Path) -> None:
    found = ledger_findings(OwnDevice(tmp_path))
    assert fallen(found) == set()
    assert len(found) == 9
    assert all(finding.steps >= 4 for finding in found)


def renamed(line: Json) -> Json:
    """Every question meets a new ledger: each retry is a fresh draw."""
    return line if "sent" in line else line | {"ledger": f"{line['ledger']}-{line['asked']}"}


def generous(line: Json) -> Json:
    return line | {"limit": "999"}


def timeless(line: Json) -> Json:
    """The clock of the device is always ahead."""
    return line | {"now": line["now"] + 86_400 * 7 * line["asked"]}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (renamed, {"a retry gets the same bytes", "a fork is refused", "a window is answered once"}),
        (generous, {"the limit holds", "windows count towards the limit"}),
        (timeless, {"a window is answered once"}),
    ],
)
def test_a_device_that_forgets_falls(change: Change, wrong: set[str], tmp_path: Path) -> None:
    found = ledger_findings(Odd(tmp_path, change))
    assert wrong <= fallen(found)
    details = [finding.detail for finding in found if not finding.stands]
    assert all(detail.startswith(("step ", "the windows")) for detail in details)


def test_a_ledger_that_is_lost_at_a_restart_falls(tmp_path: Path) -> None:
    class Forgetful(OwnDevice):
        def restart(self) -> None:
            for path in tmp_path.iterdir():
                path.unlink()
            super().restart()

    assert {"a restart forgets nothing", "a window is answered once"} <= fallen(
        ledger_findings(Forgetful(tmp_path))
    )


def test_a_window_that_jumps_falls(tmp_path: Path) -> None:
    """As if the phase were drawn anew for every answer."""

    class Jumping(OwnDevice):
        def ask(self, line: Json) -> Json:
            answer: dict[str, Any] = super().ask(line)
            report = bytearray.fromhex(answer.get("report", ""))
            if len(report) > 23 and report[21] | report[22]:
                report[22] ^= 8 * (report[-1] % 2) + 4 * (line["now"] // 604_800 % 2)
            return answer | ({"report": report.hex()} if report else {})

    found = ledger_findings(Jumping(tmp_path))
    assert "windows end with the lifetime" in fallen(found)
