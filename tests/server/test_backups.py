"""One campaign as one file: nothing is counted twice, and what was published stays published."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.server import backups, campaigns, journal, registry, releases, tallies, tokens
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.problems import ServerProblem
from ldptrace.server.storage import Database, open_database
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
    campaigns.close_round(database, "trips", actor="test")
    campaigns.delete(database, "trips", actor="test")
    restored = backups.restore(database, file, actor="test")
    assert (restored.state, restored.about.organiser, restored.schedule.until) == (
        "open",
        "The town",
        2_000_000_000,
    )
    counter = Counter(database)
    assert codes(counter, "trips", b"".join(early), late, late) == [[DUPLICATE] * 300, [COUNTED], [DUPLICATE]]
    assert counts(database, "trips")[:302] == [1] * 301 + [0]
    assert sum(counts(database, "other")) == 0
    with database.reading() as session:
        done = [entry["action"] for entry in journal.audit_log(session, "trips")]
    assert done == ["create", "open", "backup", "close", "delete", "restore"]


def test_a_campaign_moves_to_another_database(database: Database, tmp_path: Path) -> None:
    """Its tokens, unused admission codes, rejections and the audit log go with it."""
    campaigns.create(database, "trips", TELLING, actor="test")
    used, unused = tokens.create_admissions(database, "trips", 2, actor="test")
    campaigns.open_round(database, "trips", actor="test")
    secret, _ = tokens.create_token(database, "trips", "read", "press", actor="test")
    one, two = telling_report(1), telling_report(2)

    def send(where: Database, report: bytes, code: str) -> list[int]:
        return [
            int(n)
            for n in Counter(where).count("trips", [Submission(report, (tokens.admission_hash(code),))])[0]
        ]

    assert send(database, one, used) == [COUNTED]
    assert send(database, two, used) == [ServerProblem.NOT_ADMITTED.number]
    backups.backup(database, "trips", tmp_path / "trips.backup", actor="test")
    other = open_database(tmp_path / "other")
    backups.restore(other, tmp_path / "trips.backup", actor="test")
    assert send(other, two, used) == [ServerProblem.NOT_ADMITTED.number]
    assert send(other, two, unused) == [COUNTED]
    with other.reading() as session:
        assert tokens.holder(session, secret).label == "press"
        assert tallies.rejections_of(session, "trips") == {"not-admitted": 2}
        assert [entry["action"] for entry in journal.audit_log(session, "trips")][:2] == [
            "create",
            "create admissions",
        ]
    other.close_all()


@pytest.mark.slow
def test_what_was_published_stays_published(database: Database, tmp_path: Path) -> None:
    opened(database, "trips", SINGLE, min_reports=5)
    backups.backup(database, "trips", tmp_path / "open.backup", actor="test")
    answered(database, "trips", 20)
    releases.Attempt(database, "trips", releases.begin(database, "trips", actor="test")).make(5)
    backups.backup(database, "trips", tmp_path / "published.backup", actor="test")
    campaigns.delete(database, "trips", actor="test")
    # The backup from before would let the same reports be counted and published once more.
    refused(ServerProblem.WRONG_STATE, backups.restore, database, tmp_path / "open.backup", actor="test")
    restored = backups.restore(database, tmp_path / "published.backup", actor="test")
    assert restored.state == "published"
    with database.reading() as session:
        assert releases.parts_of(session, "trips", "synthetic.parquet") == [0]
    refused(ServerProblem.WRONG_STATE, campaigns.open_round, database, "trips", actor="test")
    refused(ServerProblem.WRONG_STATE, releases.begin, database, "trips", actor="test")
    # Another campaign that takes the name has nothing to do with it.
    campaigns.delete(database, "trips", actor="test")
    opened(database, "trips", TELLING)
    backups.backup(database, "trips", tmp_path / "new.backup", actor="test")
    campaigns.close_round(database, "trips", actor="test")
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
