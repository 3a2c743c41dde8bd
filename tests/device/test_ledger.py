from __future__ import annotations

import json
import multiprocessing
import os
import stat
from contextlib import suppress
from fractions import Fraction
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

import pytest

from ldptrace.device import Ledger, Reporter
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
PLAN = Plan.single_report(GRID, 1.0)
FIRST = Plan.paper(GRID, 1.0)
SECOND = FIRST.paper_second_round(5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.json"


def problem_of(reporter: Reporter, round_number: int | None = None) -> Problem:
    with pytest.raises(PlanRefused) as refusal:
        reporter.report([(1.0, 1.0)], round_number)
    return refusal.value.problem


def test_the_same_bytes_until_they_were_sent(path: Path) -> None:
    report = Reporter(PLAN, Ledger(path)).report([(1.0, 1.0)])
    # Another process, another trajectory: the answer stands.
    again = Reporter(PLAN, Ledger(path))
    assert again.report([(5.0, 5.0), (0.0, 5.0)]) == report
    again.sent()
    assert problem_of(again) is Problem.PLAN_ANSWERED
    assert problem_of(Reporter(PLAN, Ledger(path))) is Problem.PLAN_ANSWERED
    assert report.hex() not in path.read_text()


def test_a_personal_limit_over_all_plans(path: Path) -> None:
    ledger = Ledger(path, limit="2.5")
    for epsilon in ("1", "1.2"):
        Reporter(Plan.single_report(GRID, epsilon), ledger).report([])
    assert ledger.spent == Fraction(22, 10)
    assert problem_of(Reporter(Plan.single_report(GRID, "0.4"), ledger)) is Problem.PLAN_OVER_LIMIT
    Reporter(Plan.single_report(GRID, "0.3"), ledger).report([])
    assert Ledger(path).limit == ledger.spent == Fraction(5, 2)


def test_one_plan_above_the_limit(path: Path) -> None:
    assert problem_of(Reporter(Plan.single_report(GRID, 6), Ledger(path))) is Problem.PLAN_OVER_LIMIT
    assert not path.exists()


def test_a_later_round_is_covered_by_the_first(path: Path) -> None:
    ledger = Ledger(path, limit=1)
    first = Reporter(FIRST, ledger).report([(1.0, 1.0)])
    second = Reporter(SECOND, ledger).report([(1.0, 1.0)])
    assert len(second) > len(first)
    assert ledger.spent == 1
    # Both rounds stay answered, whichever document asks for them.
    assert Reporter(FIRST, ledger).report([]) == first
    assert Reporter(SECOND, ledger).report([]) == second
    assert problem_of(Reporter(SECOND, ledger), 0) is Problem.PLAN_ANSWERED


def test_two_different_second_rounds_are_not_both_answered(path: Path) -> None:
    ledger = Ledger(path)
    Reporter(FIRST, ledger).report([])
    Reporter(SECOND, ledger).report([])
    assert problem_of(Reporter(FIRST.paper_second_round(4), ledger)) is Problem.PLAN_ANSWERED


def test_a_copy_of_a_plan_costs_again(path: Path) -> None:
    ledger = Ledger(path)
    Reporter(SECOND, ledger).report([])
    Reporter(SECOND.changed(extends=None), ledger).report([])
    assert ledger.spent == 2


class Crash(BaseException):
    """The power goes out."""


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace", "fsync of the folder"])
def test_a_crash_at_any_moment(path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Reporter(FIRST, Ledger(path)).report([(1.0, 1.0)])
    old = path.read_bytes()
    drawn: list[bytes] = []

    def draw() -> bytes:
        drawn.append(Reporter(PLAN, "none").draw([(1.0, 1.0)], 0))
        return drawn[-1]

    def crash(*_: object, **__: object) -> None:
        raise Crash

    real_open, real_fsync, calls = os.open, os.fsync, []

    def open_only_folders(name: str, flags: int, *rest: int) -> int:
        if flags & os.O_CREAT:
            raise Crash
        return real_open(name, flags, *rest)

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == (1 if step == "fsync" else 2):
            raise Crash
        real_fsync(handle)

    with monkeypatch.context() as patch:
        if step == "open":
            patch.setattr(os, "open", open_only_folders)
        elif step == "write":
            patch.setattr(json, "dumps", crash)
        elif step == "replace":
            patch.setattr(os, "replace", crash)
        else:
            patch.setattr(os, "fsync", fsync)
        with pytest.raises(Crash):
            Ledger(path).answer(PLAN, 0, draw)
    # Nobody saw the bytes. Either nothing was written, or exactly these bytes are there to be sent.
    after = Ledger(path)
    assert (path.read_bytes() == old) is (step != "fsync of the folder")
    report = after.answer(PLAN, 0, draw)
    assert report == drawn[-1]
    assert (len(drawn) == 1) is (step == "fsync of the folder")
    assert Reporter(FIRST, after).report([]) == before
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["ledger.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"format":"ldptrace-ledger","version":2,"limit":"5","entries":[],"standing":[]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"none","entries":[],"standing":[]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":[{"root":"a"}],"standing":[]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":7,"standing":[]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":[]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":[],"standing":[{"plan":"a","epsilon":"1"}]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":[],"standing":[{"plan":"a","epsilon":"1",'
        '"phase":0.5,"accepted":0,"window":1}]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","standing":[],"entries":[{"root":[],"epsilon":"1",'
        '"plan":"a","round":0,"report":null}]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","standing":[],"entries":[{"root":"a","epsilon":"1",'
        '"plan":"a","round":"0","report":null}]}',
        '{"format":"ldptrace-ledger","version":1,"limit":"5","entries":[],"standing":[{"plan":7,"epsilon":"1",'
        '"phase":0,"accepted":0,"window":1}]}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_ledger_that_cannot_be_read_stops_everything(path: Path, text: str) -> None:
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError, match="cannot be read"):
        Reporter(PLAN, Ledger(path)).report([])
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', '{"format": "ldptrace-ledger"}'])
def test_another_document_is_said_to_be_no_ledger(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(FormatError, match="cannot be read: expected format 'ldptrace-ledger' version 1 or 2"):
        Ledger(path).entries  # noqa: B018


def test_only_the_person_can_read_it(path: Path) -> None:
    Reporter(PLAN, Ledger(path)).report([])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("limit", [0, -1, "much", 1000, "nan", "1e-99999"])
def test_a_limit_is_a_number(path: Path, limit: float | str) -> None:
    with pytest.raises(InputError):
        Ledger(path, limit=limit)


def _answer(path: str, meeting: Barrier, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    """Answer when all are there, and with the answer drawn but not yet written wait for the others once more."""
    draw = Reporter.draw_about

    def unhurried(*arguments: Any, **options: Any) -> bytes:
        drawn = draw(*arguments, **options)
        with suppress(BrokenBarrierError):
            meeting.wait(1.0)
        return drawn

    Reporter.draw_about = unhurried  # type: ignore[method-assign]
    meeting.wait()
    results.put(Reporter(PLAN, Ledger(path)).report([(1.0, 1.0)]))


@pytest.mark.slow
def test_two_processes_at_once_give_one_answer(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results, meeting = context.Queue(), context.Barrier(2)
    workers = [context.Process(target=_answer, args=(str(path), meeting, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    answers = {results.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(answers) == 1
