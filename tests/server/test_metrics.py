"""Numbers for Prometheus."""

from __future__ import annotations

import numpy as np

from ldptrace.protocol.problems import Problem
from ldptrace.server.state import BUCKETS, Metrics


def numbers(metrics: Metrics) -> dict[str, float]:
    lines = [line for line in metrics.text(7).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_reports_are_counted_by_outcome() -> None:
    metrics = Metrics()
    good, mixed = np.zeros(5, dtype=np.uint8), np.array([0, Problem.DUPLICATE.number, 0], dtype=np.uint8)
    metrics.counted("town", [good, mixed], 0.003)
    found = numbers(metrics)
    assert found['ldptrace_reports_total{campaign="town",outcome="counted"}'] == 7
    assert found['ldptrace_reports_total{campaign="town",outcome="duplicate"}'] == 1
    assert found["ldptrace_waiting_bytes"] == 7


def test_buckets_are_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.002, 0.3, 99.0):
        metrics.counted("town", [], seconds)
    found = [numbers(metrics)[f'ldptrace_commit_seconds_bucket{{le="{end}"}}'] for end in (*BUCKETS, "+Inf")]
    assert found == sorted(found)
    assert (found[0], found[-2], found[-1]) == (2, 3, 4)
    assert numbers(metrics)["ldptrace_commit_seconds_count"] == 4
