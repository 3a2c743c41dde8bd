"""Batches of a shuffler: each is counted once, and one bad report does not spoil the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ldptrace.curator.opening import CuratorKey
from ldptrace.errors import InputError
from ldptrace.protocol.seals import GENERATOR
from ldptrace.server import backups, campaigns, registry, rounds, tokens, views
from ldptrace.server.counting import Counter, Label, Submission, batches_of, count_batch, note_deleted
from ldptrace.server.rounds import LATE
from ldptrace.server.storage import Database, open_database
from ldptrace.web.problems import Refused
from server_kit import counts, of, reports_counted, telling_report, terms
from shuffler_kit import (
    BATCH,
    HOUR,
    KEY,
    NOW,
    batch_of,
    keyless,
    opened_shuffled,
    sealed,
    telling,
)
from shuffler_kit import (
    standing as hourly,
)

AFTER = NOW + HOUR


def named(plan: Any, window: int | None = None) -> Label:
    return Label("trips", plan.id, window)


def refusal(database: Database, label: Label, body: bytes, now: float = AFTER) -> str:
    with pytest.raises(Refused) as caught:
        count_batch(database, label, body, now)
    return caught.value.problem.code


def test_a_batch_is_counted_once_and_answered_the_same(database: Database) -> None:
    plan = opened_shuffled(database, telling())
    pieces = [sealed(plan, value).body for value in range(5)]
    first = count_batch(database, named(plan), b"".join(pieces), AFTER)
    assert first == {"counted": 5, "omitted": 0, "problems": {}}
    # The same set in another order, also much later.
    assert count_batch(database, named(plan), b"".join(pieces[::-1]), AFTER + 9 * LATE) == first
    assert counts(database, "trips")[:6] == [1] * 5 + [0]
    # Any other set is refused: one report less, one more, or others.
    for other in (pieces[1:], [*pieces, sealed(plan, 9).body], [sealed(plan, 1).body] * 5):
        assert refusal(database, named(plan), b"".join(other)) == "another-batch"
    assert reports_counted(database, "trips") == 5
    with database.reading() as session:
        assert registry.find(session, "trips").state == "closed"


def test_single_reports_that_disagree_are_omitted(database: Database) -> None:
    plan = opened_shuffled(database, hourly())
    other = hourly().changed(shuffled=plan.shuffled, campaign=of(plan, "other").campaign)
    twice = telling_report(3, plan, 2)
    sealer = sealed(plan, 1, 2).body
    from ldptrace.device.sealing import Sealer

    assert plan.shuffled is not None
    seal = Sealer.of_plan(plan.shuffled.key, plan.id).seal
    bodies = [
        *(sealed(plan, value, 2).body for value in range(BATCH)),
        # Sealed for another window; its inside names another one; another plan; broken.
        sealed(plan, 10, 1).body,
        seal(telling_report(11, plan, 1), 2),
        sealed(other, 12, 2).body,
        sealer[:-1] + bytes([sealer[-1] ^ 1]),
        b"\x04" + bytes(len(sealer) - 1),
        # A report that was sealed twice is one report.
        seal(twice, 2),
        seal(twice, 2),
    ]
    answer = count_batch(database, named(plan, 2), b"".join(bodies), NOW + 4.5 * HOUR)
    assert answer == {
        "counted": BATCH + 1,
        "omitted": 6,
        "problems": {"duplicate": 1, "not-opened": 4, "wrong-window": 1},
    }
    with database.reading() as session:
        shown = views.overview(session, registry.find(session, "trips"))
    assert shown["rejected"] == answer["problems"]
    assert [(one["window"], one["reports"], one["state"]) for one in shown["round_reports"]] == [
        (2, BATCH + 1, "closed")
    ]
    [batch] = shown["batches"]
    assert (batch["window"], batch["reports"], batch["counted"]) == (2, len(bodies), BATCH + 1)
    assert 0 < batch["epsilon"] <= 1


def test_a_small_batch_is_refused(database: Database) -> None:
    plan = opened_shuffled(database, telling())
    assert refusal(database, named(plan), batch_of(plan, range(BATCH - 1))) == "batch-too-small"
    # One report again and again hides nobody.
    assert refusal(database, named(plan), sealed(plan, 1).body * BATCH) == "batch-too-small"
    assert refusal(database, named(plan), b"") == "wrong-size"
    assert refusal(database, named(plan), batch_of(plan, range(BATCH))[1:]) == "wrong-size"
    assert count_batch(database, named(plan), batch_of(plan, range(BATCH)), AFTER)["counted"] == BATCH


@pytest.mark.parametrize(
    ("now", "taken"),
    [(4.5 * HOUR - 1, False), (4.5 * HOUR, True), (5.5 * HOUR - 1, True), (5.5 * HOUR, False)],
)
def test_a_batch_is_taken_after_its_window_and_for_one_more(now: float, taken: bool, tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, hourly())
    body = batch_of(plan, range(BATCH), 2)
    if taken:
        assert count_batch(database, named(plan, 2), body, NOW + now)["counted"] == BATCH
    else:
        assert refusal(database, named(plan, 2), body, NOW + now) == "wrong-window"


def test_what_is_no_window_of_the_plan_is_refused(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling())
    body = batch_of(plan, range(BATCH))
    assert refusal(database, named(plan), body, AFTER - 1) == "wrong-window"
    assert refusal(database, named(plan), body, AFTER + LATE) == "wrong-window"
    assert refusal(database, named(plan, 0), body) == "wrong-window"
    assert refusal(database, Label("trips", "0" * 64, None), body) == "wrong-plan"
    assert refusal(database, Label("nobody", plan.id, None), body) == "no-such-campaign"
    weekly = opened_shuffled(database, hourly(), "hourly")
    assert refusal(database, Label("hourly", weekly.id, None), body, NOW + 9 * HOUR) == "wrong-window"


def test_a_window_that_does_not_begin_has_no_batch(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, hourly())
    campaigns.close(database, "trips", actor="test", now=NOW + HOUR)
    for window, code in ((0, None), (1, "wrong-window")):
        body, now = batch_of(plan, range(BATCH), window), NOW + (window + 2.5) * HOUR
        if code is None:
            assert count_batch(database, named(plan, window), body, now)["counted"] == BATCH
        else:
            assert refusal(database, named(plan, window), body, now) == code
    # The campaign goes on until the last batch may have come.
    assert not campaigns.is_over(database, "trips", NOW + 3.5 * HOUR - 1)
    assert campaigns.is_over(database, "trips", NOW + 3.5 * HOUR)


def test_a_deleted_batch_is_noted(database: Database) -> None:
    plan = opened_shuffled(database, telling())
    for _ in range(2):
        assert note_deleted(database, named(plan), 2, AFTER) == {"deleted": 2}
    assert refusal(database, named(plan), batch_of(plan, range(BATCH))) == "another-batch"
    with database.reading() as session:
        shown = views.overview(session, registry.find(session, "trips"))
    assert shown["batches"] == [{"plan": plan.id, "window": None, "reports": 2, "deleted": True}]
    assert shown["state"] == "closed"


def test_a_counted_batch_is_not_deleted(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling())
    count_batch(database, named(plan), batch_of(plan, range(BATCH)), AFTER)
    with pytest.raises(Refused) as caught:
        note_deleted(database, named(plan), 2, AFTER)
    assert caught.value.problem.code == "another-batch"


def test_no_more_are_counted_than_the_campaign_takes(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling(), min_reports=1, max_reports=4)
    answer = count_batch(database, named(plan), batch_of(plan, range(6)), AFTER)
    assert answer == {"counted": 4, "omitted": 2, "problems": {"campaign-full": 2}}
    assert sum(counts(database, "trips")) == 4


def test_reports_do_not_come_directly(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling())
    for body in (telling_report(1, plan), sealed(plan, 1).body):
        with pytest.raises(Refused) as caught:
            Counter(database).count("trips", [Submission(body)])
        assert caught.value.problem.code == "not-shuffled"
    assert reports_counted(database, "trips") == 0


def test_a_batch_whose_transaction_fails_is_counted_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling())
    body = batch_of(plan, range(BATCH))
    with monkeypatch.context() as patch:
        patch.setattr("ldptrace.server.counting._keep", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            count_batch(database, named(plan), body, AFTER)
    assert reports_counted(database, "trips") == 0
    assert count_batch(database, named(plan), body, AFTER)["counted"] == BATCH
    assert reports_counted(database, "trips") == BATCH


def test_the_key_is_in_backups_and_nowhere_else(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a")
    plan = opened_shuffled(database, telling())
    with database.reading() as session:
        [(secret,)] = session.rows("SELECT secret FROM keys")
        assert secret not in str(views.overview(session, registry.find(session, "trips")))
        assert secret not in str(registry.audit_log(session))
    assert (tmp_path / "a" / "campaigns.sqlite").stat().st_mode & 0o777 == 0o600
    count_batch(database, named(plan), batch_of(plan, range(BATCH)), AFTER)
    backups.backup(database, "trips", tmp_path / "kept", actor="test")
    other = open_database(tmp_path / "b")
    backups.restore(other, tmp_path / "kept", actor="test")
    with other.reading() as session:
        assert session.rows("SELECT secret FROM keys") == [(secret,)]
        [entry] = batches_of(session, "trips")
        assert entry["counted"] == BATCH
    assert refusal(other, named(plan), batch_of(plan, range(BATCH))) == "another-batch"
    campaigns.delete(database, "trips", actor="test")
    with database.reading() as session:
        assert session.rows("SELECT 1 FROM keys") == session.rows("SELECT 1 FROM batches") == []


def test_every_campaign_has_a_key_of_its_own(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    keys = {opened_shuffled(database, telling(), name).shuffled.key for name in ("a", "b")}  # type: ignore[union-attr]
    assert len(keys | {GENERATOR}) == 3
    with pytest.raises(InputError, match="says until when"):
        campaigns.create(database, "trips", keyless(telling()), terms(until=NOW + 9 * HOUR), actor="test")


def test_the_key_of_a_plan_is_used_or_refused_and_never_replaced(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = hourly().changed(campaign=None)
    with pytest.raises(InputError, match="its private key is missing"):
        campaigns.create(database, "trips", plan, actor="test")
    with pytest.raises(InputError, match=f"with --key {CuratorKey.from_text('5').public.hex()}"):
        campaigns.create(database, "trips", plan, actor="test", key=CuratorKey.from_text("5"))
    made = campaigns.create(database, "trips", plan, actor="test", key=KEY)
    assert made.plan.shuffled is not None
    assert made.plan.shuffled.key == KEY.public
    with database.reading() as session:
        assert session.rows("SELECT secret FROM keys") == [(KEY.text,)]


def test_a_batch_that_the_server_would_not_take_is_refused_before_anybody_answers(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    # Twice the least batch of 122 bytes each is 256 MiB.
    most = (256 << 20) // 122 // 2
    opened_shuffled(database, hourly(batch=most))
    with pytest.raises(InputError, match=f"at most {most:,}, got {most + 1:,}"):
        campaigns.create(database, "many", keyless(telling(batch=most + 1)), actor="test")
    with pytest.raises(InputError, match="the least batch is at most"):
        campaigns.change_plan(database, "trips", keyless(hourly(batch=most + 1)), actor="test", now=NOW)


def test_a_campaign_stays_shuffled(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, hourly())
    with pytest.raises(InputError, match="plans of its kind"):
        campaigns.change_plan(database, "trips", hourly().changed(shuffled=None), actor="test", now=NOW)
    assert plan.shuffled is not None
    with pytest.raises(InputError, match=f"make the plan with --key {plan.shuffled.key.hex()}"):
        campaigns.change_plan(database, "trips", hourly(), actor="test", now=NOW)
    next_plan = keyless(hourly(batch=BATCH + 1))
    changed = campaigns.change_plan(database, "trips", next_plan, actor="test", now=NOW + 1)
    assert changed.plan.shuffled is not None
    assert changed.plan.shuffled.key == plan.shuffled.key
    with pytest.raises(InputError, match="its shuffler makes the codes"):
        tokens.create_admissions(database, "trips", 3, actor="test")


def test_estimates_are_those_of_the_batch(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    plan = opened_shuffled(database, telling(), min_reports=1)
    count_batch(database, named(plan), batch_of(plan, range(BATCH)), AFTER)
    with database.reading() as session:
        [(_, tally)] = rounds.tallies_of(session, registry.find(session, "trips"))
    assert tally.users == (BATCH,)
