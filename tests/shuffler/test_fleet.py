"""A standing fleet on a quick clock, through a shuffler with codes: each answer is counted once, or was in a batch that
was too small."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.server import rounds
from ldptrace.server.storage import open_database
from ldptrace.server.tokens import create_token
from ldptrace.shuffler.store import KNOWN, SENT, Store
from ldptrace.web.limits import trial_clock
from server_kit import Server, running
from shuffler_kit import KEY, opened_shuffled

pytestmark = pytest.mark.slow

WEEK = 7 * 86_400
USERS, WINDOWS, BATCH = 60, 2, 40


def test_windows_of_a_shuffled_fleet(tmp_path: Path) -> None:
    text = f"2027-03-01,{WEEK / 4},{time.time()}"
    clock = trial_clock(text)
    shuffler = Server(
        ["--data", str(tmp_path / "shuffler"), "--trial-clock", text, "--rate", "1000"],
        command="shuffle",
        ready="/healthz",
    )
    facts = Facts(
        *(USERS, "3", (0.0, 0.0, 6.0, 6.0)),
        grid=4,
        every=WEEK,
        shuffled=True,
        batch=BATCH,
        shuffler=shuffler.url,
        operator="A club",
    )
    database = open_database(tmp_path / "curator")
    plan = opened_shuffled(database, facts.plan(KEY.public), min_reports=1)
    token, _ = create_token(database, "trips", "shuffle", "", actor="test")
    with running("--data", str(tmp_path / "curator"), "--trial-clock", text) as curator:
        store = Store(tmp_path / "shuffler", clock)
        store.add_plan(plan, f"{curator.url}/v1/campaigns/trips", token, admission=True)
        shuffler.start()
        assert plan.standing is not None
        # The window that is running, and as many as a slow machine may need until the fleet is there.
        first = int((clock() - plan.standing.start) // WEEK)
        codes = store.make_codes(plan.id, range(first, first + 60), USERS)
        sheets = tmp_path / "codes"
        sheets.write_text("\n".join(" ".join(line) for line in codes))
        command = (
            f"{sys.executable} -m ldptrace fleet --url {curator.url} --campaign trips --users {USERS} --seed 1 "
            f"--windows {WINDOWS} --trial-clock {text} --admission {sheets} --duplicates 0.2 --drops 0.2 --garbage 0.2"
        )
        try:
            done = subprocess.run(command.split(), capture_output=True, text=True, timeout=300)
            end = time.monotonic() + 120
            while {one.state for one in store.batches()} - {SENT, KNOWN} and time.monotonic() < end:
                time.sleep(0.2)
        finally:
            shuffler.stop()
        assert done.returncode == 0, done.stderr
        answered = {
            int(window): int(count)
            for window, count in re.findall(r"window (\d+): (\d+) answers", done.stderr)
        }
        assert sum(answered.values()) == USERS * WINDOWS
        batches = {one.window: one for one in store.batches()}
        store.close()
    assert {window: one.reports for window, one in batches.items()} == answered
    assert all((one.state == SENT) == (one.reports >= BATCH) for one in batches.values())
    with database.reading() as session:
        counted = {entry.window: entry.reports for entry in rounds.rounds_of(session, "trips")}
    assert counted == {window: count for window, count in answered.items() if count >= BATCH}
    assert counted
    database.close_all()
