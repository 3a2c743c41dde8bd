"""Numbers for Prometheus: only counts, without anything about a single report or address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
        lines = [
            "# HELP ldptrace_requests_total Requests by route and status.",
            "# TYPE ldptrace_requests_total counter",
        ]
        for (route, status), count in sorted(self._requests.items()):
            lines.append(f'ldptrace_requests_total{{route="{route}",status="{status}"}} {count}')
        lines += [
            "# HELP ldptrace_reports_total Reports by campaign and outcome, as seen by this process.",
            "# TYPE ldptrace_reports_total counter",
        ]
        for (campaign, outcome), count in sorted(self._reports.items()):
            lines.append(f'ldptrace_reports_total{{campaign="{campaign}",outcome="{outcome}"}} {count}')
        lines += [
            "# HELP ldptrace_commit_seconds Duration of the transactions that count reports.",
            "# TYPE ldptrace_commit_seconds histogram",
        ]
        total = 0
        for end, count in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            total += count
            lines.append(f'ldptrace_commit_seconds_bucket{{le="{end}"}} {total}')
        lines += [
            f"ldptrace_commit_seconds_sum {self._seconds:.6f}",
            f"ldptrace_commit_seconds_count {total}",
            "# HELP ldptrace_waiting_bytes Bytes of reports that wait to be counted.",
            "# TYPE ldptrace_waiting_bytes gauge",
            f"ldptrace_waiting_bytes {waiting}",
        ]
        return "\n".join(lines) + "\n"
