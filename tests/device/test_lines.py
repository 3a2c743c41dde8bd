from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ldptrace.device.lines import Lines, number, recorded
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import Report, read_report
from ldptrace.protocol.standing import Standing
from shuffled_kit import shuffled

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)
WEEK = PLAN.changed(standing=Standing.of(7 * 86_400, epsilon=1))
TRIP = {"points": [[0.5, 0.5], [3.0, 4.0]], "arrival": 1_780_000_000}
NOW = 1_780_300_800


def test_a_line_is_answered_and_remembered(tmp_path: Path) -> None:
    line = {"plan": PLAN.to_json(), "trips": [TRIP], "ledger": "ana"}
    first = Lines(tmp_path).answer_to(line)
    read_report(bytes.fromhex(first["report"]), PLAN, 0)
    again = Lines(tmp_path)
    assert again.answer_to(line | {"trips": []}) == first
    assert again.answer_to({"ledger": "ana", "sent": first["report"]}) == {}
    assert again.answer_to({"ledger": "ana", "trips": []}) == {"problem": "plan-answered"}
    assert again.answer_to({"ledger": "ben", "trips": [TRIP], "limit": "0.5"}) == {
        "problem": "plan-over-limit"
    }


def test_devices_without_a_name_are_new_each_time(tmp_path: Path) -> None:
    lines = Lines(tmp_path)
    found = lines.answer_to({"plan": PLAN.to_json(), "trips": [TRIP], "count": 5})["reports"]
    assert len(set(found)) == 5
    assert list(tmp_path.iterdir()) == []
    assert lines.answer_to({"trips": []})["report"] not in found


def test_windows(tmp_path: Path) -> None:
    lines = Lines(tmp_path)
    line = {"plan": WEEK.to_json(), "trips": [TRIP], "now": NOW}
    assert lines.answer_to(line) == {"problem": "plan-not-due"}
    report = lines.answer_to(line | {"accepted": NOW - 3 * 7 * 86_400})["report"]
    assert Report.decode(bytes.fromhex(report)).window > 2900
    assert lines.answer_to(line | {"ledger": "ana", "accept": True}) == {}
    assert lines.answer_to(line | {"ledger": "ana"}) == {"problem": "plan-not-due"}
    assert "report" in lines.answer_to(line | {"ledger": "ana", "now": NOW + 7 * 86_400})


@pytest.mark.parametrize("line", ["", "[]", "{", '{"trips":[]}', '{"plan":5}', '{"plan":"{}","trips":[]}'])
def test_what_is_wrong_with_a_line_is_said_and_the_next_is_answered(line: str, tmp_path: Path) -> None:
    good = json.dumps({"plan": PLAN.to_json(), "trips": [TRIP]})
    wrong, right = map(json.loads, Lines(tmp_path).answers([line, good]))
    assert "error" in wrong or wrong == {"problem": "plan-malformed"}
    assert "report" in right


def test_names_of_ledgers_stay_in_the_folder(tmp_path: Path) -> None:
    line = {"plan": PLAN.to_json(), "trips": [], "ledger": "../ana"}
    assert "small letters" in Lines(tmp_path).answer_to(line)["error"]


def test_numbers_that_json_does_not_have() -> None:
    points, arrival = recorded({"points": [["NaN", "Infinity", "-Infinity"], [1, None, True]]})
    assert math.isnan(points[0][0])
    assert points[0][1:] == [math.inf, -math.inf]
    assert math.isnan(arrival)
    assert math.isnan(points[1][1])
    assert math.isnan(number({}))


def test_a_new_device_has_the_usual_limits(tmp_path: Path) -> None:
    large = Plan.single_report(PLAN.grid, 6).to_json()
    assert Lines(tmp_path).answer_to({"plan": large, "trips": []}) == {"problem": "plan-over-limit"}
    assert "report" in Lines(tmp_path).answer_to({"plan": large, "trips": [], "limit": "6"})


def test_a_check_says_what_the_device_makes_of_trips(tmp_path: Path) -> None:
    asked = {"plan": PLAN.to_json(), "trips": [{"points": [[99, 99]]}], "check": True}
    assert "another area" in Lines(tmp_path).answer_to(asked)["check"][2]
    assert "another area" in Lines(tmp_path).answer_to({**asked, "ledger": "ana"})["check"][2]
    assert list(tmp_path.iterdir()) == []


def test_a_sealed_report_is_kept_until_it_was_sent(tmp_path: Path) -> None:
    plan, lines = shuffled(PLAN), Lines(tmp_path)
    asked = {"plan": plan.to_json(), "trips": [], "ledger": "ana"}
    sealed = lines.answer_to(asked)["report"]
    lines.answer_to({"plan": plan.to_json(), "ledger": "ana", "sent": "00"})
    assert lines.answer_to(asked) == {"report": sealed}
    lines.answer_to({"plan": plan.to_json(), "ledger": "ana", "sent": sealed})
    assert lines.answer_to(asked) == {"problem": "plan-answered"}
