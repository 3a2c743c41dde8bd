from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from audit_kit import ONE_GRR, SINGLE
from ldptrace.audit.black_box import black_box
from ldptrace.audit.client import (
    DrivenWitness,
    OwnDevice,
    StructuralFinding,
    alone,
    asking,
    client_structure,
    id_finding,
    structural_findings,
)
from ldptrace.audit.verdict import audit
from ldptrace.device import Reporter
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Trips
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import HEADER_BYTES, read_report
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import Occasion, Trip


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


# Four cells: few trajectories to compare.
SMALL = Plan.single_report(Grid((0.0, 0.0, 2.0, 2.0), 2), 1.0)
WEEK = SINGLE.changed(standing=Standing.of(604_800, epsilon=1))
DATE = 1_000_000_000


def fallen(found: list[StructuralFinding]) -> set[str]:
    return {finding.checked for finding in found if not finding.stands}


def test_each_question_is_asked_alone() -> None:
    for group, ask in enumerate(SINGLE.rounds[0].asks):
        plan = alone(SINGLE, 0, group)
        assert [one.question for one in plan.rounds[0].asks] == [ask.question]
        assert plan.rounds[0].asks[0].randomizer == ask.randomizer
        assert Plan.from_json(plan.to_json()).epsilon == SINGLE.epsilon
    assert alone(WEEK, 0, 0).standing == WEEK.standing
    count = Ask(Trips(3), GRR(5, 1, Fraction(5, 2)))
    counted = WEEK.changed(rounds=(Round((count,), "everyone"),))
    assert alone(counted, 0, 0).standing is None


def test_people_of_a_standing_plan_have_an_answer(tmp_path: Path) -> None:
    later = 4_000_000_000
    for recent, start in ((604_800, 0), (86_400, 0), (604_800, later)):
        plan = WEEK.changed(standing=Standing.of(604_800, epsilon=1, recent=recent, start=start))
        line = asking(plan, [[(0.5, 0.5)]])
        report = OwnDevice(tmp_path).ask(line)["report"]
        read_report(bytes.fromhex(report), plan, 0)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [SMALL, SMALL.changed(standing=WEEK.standing)])
def test_an_honest_client_stands(plan: Plan, tmp_path: Path) -> None:
    found = client_structure(plan, OwnDevice(tmp_path), 30)
    assert fallen(found) == set()
    assert [finding.checked for finding in found] == ["size", "header", "form", "group"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "checked"), [(0, "header"), (17, "header"), (18, "group"), (HEADER_BYTES + 30, "size")]
)
def test_a_message_that_tells_falls(
    at: int, checked: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One byte that depends on the trips: of the version, the round, the group, or one too many."""
    honest = Reporter.draw_about

    def leaky(self: Reporter, occasion: Occasion, *rest: Any, **options: Any) -> bytes:
        report = honest(self, occasion, *rest, **options)
        tells = len(occasion.trip.points) > 300
        if at > len(report):
            return report + bytes(tells)
        return report[:at] + bytes([report[at] ^ tells]) + report[at + 1 :]

    monkeypatch.setattr(Reporter, "draw_about", leaky)
    assert checked in fallen(client_structure(SMALL, OwnDevice(tmp_path), 150))


def test_ids_must_differ() -> None:
    assert id_finding(Counter({b"a": 1, b"b": 1})).stands
    assert not id_finding(Counter({b"a": 2, b"b": 1})).stands


@pytest.mark.slow
def test_a_witness_remembers_ids_and_answers_what_it_is_asked(tmp_path: Path) -> None:
    witness = DrivenWitness(SINGLE, OwnDevice(tmp_path))
    messages = witness.messages(0, 3, [[(0.5, 0.5)]], 20)
    assert witness.ids.total() == len(witness.ids) == 20
    assert all(read_report(message, messages.plan, messages.round) for message in messages.sent)


def truthful(tells: Any) -> Any:
    """A device that does not randomise the trips of some people."""
    honest = Reporter.draw_about

    def leaky(self: Reporter, occasion: Occasion, number: int, *rest: Any, **options: Any) -> bytes:
        report = honest(self, occasion, number, *rest, **options)
        ask = self.plan.rounds[number].asks[0]
        if not tells(occasion.trip):
            return report
        named = ask.randomizer.filled(ask.question.answer(occasion, None)[0])
        return report[:HEADER_BYTES] + ask.randomizer.encode(named)

    return leaky


def many_points(trip: Trip) -> bool:
    return len(trip.points) > 300


def real_date(trip: Trip) -> bool:
    return trip.departure is not None and trip.departure > DATE


@pytest.mark.slow
@pytest.mark.parametrize("tells", [many_points, real_date])
def test_a_device_that_names_the_truth_of_real_trips_falls(
    tells: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only where a trip has more than 300 points, or a date of our days: in this process, and from outside."""
    monkeypatch.setattr(Reporter, "draw_about", truthful(tells))
    own = black_box(ONE_GRR, 200)
    assert {attack.looked_at for attack in own if not attack.stands} <= {
        "the bytes of real trips",
        "the named items of real trips",
    }
    assert any(not attack.stands for attack in own)
    found = audit(ONE_GRR, trials=200, device=OwnDevice(tmp_path))
    assert not found.stands
    assert "The promise FELL" in found.summary()
    assert "real trips" in found.summary()


@pytest.mark.slow
def test_a_client_is_audited_from_outside(tmp_path: Path) -> None:
    found = audit(ONE_GRR, trials=100, device=OwnDevice(tmp_path))
    assert found.stands
    assert found.exact_epsilon is None
    assert "Not tried: the randomizers case by case" in found.summary()
    assert found.document()["not_tried"] == found.not_tried
    assert any("the ledger" in one for one in found.tried)
