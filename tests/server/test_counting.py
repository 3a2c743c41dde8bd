"""Counting in one transaction: the same as a receiver, whatever came before and whoever else counts."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from ldptrace.curator.receive import Receiver
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.server import campaigns, registry, rounds, seen
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database, open_database
from ldptrace.server.tokens import create_admissions, token_hash
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import (
    COUNTED,
    DUPLICATE,
    GRID,
    SINGLE,
    TELLING,
    VALUES,
    codes,
    counts,
    drawn,
    of,
    opened,
    reports_counted,
    telling_report,
)


def test_it_counts_what_a_receiver_counts(database: Database) -> None:
    opened(database, "trips", SINGLE, min_reports=1)
    reports = drawn(SINGLE, 60)
    bad = [b"", b"\x02" + reports[0][1:], reports[1][:-1], reports[2][:18] + b"\xff" + reports[2][19:]]
    bodies = [b"".join(reports[:30]), *reports[30:], *bad, reports[3], b"".join(reports[5:9]) + b"\x01tail"]
    counter = Counter(database)
    got = codes(counter, "trips", *bodies[:20]) + codes(counter, "trips", *bodies[20:])
    receiver = Receiver(SINGLE)
    expected = [receiver.receive(body).tolist() if body else [Problem.WRONG_SIZE.number] for body in bodies]
    assert got == expected
    with database.reading() as session:
        [(_, tally)] = rounds.tallies_of(session, registry.find(session, "trips"))
        rejected = rounds.rejections_of(session, "trips")
    assert tally == receiver.tally
    assert rejected == {"duplicate": 5, "unknown-group": 1, "unknown-version": 1, "wrong-size": 3}


def test_a_round_for_everyone(database: Database) -> None:
    plan = opened(database, "trips", Plan.paper(GRID, 1), min_reports=1)
    reports = drawn(plan, 20)
    Counter(database).count("trips", [Submission(report) for report in reports])
    receiver = Receiver(plan)
    receiver.receive(b"".join(reports))
    with database.reading() as session:
        assert rounds.tallies_of(session, registry.find(session, "trips"))[0][1] == receiver.tally


def test_a_transaction_that_fails_leaves_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(database, "trips", TELLING)
    counter = Counter(database)
    first, second = telling_report(1), telling_report(2)
    codes(counter, "trips", first)
    original = seen.SeenIds.add

    def add_and_fail(self: seen.SeenIds, *arguments: object) -> tuple[int, int]:
        original(self, *arguments)  # type: ignore[arg-type]
        raise OSError("power cut")

    monkeypatch.setattr(seen.SeenIds, "add", add_and_fail)
    with pytest.raises(OSError, match="power cut"):
        codes(counter, "trips", second)
    monkeypatch.undo()
    assert reports_counted(database, "trips") == 1
    assert codes(counter, "trips", second, first) == [[COUNTED], [DUPLICATE]]
    assert counts(database, "trips")[:4] == [0, 1, 1, 0]


@pytest.mark.slow
def test_processes_that_count_at_once(address: str) -> None:
    """Every report is sent by two of four threads, each with a connection of its own."""
    database = open_database(url=address)
    opened(database, "trips", TELLING)
    reports = [telling_report(value) for value in range(400)]
    answers: list[list[int]] = [[] for _ in reports]

    def send(worker: int) -> None:
        own = open_database(url=address)
        counter = Counter(own)
        for value in range(worker % 2, 400, 2):
            answers[value].append(int(counter.count("trips", [Submission(reports[value])])[0][0]))
        own.close()

    threads = [threading.Thread(target=send, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(sorted(pair) == [COUNTED, DUPLICATE] for pair in answers)
    assert counts(database, "trips")[:401] == [1] * 400 + [0]
    assert reports_counted(database, "trips") == 400
    database.close()


def test_late_reports_are_refused_unless_they_were_counted(database: Database) -> None:
    opened(database, "trips", TELLING)
    early, late = telling_report(1), telling_report(2)
    counter = Counter(database)
    codes(counter, "trips", early)
    campaigns.close(database, "trips", actor="test", now=0)
    closed = ServerProblem.ROUND_CLOSED.number
    assert codes(counter, "trips", late, early, late + early) == [[closed], [DUPLICATE], [closed, DUPLICATE]]
    assert codes(Counter(database), "trips", late, early) == [[closed], [DUPLICATE]]
    assert sum(counts(database, "trips")) == 1


def test_a_report_of_an_earlier_round_is_known(database: Database) -> None:
    plan = opened(database, "trips", Plan.paper(GRID, 1), min_reports=3)
    reports = drawn(plan, 4)
    counter = Counter(database)
    codes(counter, "trips", *reports[:3])
    campaigns.close(database, "trips", actor="test", now=0)
    second = campaigns.open_round(database, "trips", actor="test").plan
    assert len(second.rounds) == 2
    closed = ServerProblem.ROUND_CLOSED.number
    [new] = drawn(second, 1)
    assert codes(counter, "trips", reports[0], reports[3], new, new) == [
        [DUPLICATE],
        [closed],
        [COUNTED],
        [DUPLICATE],
    ]


def test_a_campaign_that_is_full(database: Database) -> None:
    opened(database, "trips", TELLING, min_reports=1, max_reports=3)
    reports = [telling_report(value) for value in range(5)]
    full = ServerProblem.CAMPAIGN_FULL.number
    counter = Counter(database)
    assert codes(counter, "trips", b"".join(reports)) == [[0, 0, 0, full, full]]
    assert codes(counter, "trips", reports[4], reports[0]) == [[full], [DUPLICATE]]
    assert counts(database, "trips")[:6] == [1, 1, 1, 0, 0, 0]


def test_admission_tokens_count_once(database: Database) -> None:
    campaigns.create(database, "trips", TELLING, actor="test")
    tokens = [token_hash(text) for text in create_admissions(database, "trips", 3, actor="test")]
    campaigns.open_round(database, "trips", actor="test")
    reports = [telling_report(value) for value in range(5)]
    counter = Counter(database)
    refused = ServerProblem.NOT_ADMITTED.number

    def send(body: bytes, *hashes: bytes) -> list[int]:
        return [int(code) for code in counter.count("trips", [Submission(body, hashes)])[0]]

    assert send(reports[0]) == [refused]
    assert send(reports[0], token_hash("invented")) == [refused]
    assert send(reports[0], tokens[0]) == [COUNTED]
    # The answer was lost: the same report with the same token is a duplicate, another report has no token.
    assert send(reports[0], tokens[0]) == [DUPLICATE]
    assert send(reports[1], tokens[0]) == [refused]
    assert send(reports[1] + reports[2], tokens[1]) == [refused, refused]
    # A copy that was refused does not make the next one a duplicate, which would pass for acknowledged.
    assert send(reports[4] + reports[4], tokens[0], tokens[0]) == [refused, refused]
    assert send(reports[1] + reports[2] + reports[3], tokens[1], tokens[1], tokens[2]) == [0, refused, 0]
    assert counts(database, "trips")[:5] == [1, 1, 0, 1, 0]
    with database.reading() as session:
        assert session.rows("SELECT hash FROM admissions") == []


def test_an_admission_token_is_good_for_its_own_campaign_only(database: Database) -> None:
    codes_of = {}
    for name in ("trips", "others"):
        campaigns.create(database, name, of(TELLING, name), actor="test")
        [text] = create_admissions(database, name, 1, actor="test")
        codes_of[name] = token_hash(text)
        campaigns.open_round(database, name, actor="test")
    counter = Counter(database)
    report = telling_report(1)
    elsewhere = counter.count("trips", [Submission(report, (codes_of["others"],))])
    assert elsewhere[0].tolist() == [ServerProblem.NOT_ADMITTED.number]
    # It was not used up there: both are good at home.
    for name in ("others", "trips"):
        own = telling_report(1, of(TELLING, name))
        assert counter.count(name, [Submission(own, (codes_of[name],))])[0].tolist() == [COUNTED]


def test_campaigns_that_cannot_be_answered(database: Database) -> None:
    campaigns.create(database, "draft", of(SINGLE, "draft"), actor="test")
    counter = Counter(database)
    for name in ("draft", "nowhere"):
        with pytest.raises(Refused) as refused:
            codes(counter, name, drawn(SINGLE, 1)[0])
        assert refused.value.problem is ServerProblem.NO_SUCH_CAMPAIGN


def test_random_bytes_are_never_counted(database: Database) -> None:
    opened(database, "trips", TELLING)
    rng = np.random.default_rng(1)
    counter = Counter(database)
    for _ in range(30):
        bodies = [os.urandom(int(rng.integers(0, 200))) for _ in range(5)]
        assert all(code for part in codes(counter, "trips", *bodies) for code in part)
    assert sum(counts(database, "trips")) == 0
    assert len(counts(database, "trips")) == VALUES + 1
