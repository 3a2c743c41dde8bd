"""A year of windows of a small standing campaign: memory, audit lines, files, ledgers and the database, week by week.

    python -m benchmarks.year [--users 200] [--windows 52]

Drives the functions of the server with a clock that jumps from window to window: devices with ledgers answer, the
reports are counted, windows close, every window is released, and an operator looks at the page. Ends with status 1 if
a window has no release, if the memory grows by more than `GROWTH` after the first quarter, or if anything but the
release files grows faster than the number of windows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from ldptrace.curator.facts import Facts
from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.device.storage import MemoryFile
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, releases, series, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.fleet import city_trips, points_of
from ldptrace.server.registry import audit_log, find
from ldptrace.server.storage import Database, open_database
from ldptrace.server.terms import Terms

WEEK = 7 * 86_400
NAME = "year"
# Megabytes that the process may grow after the first quarter.
GROWTH = 25.0


def devices(plan: Plan, users: int, now: float) -> list[Reporter]:
    """Devices that have accepted the plan, with ledgers in memory."""
    assert plan.standing is not None
    found = []
    for _ in range(users):
        reporter = Reporter(plan, Ledger(MemoryFile(), plan.standing.lifetime))
        reporter.accept(now)
        found.append(reporter)
    return found


def _ledger(reporter: Reporter) -> Ledger:
    assert reporter.ledger is not None
    return reporter.ledger


def answers(found: list[Reporter], now: float, points: list[list[Any]]) -> bytes:
    """What the devices send about the window that has just ended for all of them; every third had no trip."""
    reports = []
    for number, reporter in enumerate(found):
        trips = [Recording(points[number % len(points)], now - WEEK * 1.5)] * (number % 3 > 0)
        reports.append(reporter.report(trips, now=now))
        row = _ledger(reporter).acceptance(reporter.plan)
        assert row is not None
        reporter.sent(window=row.window)
    return b"".join(reports)


def look(database: Database) -> dict[str, int]:
    """What an operator's page asks for, in bytes."""
    with database.reading() as session:
        campaign = find(session, NAME)
        return {
            "overview": len(json.dumps(views.overview(session, campaign))),
            "series": len(json.dumps(series.series(session, campaign))),
            "estimates": len(json.dumps(views.estimated(session, campaign))),
        }


def sizes(database: Database, folder: Path, found: list[Reporter]) -> dict[str, float]:
    """How large everything is."""
    status = Path("/proc/self/status").read_text()
    with database.reading() as session:
        [(rows, kept)] = session.rows(
            "SELECT count(DISTINCT name), coalesce(sum(length(data)), 0) FROM files"
        )
        [(ids,)] = session.rows("SELECT (SELECT count(*) FROM ids) + (SELECT count(*) FROM fresh)")
        audit = sum(1 for _ in audit_log(session))
    return {
        "memory MB": int(status.partition("VmRSS:")[2].split()[0]) / 1024,
        "database MB": sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) / 1e6,
        "release MB": kept / 1e6,
        "files": rows,
        "rows of ids": ids,
        "audit lines": audit,
        "ledger bytes": max(len(_ledger(one).file.read() or "") for one in found),
    }


def run(folder: Path, users: int, windows: int) -> list[str]:
    database = open_database(folder)
    plan = Facts(users, "1", (0.0, 0.0, 20_000.0, 20_000.0), grid=4, every=WEEK, lifetime=windows).plan()
    campaigns.create(database, NAME, plan, Terms(min_reports=users // 2), actor="benchmark")
    plan = campaigns.open_round(database, NAME, actor="benchmark").plan
    assert plan.standing is not None
    trips = city_trips(100, 1)(plan)
    points = [points_of(trips, number) for number in range(len(trips))]
    begin = plan.standing.start + 3_000 * WEEK
    found, faults = devices(plan, users, begin - WEEK), []
    history: list[dict[str, float]] = []
    for number in range(windows):
        # At the very end of a week the window of every device has ended.
        now = float(begin + (number + 1) * WEEK - 1)
        body, started = answers(found, now, points), time.perf_counter()
        Counter(database, partial(float, now)).count(NAME, [Submission(body)])
        for due in campaigns.tick(database, now):
            releases.begin(database, NAME, actor="schedule", number=due.number).make()
        pages = look(database)
        history.append(sizes(database, folder, found) | pages | {"seconds": time.perf_counter() - started})
        if number % 13 == 12 or number in (0, windows - 1):
            print(
                f"window {number + 1}: " + ", ".join(f"{k} {v:,.4g}" for k, v in history[-1].items()),
                flush=True,
            )
    last = float(begin + (windows + 4) * WEEK)
    for due in campaigns.tick(database, last):
        releases.begin(database, NAME, actor="schedule", number=due.number).make()
    with database.reading() as session:
        done = [one["state"] for one in views.releases_of(session, NAME).values()].count("done")
        counted = sum(one["reports"] for one in views.overview(session, find(session, NAME))["round_reports"])
    database.close_all()
    if (done, counted) != (windows, windows * users):
        faults.append(
            f"{done} of {windows} windows are released, {counted:,} of {windows * users:,} answers counted"
        )
    quarter, end = history[max(windows // 4 - 1, 0)], history[-1]
    if end["memory MB"] - quarter["memory MB"] > GROWTH:
        faults.append(f"the memory grew from {quarter['memory MB']:.0f} to {end['memory MB']:.0f} MB")
    for key in ("database MB", "audit lines", "overview"):
        if end[key] > 1.3 * quarter[key] * len(history) / max(windows // 4, 1):
            faults.append(f"{key} grew faster than the windows: from {quarter[key]:,.4g} to {end[key]:,.4g}")
    # A line for each of the busiest cells, of which more are clear as more is remembered.
    if end["series"] > 400 * len(history):
        faults.append(f"the estimates over time are {end['series']:,.0f} bytes")
    if end["ledger bytes"] > 1.1 * quarter["ledger bytes"]:
        faults.append(f"a ledger grew from {quarter['ledger bytes']:.0f} to {end['ledger bytes']:.0f} bytes")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--windows", type=int, default=52)
    parser.add_argument("--data", help="not used; every benchmark takes it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = run(Path(folder), options.users, options.windows)
    for fault in faults:
        print(f"FAULT: {fault}")
    print("flat" if not faults else "not as it must be")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
