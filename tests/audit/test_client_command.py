from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from audit_kit import ONE_GRR
from ldptrace.audit.client import CommandDevice, OwnDevice, _plain, reports_of, trip_lines
from ldptrace.errors import InputError

LINE = {"plan": ONE_GRR.to_json(), "trips": trip_lines([[(0.5, 0.5)]])}
COMMAND = f"{sys.executable} -m ldptrace.device.program lines --ledgers {{ledgers}}"


def test_a_device_of_this_process_answers(tmp_path: Path) -> None:
    device = OwnDevice(tmp_path)
    assert len(set(reports_of(device, LINE, 700))) == 700
    given = device.ask(LINE | {"ledger": "ana"})
    device.restart()
    assert device.ask(LINE | {"ledger": "ana"}) == given
    with pytest.raises(InputError, match="must answer"):
        reports_of(device, LINE | {"limit": "0.1", "ledger": "ben"}, 1)


@pytest.mark.slow
def test_a_command_is_killed_and_started_again(tmp_path: Path) -> None:
    with CommandDevice(COMMAND, tmp_path) as device:
        given = device.ask(LINE | {"ledger": "ana"})
        device.restart()
        assert device.ask(LINE | {"ledger": "ana"}) == given
        twin = device.twin()
        assert twin.ask(LINE | {"ledger": "ana"}) == given
        twin.close()
        assert len(reports_of(device, LINE, 3)) == 3


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program {ledgers}", "cannot be started"),
        ("true", "names the folder"),
        ("true {ledgers}", "ended before it answered"),
        ("sh -c 'echo no JSON; cat' {ledgers}", "must answer with a JSON object"),
    ],
)
def test_a_command_that_is_no_device(command: str, said: str, tmp_path: Path) -> None:
    def asked() -> None:
        with CommandDevice(command, tmp_path) as device:
            for _ in range(200):
                device.ask(LINE)

    with pytest.raises(InputError, match=said):
        asked()


def test_lines_are_json_whatever_is_in_them() -> None:
    odd = {"trips": [((math.nan, math.inf), [-math.inf, 1.5, None, "x"])]}
    assert json.loads(json.dumps(_plain(odd), allow_nan=False)) == {
        "trips": [[["NaN", "Infinity"], ["-Infinity", 1.5, None, "x"]]]
    }
