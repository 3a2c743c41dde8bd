"""Numbers for Prometheus: only counts, without anything about a single report or address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from ldptrace.server.counting import Codes
from ldptrace.web.problems import BY_NUMBER

# Upper ends of the buckets, in seconds.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)


class Metrics:
    """The counters of this process since it started.

    >>> metrics = Metrics()
    >>> metrics.answered("reports", 200)
    >>> 'ldptrace_requests_total{route="reports",status="200"} 1' in metrics.text(0)
    True
    """

    def __init__(self) -> None:
        self._requests: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._reports: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def answered(self, route: str, status: int) -> None:
        self._requests[route, status] += 1

    def counted(self, campaign: str, codes: Sequence[Codes], seconds: float) -> None:
        """Count one transaction of the intake."""
        for part in codes:
            if not part.any():
                self._reports[campaign, "counted"] += len(part)
                continue
            for number in part.tolist():
                self._reports[campaign, BY_NUMBER[number].code if number else "counted"] += 1
        self._buckets[sum(seconds > end for end in BUCKETS)] += 1
        self._seconds += seconds

    def text(self, waiting: int) -> str:
        """Return all metrics in the text format of Prometheus."""
        ends = (*map(str, BUCKETS), "+Inf")
        totals = list(accumulate(self._buckets))
        seconds = {f'_bucket{{le="{end}"}}': str(count) for end, count in zip(ends, totals, strict=True)}
        seconds |= {"_sum": f"{self._seconds:.6f}", "_count": str(totals[-1])}
        lines = []
        for name, kind, about, values in (
            (
                *("requests_total", "counter", "Requests by route and status."),
                {f'{{route="{a}",status="{b}"}}': str(n) for (a, b), n in sorted(self._requests.items())},
            ),
            (
                *("reports_total", "counter", "Reports by campaign and outcome, as seen by this process."),
                {f'{{campaign="{a}",outcome="{b}"}}': str(n) for (a, b), n in sorted(self._reports.items())},
            ),
            ("commit_seconds", "histogram", "Duration of the transactions that count reports.", seconds),
            ("waiting_bytes", "gauge", "Bytes of reports that wait to be counted.", {"": str(waiting)}),
        ):
            lines += [f"# HELP ldptrace_{name} {about}", f"# TYPE ldptrace_{name} {kind}"]
            lines += [f"ldptrace_{name}{label} {value}" for label, value in values.items()]
        return "\n".join(lines) + "\n"
