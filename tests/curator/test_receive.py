from __future__ import annotations

import math
import random
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_paths
from ldptrace.curator import Estimates, Tally
from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import OUE
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import read_report
from ldptrace.protocol.round import Ask, Round
from ldptrace.simulation import collect
from statistics_kit import assert_proportions, assert_standard_normal

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)
SINGLE = Plan.single_report(GRID, 1.0)
PAPER = Plan.paper(GRID, 2.0).paper_second_round(4)
PLANS = {"single report": (SINGLE, 0), "paper": (PAPER, 1)}


def reports(plan: Plan, number: int, count: int, seed: int = 1) -> list[bytes]:
    """Reports of devices with random trajectories; the same for the same seed."""
    lottery = random.Random(seed)
    reporter, source = Reporter(plan, "none"), Source(lottery.randbytes)
    made = []
    for _ in range(count):
        points = [(lottery.uniform(0, 4), lottery.uniform(0, 4)) for _ in range(lottery.randrange(4))]
        made.append(reporter.draw(points, number, source))
    return made


def plain_tally(plan: Plan, number: int, batch: list[bytes]) -> Tally:
    """Report by report with the plain reader."""
    asks = plan.rounds[number].asks
    counts = [np.zeros(ask.randomizer.outputs, dtype=np.int64) for ask in asks]
    users = [0] * len(asks)
    for data in batch:
        for ask, slots in read_report(data, plan, number):
            place = asks.index(ask)
            users[place] += 1
            for named in slots:
                counts[place][list(named)] += 1
    answers = tuple(n * ask.question.slots for n, ask in zip(users, asks, strict=True))
    return Tally(plan.id, number, tuple(counts), answers, tuple(users))


@pytest.mark.parametrize("name", PLANS)
def test_the_tally_is_that_of_the_plain_reader(name: str) -> None:
    plan, number = PLANS[name]
    batch = reports(plan, number, 700)
    receiver = Receiver(plan, number)
    assert not receiver.receive(b"".join(batch)).any()
    assert receiver.tally == plain_tally(plan, number, batch)


@pytest.mark.parametrize("name", PLANS)
def test_batches_add_up(name: str) -> None:
    plan, number = PLANS[name]
    batch = reports(plan, number, 600)
    whole, parts = Receiver(plan, number), Receiver(plan, number)
    whole.receive(b"".join(batch))
    for start in range(0, 600, 256):
        parts.receive(b"".join(batch[start : start + 256]))
    assert whole.tally == parts.tally
    assert parts.receive(b"").tolist() == []


def test_one_bad_report_costs_only_itself() -> None:
    batch = reports(SINGLE, 0, 40)
    good = list(batch)
    bad = {
        3: (b"\x02" + batch[3][1:], Problem.UNKNOWN_VERSION),
        5: (batch[5][:1] + b"\0" * 16 + batch[5][17:], Problem.WRONG_PLAN),
        8: (batch[8][:17] + b"\1" + batch[8][18:], Problem.WRONG_ROUND),
        13: (batch[13][:18] + b"\xc8" + batch[13][19:], Problem.UNKNOWN_GROUP),
        21: (batch[21][:18] + b"\0" + batch[21][19:39] + b"\xff" * len(batch[21][39:]), Problem.BAD_PADDING),
        34: (batch[2], Problem.DUPLICATE),
    }
    for place, (data, _) in bad.items():
        batch[place] = data
    receiver = Receiver(SINGLE)
    codes = receiver.receive(b"".join(batch) + batch[0][:-1])
    expected = {place: problem.number for place, (_, problem) in bad.items()}
    assert {int(place): int(codes[place]) for place in np.flatnonzero(codes[:-1])} == expected
    assert codes[-1] == Problem.WRONG_SIZE.number
    rest = [data for place, data in enumerate(good) if place not in bad]
    assert receiver.tally == plain_tally(SINGLE, 0, rest)


def test_a_report_counts_once_over_batches_and_receivers() -> None:
    batch = b"".join(reports(SINGLE, 0, 50))
    first = Receiver(SINGLE)
    first.receive(batch)
    duplicate = [Problem.DUPLICATE.number] * 50
    assert first.receive(batch).tolist() == duplicate
    later = Receiver(SINGLE, ids=first.ids)
    assert later.receive(batch).tolist() == duplicate
    assert sum(later.tally.users) == 0


def test_a_damaged_report_does_not_use_up_its_id() -> None:
    (report,) = reports(SINGLE, 0, 1)
    receiver = Receiver(SINGLE)
    damaged = report[:18] + b"\xff" + report[19:]
    assert receiver.receive(damaged + report).tolist() == [Problem.UNKNOWN_GROUP.number, 0]


@given(st.lists(st.binary(min_size=16, max_size=16).map(lambda b: bytes(15) + b[-1:]), max_size=80))
def test_ids_that_look_alike_are_told_apart(ids: list[bytes]) -> None:
    """Ids of zeros and nearly zeros too: an empty place of the table is not an id."""
    (report,) = reports(SINGLE, 0, 1)
    receiver = Receiver(SINGLE)
    codes = receiver.receive(b"".join(report[:23] + id_ + report[39:] for id_ in ids))
    assert int((codes == 0).sum()) == len(set(ids))
    known = {receiver.ids[at : at + 16] for at in range(0, len(receiver.ids), 16)}
    assert known == set(ids)


def test_what_is_not_ids_is_refused() -> None:
    with pytest.raises(InputError, match="16 bytes each"):
        Receiver(SINGLE, ids=b"123")


def test_a_plan_that_leaks_is_not_received() -> None:
    with pytest.raises(PlanRefused):
        Receiver(Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(3), 1)


def test_a_round_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="no round 2"):
        Receiver(SINGLE, 1)


def test_counts_beyond_a_byte() -> None:
    """Bits are counted in bytes for 255 reports at a time; the same report many times overflows no byte."""
    plan, number = PLANS["paper"]
    (report,) = reports(plan, number, 1)
    many = [report[:23] + k.to_bytes(16, "big") + report[39:] for k in range(1, 1021)]
    receiver = Receiver(plan, number)
    receiver.receive(b"".join(many))
    one = plain_tally(plan, number, [report])
    for counts, expected in zip(receiver.tally.counts, one.counts, strict=True):
        assert np.array_equal(counts, expected * 1020)


def centre(cell: int) -> tuple[float, float]:
    x0, y0, x1, y1 = GRID.cell_bounds(cell)
    return (x0 + x1) / 2, (y0 + y1) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_simulation_and_wire_agree(name: str, rng: np.random.Generator) -> None:
    """The same people, answered by devices over the wire and by the simulator: one distribution of the tally."""
    plan, number = PLANS[name]
    paths = random_paths(60, GRID, rng)
    people = [
        [centre(cell) for cell in paths.cells[start:stop].tolist()]
        for start, stop in zip(paths.offsets, paths.offsets[1:], strict=False)
    ]
    reporter, source, repeats = Reporter(plan, "none"), Source(random.Random(5).randbytes), 40
    receiver = Receiver(plan, number)
    for _ in range(repeats):
        receiver.receive(b"".join(reporter.draw(points, number, source) for points in people))
    wire = receiver.tally
    simulated = Tally.merge(
        [collect(plan, paths, rng, round_number=number, mode="devices") for _ in range(repeats * 10)]
    )
    assert_proportions(wire.users, repeats * 60, np.array(simulated.users) / (repeats * 600))
    scores = []
    for ours, theirs, n, m in zip(
        wire.counts, simulated.counts, wire.reports, simulated.reports, strict=True
    ):
        pooled = (ours + theirs) / (n + m)
        spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-9) * (1 / n + 1 / m))
        scores.append((ours / n - theirs / m) / spread)
    flat = np.concatenate(scores)
    # Items of one report are a little dependent; the largest score is the test, shared over all items.
    assert np.abs(flat).max() < 6.5
    assert_standard_normal([flat.mean()])
    assert 0.5 < flat.std() < 1.5


def numbered(plan: Plan, number: int, ids: Iterable[bytes]) -> bytes:
    """The same valid report again and again, each time with another id."""
    (report,) = reports(plan, number, 1)
    return b"".join(report[:23] + id_ + report[39:] for id_ in ids)


def test_duplicates_are_known_after_the_table_has_grown() -> None:
    """The table begins with room for 512 ids; every id of every earlier size must still be in it."""
    receiver = Receiver(SINGLE)
    lottery, sent = random.Random(3), list[bytes]()
    for size in (1, 510, 2, 513, 1500, 6000, 20_000):
        fresh = [lottery.randbytes(16) for _ in range(size)]
        assert not receiver.receive(numbered(SINGLE, 0, fresh)).any()
        sent += fresh
        codes = receiver.receive(numbered(SINGLE, 0, sent))
        assert set(codes.tolist()) == {Problem.DUPLICATE.number}
    assert sum(receiver.tally.users) == len(sent)
    ids = receiver.ids
    assert sorted(ids[at : at + 16] for at in range(0, 16 * len(sent), 16)) == sorted(sent)
    # A receiver that continues knows them too, also those of a table that has to grow while they are read.
    assert set(Receiver(SINGLE, 0, ids).receive(numbered(SINGLE, 0, sent)).tolist()) == {8}


@pytest.mark.parametrize("before", [0, 300, 3000])
def test_an_id_of_zeros_is_an_id(before: int) -> None:
    """An empty place of the table looks the same; the id must count once, and survive growing and continuing."""
    lottery, zeros = random.Random(before), bytes(16)
    others = [lottery.randbytes(16) for _ in range(before)]
    half = [bytes(8) + b"\1" * 8, b"\1" * 8 + bytes(8)]
    receiver = Receiver(SINGLE)
    assert not receiver.receive(numbered(SINGLE, 0, [*others, zeros, *half])).any()
    assert receiver.receive(numbered(SINGLE, 0, [zeros, *half])).tolist() == [8, 8, 8]
    more = [lottery.randbytes(16) for _ in range(5000)]
    assert not receiver.receive(numbered(SINGLE, 0, more)).any()
    assert receiver.receive(numbered(SINGLE, 0, [zeros])).tolist() == [8]
    assert len(receiver.ids) == 16 * (before + 3 + 5000)
    assert Receiver(SINGLE, 0, receiver.ids).receive(numbered(SINGLE, 0, [zeros])).tolist() == [8]
    assert Receiver(SINGLE, 0, b"".join(others)).receive(numbered(SINGLE, 0, [zeros])).tolist() == [0]


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("at", [0, 1, 16, 17, 18])
def test_a_rejected_id_may_come_again_validly(name: str, at: int) -> None:
    """Whatever was wrong with the first, in whichever order: the valid report counts, and counts once."""
    plan, number = PLANS[name]
    (report,) = reports(plan, number, 1)
    spoilt = bytearray(report)
    spoilt[at] ^= 0xFF
    receiver = Receiver(plan, number)
    first, *rest = receiver.receive(bytes(spoilt) + report + report + bytes(spoilt)).tolist()
    assert first not in (0, Problem.DUPLICATE.number)
    assert rest == [0, Problem.DUPLICATE.number, first]
    assert receiver.ids == report[23:39]


@pytest.mark.slow
def test_counts_and_estimates_beyond_a_million_reports() -> None:
    """No counter overflows or rounds: a tally of many copies is the tally of one, times as many."""
    plan = Plan(
        "large", GRID, Fraction(1), (Round((Ask(Start(4), OUE(16, 1, Fraction(5, 2))),), "everyone"),)
    )
    (report,) = reports(plan, 0, 1)
    rows = np.tile(np.frombuffer(report, dtype=np.uint8), (1 << 18, 1))
    receiver, batches = Receiver(plan), 5
    for batch in range(batches):
        rows[:, 19:27] = np.arange(batch << 18, (batch + 1) << 18, dtype=">u8")[:, None].view(np.uint8)
        assert not receiver.receive(rows.tobytes()).any()
    total = batches << 18
    one = plain_tally(plan, 0, [report])
    tally = receiver.tally
    assert total > 1_000_000
    assert tally.users == tally.reports == (total,)
    assert np.array_equal(tally.counts[0], total * one.counts[0])
    assert Tally.from_json(tally.to_json()) == tally
    p, q = (float(value) for value in plan.rounds[0].asks[0].randomizer.probabilities)
    found = Estimates.from_tally(plan, tally)["start"]
    assert np.allclose(found.frequencies, (one.counts[0] - q) / (p - q))
    # A thousand such tallies, added up: more than a billion reports.
    many = Tally.merge([tally] * 1000)
    assert many.users == (1000 * total,)
    assert np.allclose(Estimates.from_tally(plan, many)["start"].frequencies, found.frequencies)
    assert np.all(Estimates.from_tally(plan, many)["start"].std_errors > 0)
    assert np.allclose(
        Estimates.from_tally(plan, many)["start"].std_errors, found.std_errors / math.sqrt(1000)
    )
