from __future__ import annotations

import pytest

from ldptrace.server.counting import Counter
from ldptrace.server.registry import find
from ldptrace.server.storage import Database
from ldptrace.server.tallies import counts_of, estimates_of, rejections_of, tallies_of
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import TELLING, codes, opened, telling_report


def test_nothing_but_counts_below_the_smallest_number(database: Database) -> None:
    opened(database, "trips", TELLING, min_reports=3)
    counter = Counter(database)
    codes(counter, "trips", telling_report(1), telling_report(2), b"no report")
    with database.reading() as session:
        assert [entry.reports for entry in counts_of(session, "trips")] == [2]
        assert rejections_of(session, "trips") == {"unknown-version": 1}
        with pytest.raises(Refused, match="has 2 reports; below 3") as refused:
            tallies_of(session, find(session, "trips"))
        assert refused.value.problem is ServerProblem.NOT_ENOUGH_REPORTS
    codes(counter, "trips", telling_report(1))
    with database.reading() as session:
        [(plan, tally)] = tallies_of(session, find(session, "trips"), whole=True)
    assert tally.counts[0][:4].tolist() == [0, 2, 1, 0]
    assert estimates_of([(plan, tally)])["length"].users == 3
