"""What the tasks of a cluster do with report files, without one."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import partial

import pyarrow as pa

from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.engines.spark_reports import _count, _cut
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import NO_TRIP

PLAN = Plan.single_report(Grid((0, 0, 1, 1), 4), 1.0)
SIZE = report_bytes(PLAN.rounds[0])


def test_files_are_cut_into_reports_and_counted() -> None:
    reporter = Reporter(PLAN, "none")
    reports = [reporter.report([(0.1, 0.1), (0.9, 0.9)]) for _ in range(6)]
    content = b"".join((*reports, reports[2], reports[4][:20]))
    files = pa.RecordBatch.from_pydict({"path": ["a", "b"], "content": [content, b""]})
    cut = list(_cut(SIZE, iter([files])))
    rows = pa.Table.from_batches(cut).to_pylist()
    assert [row["place"] for row in rows] == list(range(8))
    assert [row["report"] for row in rows] == [*reports, reports[2], reports[4][:20]]
    assert len({row["id"] for row in rows[:7]}) == 6
    ((tally, counts, (ids,)),) = (
        pickle.loads(batch.to_pylist()[0]["found"])
        for batch in _count(partial(Receiver, PLAN), SIZE, True, iter(cut))
    )
    receiver = Receiver(PLAN)
    codes = receiver.receive(content)
    assert (tally, counts) == (receiver.tally, Counter(codes.tolist()))
    assert sorted(ids) == sorted(receiver.ids)
    assert list(_count(partial(Receiver, PLAN), SIZE, True, iter([]))) == []


def test_one_window_of_a_standing_plan_is_counted_as_here() -> None:
    plan = PLAN.changed(standing=Standing.of(86_400, epsilon=1))
    reports = [Reporter(plan, "none").draw_about(NO_TRIP, 0, window=window) for window in (3, 4, 4)]
    files = pa.RecordBatch.from_pydict({"path": ["a"], "content": [b"".join(reports)]})
    begin = partial(Receiver, plan, 0, b"", 4)
    (batch,) = _count(begin, SIZE, False, _cut(SIZE, iter([files])))
    tally, counts, ids = pickle.loads(batch.to_pylist()[0]["found"])
    receiver = begin()
    codes = receiver.receive(b"".join(reports))
    assert tally == receiver.tally
    assert sum(tally.users) == 2
    assert (counts, ids) == (Counter(codes.tolist()), [])
