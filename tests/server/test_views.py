"""What is shown of a campaign, and that it is less below the smallest number of reports."""

from __future__ import annotations

from ldptrace.server import registry, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database
from ldptrace.web.problems import ServerProblem
from server_kit import SINGLE, drawn, opened, refused


def test_below_the_smallest_number_there_are_counts_only(database: Database) -> None:
    opened(database, "trips", SINGLE, min_reports=10, users=1000)
    counter = Counter(database)
    reports = drawn(SINGLE, 10)
    counter.count("trips", [Submission(report) for report in reports[:9]])
    with database.reading() as session:
        campaign = registry.find(session, "trips")
        shown = views.overview(session, campaign)
        refused(ServerProblem.NOT_ENOUGH_REPORTS, views.estimated, session, campaign)
    assert shown["reports"] == 9
    assert not shown["enough"]
    assert {entry["reports"] for entry in shown["predicted"]} >= {9, 10, 1000, 2000}
    counter.count("trips", [Submission(reports[9])])
    with database.reading() as session:
        found = views.estimated(session, registry.find(session, "trips"))
    assert len(found["density"]["values"]) == 36
