"""One campaign as one file: nothing is counted twice, and what was published stays published."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.standing import Standing
from ldptrace.server import backups, campaigns, registry, releases, rounds, tokens
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.releases import DueRelease
from ldptrace.server.storage import Database, open_database
from ldptrace.web.problems import ServerProblem
from server_kit import (
    COUNTED,
    DUPLICATE,
    SINGLE,
    TELLING,
    answered,
    codes,
    counts,
    opened,
    refused,
    telling_report,
)


def test_reports_that_the_backup_holds_are_known(database: Database, tmp_path: Path) -> None:
    """In the middle of a round: what was counted before the backup is a duplicate, what came later counts once."""
    opened(database, "trips", TELLING, title="Trips", organiser="The town", until=2_000_000_000)
    opened(database, "other", TELLING)
    early = [telling_report(value) for value in range(300)]
    codes(Counter(database), "trips", b"".join(early))
    file = tmp_path / "trips.backup"
    assert backups.backup(database, "trips", file, actor="test") == 300
    late = telling_report(300)
    codes(Counter(database), "trips", late)
    refused(ServerProblem.CAMPAIGN_EXISTS, backups.restore, database, file, actor="test")
    campaigns.close(database, "trips", actor="test", now=0)
    campaigns.delete(database, "trips", actor="test")
    restored = backups.restore(database, file, actor="test")
    assert (restored.state, restored.terms.organiser, restored.terms.until) == (
        "open",
        "The town",
        2_000_000_000,
    )
    counter = Counter(database)
    assert codes(counter, "trips", b"".join(early), late, late) == [[DUPLICATE] * 300, [COUNTED], [DUPLICATE]]
    assert counts(database, "trips")[:302] == [1] * 301 + [0]
    assert sum(counts(database, "other")) == 0
    with database.reading() as session:
        done = [entry["action"] for entry in registry.audit_log(session, "trips")]
    assert done == ["create", "open", "backup", "close", "delete", "restore"]


def test_a_campaign_moves_to_another_database(database: Database, tmp_path: Path) -> None:
    """Its unused admission codes, rejections and the audit log go with it."""
    campaigns.create(database, "trips", TELLING, actor="test")
    used, unused = tokens.create_admissions(database, "trips", 2, actor="test")
    campaigns.open_round(database, "trips", actor="test")
    secret, _ = tokens.create_token(database, "trips", "read", "press", actor="test")
    one, two = telling_report(1), telling_report(2)

    def send(where: Database, report: bytes, code: str) -> list[int]:
        return [
            int(n) for n in Counter(where).count("trips", [Submission(report, (tokens.token_hash(code),))])[0]
        ]

    assert send(database, one, used) == [COUNTED]
    assert send(database, two, used) == [ServerProblem.NOT_ADMITTED.number]
    backups.backup(database, "trips", tmp_path / "trips.backup", actor="test")
    other = open_database(tmp_path / "other")
    backups.restore(other, tmp_path / "trips.backup", actor="test")
    assert send(other, two, used) == [ServerProblem.NOT_ADMITTED.number]
    assert send(other, two, unused) == [COUNTED]
    with other.reading() as session:
        assert [one.label for one in tokens.tokens_of(session)] == ["press"]
        refused(ServerProblem.UNAUTHORIZED, tokens.holder, session, secret)
        assert rounds.rejections_of(session, "trips") == {"not-admitted": 2}
        assert [entry["action"] for entry in registry.audit_log(session, "trips")][:2] == [
            "create",
            "create admissions",
        ]
    other.close_all()


def test_a_token_that_was_revoked_stays_so(database: Database, tmp_path: Path) -> None:
    """A backup from before the revocation does not bring it back, in the same database or in another."""
    campaigns.create(database, "trips", TELLING, actor="test")
    secret, token = tokens.create_token(database, "trips", "manage", "left", actor="test")
    backups.backup(database, "trips", tmp_path / "trips.backup", actor="test")
    tokens.revoke_token(database, token.id, actor="test")
    campaigns.delete(database, "trips", actor="test")
    for where in (database, other := open_database(tmp_path / "other")):
        backups.restore(where, tmp_path / "trips.backup", actor="test")
        with where.reading() as session:
            refused(ServerProblem.UNAUTHORIZED, tokens.holder, session, secret)
        fresh, _ = tokens.create_token(where, "trips", "manage", "new", actor="test")
        with where.reading() as session:
            assert tokens.holder(session, fresh).label == "new"
    other.close_all()


def test_a_standing_campaign_is_restored_in_the_middle_of_a_window(
    database: Database, tmp_path: Path
) -> None:
    """Counted reports are duplicates, later ones count once, a published window stays so and counts no more."""
    week = 7 * 86_400
    plan = opened(
        database, "trips", TELLING.changed(standing=Standing.of(week, epsilon=1, start=0)), min_reports=3
    )
    early = [telling_report(value, plan, 3) for value in range(3)]
    middle = [telling_report(value, plan, 4) for value in range(3, 8)]
    retried = telling_report(8, plan, 4)

    def send(where: Database, now: float, *reports: bytes) -> list[int]:
        found = Counter(where, lambda: now * week).count("trips", [Submission(b"".join(reports))])
        return [int(one) for one in found[0]]

    def released(where: Database, number: int) -> None:
        # As `Attempt.make` leaves it, without a model.
        releases.begin(where, "trips", actor="test", number=number)
        with where.writing() as session:
            session.run("UPDATE releases SET state = 'done' WHERE number = ?", number)
            session.run("INSERT INTO files VALUES ('trips', ?, 0, ?)", f"{number}/index.html", b"made")
            registry.note(session, "worker", "publish", "trips", f"{number}/14 files")

    assert send(database, 4.0, *early) == [COUNTED] * 3
    backups.backup(database, "trips", tmp_path / "before.backup", actor="test")
    assert campaigns.tick(database, 5.2 * week) == [DueRelease("trips", 0)]
    released(database, 0)
    assert send(database, 5.5, *middle[:3]) == [COUNTED] * 3
    backups.backup(database, "trips", tmp_path / "middle.backup", actor="test")
    # The answer to this one was lost with the machine: the device sends it again.
    assert send(database, 5.5, retried) == [COUNTED]

    other = open_database(tmp_path / "other")
    assert backups.restore(other, tmp_path / "middle.backup", actor="test").state == "open"
    late = Problem.WRONG_WINDOW.number
    assert send(other, 5.6, *middle, retried, retried, early[0]) == [
        *[DUPLICATE] * 3,
        *[COUNTED] * 3,
        DUPLICATE,
        late,
    ]
    with other.reading() as session:
        assert [(one.window, one.reports) for one in rounds.rounds_of(session, "trips")] == [(3, 3), (4, 6)]
        assert releases.file_of(session, "trips", "index.html", 0) == b"made"
    # The published window is not due again, the restored one is, once.
    assert campaigns.tick(other, 6.2 * week) == [DueRelease("trips", 1)]
    released(other, 1)
    assert campaigns.tick(other, 6.3 * week) == []
    assert send(other, 6.3, middle[0]) == [late]
    # Here, too, it can be set back to a time after everything that was published, and to no earlier one.
    with database.writing() as session:
        session.run("UPDATE campaigns SET state = 'closed'")
    campaigns.delete(database, "trips", actor="test")
    refused(ServerProblem.WRONG_STATE, backups.restore, database, tmp_path / "before.backup", actor="test")
    assert backups.restore(database, tmp_path / "middle.backup", actor="test").state == "open"
    other.close_all()


@pytest.mark.slow
def test_what_was_published_stays_published(database: Database, tmp_path: Path) -> None:
    opened(database, "trips", SINGLE, min_reports=5)
    backups.backup(database, "trips", tmp_path / "open.backup", actor="test")
    answered(database, "trips", 20)
    releases.begin(database, "trips", actor="test", count=5).make()
    backups.backup(database, "trips", tmp_path / "published.backup", actor="test")
    campaigns.delete(database, "trips", actor="test")
    # The backup from before would let the same reports be counted and published once more.
    refused(ServerProblem.WRONG_STATE, backups.restore, database, tmp_path / "open.backup", actor="test")
    restored = backups.restore(database, tmp_path / "published.backup", actor="test")
    assert restored.state == "published"
    with database.reading() as session:
        assert list(releases.parts_of(session, "trips", "synthetic.parquet")) == [0]
    refused(ServerProblem.WRONG_STATE, campaigns.open_round, database, "trips", actor="test")
    refused(ServerProblem.WRONG_STATE, releases.begin, database, "trips", actor="test")
    # Another campaign that takes the name has nothing to do with it.
    campaigns.delete(database, "trips", actor="test")
    opened(database, "trips", TELLING)
    backups.backup(database, "trips", tmp_path / "new.backup", actor="test")
    campaigns.close(database, "trips", actor="test", now=0)
    campaigns.delete(database, "trips", actor="test")
    assert backups.restore(database, tmp_path / "new.backup", actor="test").state == "open"


def test_what_is_no_backup_is_refused(database: Database, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("not a backup")
    for name, words in (("empty", "is empty"), ("text", "not a database")):
        with pytest.raises(InputError, match=words):
            backups.restore(database, tmp_path / name, actor="test")
    many = open_database(tmp_path / "many")
    many.close_all()
    with pytest.raises(InputError, match="it holds 0 campaigns"):
        backups.restore(database, tmp_path / "many" / "campaigns.sqlite", actor="test")
    with pytest.raises(FileNotFoundError):
        backups.restore(database, tmp_path / "nowhere", actor="test")
    refused(
        ServerProblem.NO_SUCH_CAMPAIGN, backups.backup, database, "no", tmp_path / "no.backup", actor="test"
    )
    assert not (tmp_path / "no.backup").exists()
    with database.reading() as session:
        assert registry.all_campaigns(session) == []
