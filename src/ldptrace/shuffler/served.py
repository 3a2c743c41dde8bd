"""What a shuffler takes from a plan: its id, the size of sealed reports, the least batch, and when a window is open."""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.standing import Standing
from ldptrace.web.limits import MAX_UPLOAD

# In place of a window in plans that have none.
NO_WINDOW = -1


@dataclass(frozen=True)
class Served:
    """A plan as its shuffler sees it. It has windows, or one batch that is open until `until`."""

    id: str
    size: int
    batch: int
    standing: Standing | None
    until: int | None

    @staticmethod
    def of(plan: Plan) -> Served:
        """Return what the shuffler needs of a shuffled plan."""
        if plan.shuffled is None:
            raise InputError("the plan is not shuffled: its devices answer the curator directly")
        size = sealed_bytes(report_bytes(plan.rounds[0]))
        served = Served(plan.id, size, plan.shuffled.batch, plan.standing, plan.shuffled.until)
        if served.batch > served.most:
            raise InputError(
                f"a batch of this plan has at most {served.most:,} reports, so one of at least {served.batch:,} would "
                "never be sent"
            )
        return served

    @property
    def most(self) -> int:
        """The most reports of a batch: a curator takes no larger one."""
        return MAX_UPLOAD // self.size

    def span(self, window: int) -> tuple[float, float]:
        """Return from when until when reports of this window are taken; of a window that does not exist, never."""
        if self.standing is None:
            return (float("-inf"), float(self.until or 0)) if window == NO_WINDOW else (0.0, 0.0)
        if not 0 <= window <= MAX_WINDOW:
            return 0.0, 0.0
        first, last = self.standing.counted(window)
        return float(first), float(last)

    def open(self, window: int, now: float) -> bool:
        """Return whether reports of this window are taken now."""
        first, last = self.span(window)
        return first <= now < last
