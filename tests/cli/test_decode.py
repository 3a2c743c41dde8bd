from __future__ import annotations

from pathlib import Path

import pytest

from cli_kit import PLAN, error_of
from ldptrace.cli.decode import SHOWN, describe
from ldptrace.curator import Tally
from ldptrace.device import Reporter
from ldptrace.errors import FormatError
from ldptrace.protocol.reports import report_bytes


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"format":"x"}', b'{"format":"ldptrace-ledger"}', b"\x02abc", b"\x01", b"{" * 99999]
)
@pytest.mark.usefixtures("folder")
def test_decode_says_what_it_cannot_read(data: bytes) -> None:
    Path("file").write_bytes(data)
    assert error_of("decode", "file")


def test_a_plan_and_its_reports_in_words() -> None:
    plan = describe(PLAN.to_json().encode())
    assert plan[0] == f"A plan of protocol version 1, id {PLAN.id}."
    reports = b"".join(Reporter(PLAN, "none").report([(0.5, 0.5), (3.0, 4.0)]) for _ in range(SHOWN + 2))
    without = describe(reports)
    assert without[-1] == "With --plan the answers can be read."
    with_plan = describe(reports, PLAN)
    assert with_plan[0] == f"{SHOWN + 2} reports of {report_bytes(PLAN.rounds[0])} bytes, round 1."
    assert [line for line in with_plan if line.startswith("Report ")] == [
        f"Report {number + 1}." for number in range(SHOWN)
    ]


def test_a_report_that_cannot_be_counted_is_told_and_the_others_are_read() -> None:
    good = Reporter(PLAN, "none").report([(0.5, 0.5)])
    told = describe(good + bytes([9]) + good[1:], PLAN)
    assert "Report 1." in told
    assert any(line.startswith("Report 2 cannot be counted.") for line in told)


def test_a_tally_names_its_questions_where_the_plan_is_known() -> None:
    tally = Tally.zero(PLAN, 0).to_json().encode()
    assert describe(tally)[1].startswith("  question 0: 0 users")
    name = PLAN.rounds[0].asks[0].question.name
    assert describe(tally, PLAN)[1].startswith(f"  {name}: 0 users, 0 answers, 0 items named.")


@pytest.mark.parametrize("data", [b"traj_id,x,y\n", b"PAR1", b"\x89PNG"])
def test_a_file_of_another_kind_is_told(data: bytes) -> None:
    with pytest.raises(FormatError, match="no file of the protocol"):
        describe(data)
