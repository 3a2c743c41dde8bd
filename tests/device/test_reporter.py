from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.audit.system import extreme_trajectories
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.device import Ledger, Recording, Reporter, trip_of
from ldptrace.device.explanation import explain_report
from ldptrace.device.track import recordings_of
from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import Departure
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.reports import ID_AT, Report, plan_prefix, read_report, report_bytes
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.seals import SEAL_BYTES, label_bytes
from ldptrace.protocol.standing import Standing
from shuffled_kit import KEY, shuffled, weekly
from statistics_kit import assert_proportions

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
PLANS = {
    "single report": Plan.single_report(GRID, 1.0),
    "with times": Plan.single_report(GRID, 1.0, time=True),
    "paper": Plan.paper(GRID, 1.0),
    "paper, second round": Plan.paper(GRID, 1.0).paper_second_round(5),
}
anything = st.floats(allow_nan=True, allow_infinity=True)
bounds = st.tuples(
    st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(1e-3, 1e6)
).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))


@pytest.mark.slow
@given(bounds, st.integers(2, 40), st.lists(st.tuples(anything, anything), max_size=12))
def test_a_device_finds_the_path_that_the_simulator_finds(
    box: tuple[float, float, float, float], n: int, points: list[tuple[float, float]]
) -> None:
    grid = Grid(box, n)
    x0, y0, x1, y1 = box
    # Numbers anywhere, and the same numbers folded into the box, where the cells are.
    near = [
        (x0 + abs(x) % (x1 - x0), y0 + abs(y) % (y1 - y0)) for x, y in points if np.isfinite([x, y]).all()
    ]
    for trajectory in (points, near):
        expected = CellPaths.from_trajectories(Trajectories.from_lists([trajectory]), grid).cells.tolist()
        assert trip_of(trajectory, grid).path == expected


@given(st.integers(2, 30), st.data())
def test_points_on_the_borders_of_cells_agree_too(n: int, data: st.DataObject) -> None:
    grid = Grid((-8.7, 41.0, -8.4, 41.4), n)
    index = data.draw(st.integers(0, n))
    edge = grid.origin[0] + grid.step[0] * index
    points = [(value, 41.2) for value in (np.nextafter(edge, -9), edge, np.nextafter(edge, 9))]
    expected = CellPaths.from_trajectories(Trajectories.from_lists([points]), grid).cells.tolist()
    assert trip_of(points, grid).path == expected


class Broken:
    """What a program might hand over by mistake."""

    def __iter__(self) -> Iterator[object]:
        yield (1.0, 1.0)
        raise RuntimeError("the sensor fell off")

    def __getitem__(self, place: int) -> object:
        raise RuntimeError("no such thing")

    def __float__(self) -> float:
        raise RuntimeError("not a number either")


ODD_TRAJECTORIES: dict[str, Any] = {
    "None": None,
    "a number": 7,
    "broken": Broken(),
    "broken points": [Broken(), (Broken(), Broken(), Broken())],
    "points of None": [None, (None, None), (None, None, None)],
    "points without coordinates": [(), (1.0,), {}, {"x": 1}, "xy", b"xy", 5],
    "huge integers": [(10**400, -(10**400)), (1 << 2000, 0)],
    "truth values": [(True, False)],
    "complex": [(1j, 2j)],
    "exact": [(Fraction(1, 3), Decimal("2.5")), (Decimal("NaN"), Decimal("Infinity"))],
    "odd times": [(1.0, 1.0, None), (2.0, 2.0, "noon"), (3.0, 3.0, 10**400), (4.0, 4.0, Broken())],
    "numpy": np.array([[1.0, 2.0, 3.0], [4.0, np.nan, np.inf]]),
}


@pytest.mark.parametrize("trajectory", ODD_TRAJECTORIES)
@pytest.mark.parametrize("name", PLANS)
def test_whatever_a_trajectory_is_it_is_answered(name: str, trajectory: str) -> None:
    plan = PLANS[name]
    for _ in range(20):
        report = Reporter(plan, "none").report(ODD_TRAJECTORIES[trajectory])
        read_report(report, plan, len(plan.rounds) - 1)


def test_trips_are_given_as_one_or_as_a_list() -> None:
    """One list of points is one trip; a list of trips mixes lists of points and recordings."""
    walk, other = [(0.5, 0.5), (5.5, 5.5)], [(3.0, 3.0, 30.0)]

    def points(trips: Any) -> list[Any]:
        return [one.points if one.points is trips else list(one.points) for one in recordings_of(trips)]

    assert points(walk) == points([walk]) == points(Recording(walk)) == points(iter(walk)) == [walk]
    assert points([walk, Recording(other), ()]) == [walk, other, []]
    assert len(points(np.array(walk))) == 1
    assert len(points([np.array(walk), np.array(other)])) == 2
    assert len(points([(math.nan, 1.0)])) == len(points([(None, None), (1, 1)])) == 1
    assert points([]) == points(None) == points(7) == []


def test_a_reporter_needs_a_ledger_or_the_word_that_it_has_none() -> None:
    plan: Any = PLANS["single report"]
    for wrong in (None, "ledger.json", {}):
        with pytest.raises(InputError, match="needs a Ledger, or the word 'none'"):
            Reporter(plan, wrong)
    with pytest.raises(TypeError):
        Reporter(plan)  # type: ignore[call-arg]


def test_coordinates_that_are_no_numbers_are_where_the_protocol_says() -> None:
    assert trip_of([(10**400, -(10**400)), (None, 10**400)], GRID).path == [30, 25, 20, 15, 10, 5]  # type: ignore[list-item]
    assert trip_of([("5", True)], GRID).path == [0]  # type: ignore[list-item]
    assert trip_of([(Fraction(11, 2), Decimal("5.5"))], GRID).path == [35]  # type: ignore[list-item]
    assert trip_of(None, GRID).path == []  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PLANS)
def test_everybody_sends_one_message_of_one_size(name: str) -> None:
    plan = PLANS[name]
    number = len(plan.rounds) - 1
    for points in extreme_trajectories(GRID).values():
        report = Reporter(plan, "none").report(points)
        assert len(report) == report_bytes(plan.rounds[number])
        fields = Report.decode(report)
        assert (fields.plan, fields.round) == (plan_prefix(plan), number)
        read_report(report, plan, number)


def test_one_message_fits_in_64_bytes_at_six_by_six() -> None:
    assert report_bytes(PLANS["single report"].rounds[0]) <= 64


@pytest.mark.slow
def test_groups_follow_the_shares_whatever_the_trajectory() -> None:
    plan = PLANS["single report"]
    reporter, trials = Reporter(plan, "none"), 4000
    for points in ([], [(3.0, 3.0)], [(0.0, 0.0), (6.0, 6.0)]):
        groups = [reporter.report(points)[18] for _ in range(trials)]
        counts = np.bincount(groups, minlength=len(plan.rounds[0].asks))
        assert_proportions(counts, trials, [ask.share / SHARES for ask in plan.rounds[0].asks])


def test_report_ids_and_draws_are_fresh() -> None:
    reporter = Reporter(PLANS["single report"], "none")
    reports = [reporter.report([(1.0, 1.0)]) for _ in range(200)]
    assert len({report[ID_AT] for report in reports}) == 200


def test_a_plan_that_leaks_is_refused_unless_it_is_measured() -> None:
    leaky = Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(5)
    with pytest.raises(PlanRefused) as refusal:
        Reporter(leaky, "none")
    assert refusal.value.problem is Problem.PLAN_NOT_PRIVATE
    sizes = {
        len(Reporter(leaky, "none", unpadded=True).report(points))
        for points in ([], [(0, 0)], [(0, 0), (5, 5)])
    }
    assert len(sizes) == 3


def test_a_plan_with_another_id_or_other_coordinates_is_refused() -> None:
    plan = Plan.single_report(GRID, 1.0, crs="EPSG:4326")
    document = plan.to_json().encode()
    Reporter.from_document(document, "none", plan_id=plan.id, crs="EPSG:4326")
    Reporter.from_document(document, "none")
    with pytest.raises(PlanRefused) as refusal:
        Reporter.from_document(document, "none", plan_id=plan.id[:63] + ("1" if plan.id[63] == "0" else "0"))
    assert refusal.value.problem is Problem.PLAN_CHANGED
    with pytest.raises(PlanRefused) as refusal:
        Reporter.from_document(document, "none", crs="EPSG:3857")
    assert refusal.value.problem is Problem.PLAN_OTHER_COORDINATES


@pytest.mark.parametrize("round_number", [-1, 1, 99])
def test_rounds_that_are_not_there_are_refused(round_number: int) -> None:
    with pytest.raises(PlanRefused) as refusal:
        Reporter(PLANS["paper"], "none").report([], round_number)
    assert refusal.value.problem is Problem.PLAN_NO_SUCH_ROUND


@pytest.mark.parametrize("name", PLANS)
def test_a_person_can_read_what_is_sent(name: str) -> None:
    plan = PLANS[name]
    number = len(plan.rounds) - 1
    words = "\n".join(Reporter(plan, "none").explain(round_number=number))
    assert "would leave this device" in words
    assert "50 % sure" in words
    for _ in range(20):
        report = Reporter(plan, "none").report([(1.0, 1.0), (5.0, 2.0)])
        assert report.hex() in "\n".join(explain_report(plan, report))


BLOCKED = """
import sys

# Some systems load a module of their own at every start of Python.
before = set(sys.modules)

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numpy", "numba", "scipy", "pyarrow", "typer", "rich", "matplotlib"}:
            raise ImportError(name)

sys.meta_path.insert(0, Blocker())
import ldptrace.device
import tempfile
from ldptrace.device import Ledger, Reporter
from ldptrace.device.explanation import explain_asking, explain_report
from ldptrace.device.track import recordings_of
from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
plan = Plan.from_json(Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0).to_json())
ledger = Ledger(tempfile.mkdtemp() + "/ledger.json")
report = Reporter.from_document(plan.to_json().encode(), plan_id=plan.id, ledger=ledger).report([(1, 1), (2, 5)])
explain_report(plan, report), explain_asking(plan, 0)
second = Plan.paper(Grid((0, 0, 6, 6), 6), 1.0).paper_second_round(5)
Reporter(second, "none").report([(1, 1)])
outsiders = {name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names) - {"ldptrace"}
print(sorted(name for name in outsiders if not name.startswith("_")))
"""


def test_the_device_needs_the_standard_library_only() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_times_are_those_of_both_ends_or_unknown(grid: Grid) -> None:
    assert trip_of([(0, 0, 5.0), (1, 1), (2, 2, 8.0)], grid).seconds == 3.0
    for points in ([(0, 0, 5.0), (1, 1)], [(0, 0), (1, 1, 5.0)], [(0, 0, math.nan), (1, 1, 5.0)], []):
        trip = trip_of(points, grid)
        assert (trip.departure, trip.arrival) == (None, None)
    timed, untimed = trip_of([(0, 0, 5.0), (3, 2, 8.0)], grid), trip_of([(0, 0), (3, 2)], grid)
    assert (timed.path, timed.points) == (untimed.path, untimed.points)


def test_a_device_without_a_clock_answers_in_as_many_bytes(grid: Grid) -> None:
    question = Departure(grid.n, 1, 1)
    channel = PrivSet.best(question.domain, question.capacity, ratio_at_most(Fraction(1)))
    plan = Plan("time", grid, Fraction(1), (Round((Ask(question, channel),), "everyone"),))
    sizes = {
        len(Reporter(plan, "none").report(points))
        for points in ([], [(1, 1)], [(1, 1, 7.0)], [(1, 1, math.inf)])
    }
    assert len(sizes) == 1


def test_a_report_waits_a_random_time_up_to_the_grace() -> None:
    """Drawn anew, from all the time there is: two hundred draws miss the upper half with a chance of 2^-200."""
    once = PLANS["single report"]
    standing = once.changed(standing=Standing.of(604_800, epsilon=1, grace=7200))
    for plan, longest in ((once, 3600), (standing, 7200)):
        reporter = Reporter(plan, "none")
        drawn = [reporter.delay() for _ in range(200)]
        assert longest / 2 < max(drawn) <= longest
        assert min(drawn) < longest / 2
        assert len(set(drawn)) > 150
        assert {reporter.delay(2) for _ in range(200)} == {0, 1, 2}
        assert reporter.delay(0) == 0


def test_what_leaves_a_device_is_sealed_for_the_curator(tmp_path: Path) -> None:
    """Also the bytes that wait in the ledger, and the same ones each time."""
    plan = shuffled(Plan.single_report(Grid((0, 0, 6, 6), 6), 2))
    ledger = Ledger(tmp_path / "ledger.json")
    sent = Reporter(plan, ledger).report([(1, 1)])
    assert len(sent) == report_bytes(plan.rounds[0]) + SEAL_BYTES
    assert Reporter(plan, ledger).report([(5, 5)]) == sent == Reporter(plan, ledger).waiting()
    opened = KEY.opener(plan.id).open(sent, label_bytes(None))
    assert opened is not None
    assert opened[0] == 2
    read_report(opened, plan, 0)
    assert opened.hex() not in (tmp_path / "ledger.json").read_text()
    # Without a ledger, too.
    assert KEY.opener(plan.id).open(Reporter(plan, "none").report([]), label_bytes(None)) is not None
    Reporter(plan, ledger).sent()
    assert Reporter(plan, ledger).waiting() is None


def test_a_seal_is_bound_to_its_window(tmp_path: Path) -> None:
    plan = weekly(Plan.single_report(Grid((0, 0, 6, 6), 6), 2))
    reporter = Reporter(plan, Ledger(tmp_path / "ledger.json"))
    reporter.accept(1.7e9)
    sent = reporter.report([], now=1.7e9 + 604_800)
    row = reporter.ledger.acceptance(plan)  # type: ignore[union-attr]
    opened = KEY.opener(plan.id).open(sent, label_bytes(row.window))  # type: ignore[union-attr]
    assert opened is not None
    assert Report.decode(opened).window == row.window  # type: ignore[union-attr]
    assert KEY.opener(plan.id).open(sent, label_bytes(None)) is None


def test_nothing_is_spent_if_the_report_cannot_be_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = shuffled(Plan.single_report(Grid((0, 0, 6, 6), 6), 2))
    ledger = Ledger(tmp_path / "ledger.json")
    broken: Any = None
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, name, broken)
    with pytest.raises(InputError, match=r"\[shuffled\]"):
        Reporter(plan, ledger).report([])
    assert not (tmp_path / "ledger.json").exists()
