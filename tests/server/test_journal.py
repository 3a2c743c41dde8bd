from __future__ import annotations

from pathlib import Path

from ldptrace.server.journal import audit_log, note
from ldptrace.server.storage import open_database


def test_lines_are_kept_in_order_and_found_by_campaign(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with database.writing() as session:
        for number in range(3):
            note(session, "me", "look", f"campaign-{number % 2}", str(number))
    with database.reading() as session:
        assert [entry["detail"] for entry in audit_log(session)] == ["0", "1", "2"]
        assert [entry["detail"] for entry in audit_log(session, "campaign-0")] == ["0", "2"]
        assert set(next(audit_log(session))) == {"at", "actor", "action", "campaign", "detail"}
    database.close()
