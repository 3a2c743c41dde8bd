"""A plan as its shuffler serves it: the size of sealed reports, the least batch, and when a window is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.web.limits import MAX_UPLOAD

# In place of a window in plans that have none.
NO_WINDOW = -1


@dataclass(frozen=True)
class Served:
    """A shuffled plan, and the campaign of the curator to which its batches go. It has windows, or one batch that is
    open until the plan's `until`. Windows that had begun at the time `begins`, before the storage was set back, are not
    open."""

    plan: Plan
    campaign: str = ""
    token: str = ""
    admission: bool = False
    begins: int | None = None

    @staticmethod
    def of(plan: Plan) -> Served:
        """Return a plan that can be served, without a campaign."""
        if plan.shuffled is None:
            raise InputError("the plan is not shuffled: its devices answer the curator directly")
        served = Served(plan)
        if served.shuffled.batch > served.most:
            raise InputError(
                f"a batch of this plan has at most {served.most:,} reports, so one of at least "
                f"{served.shuffled.batch:,} would never be sent"
            )
        return served

    @property
    def shuffled(self) -> Shuffled:
        assert self.plan.shuffled is not None
        return self.plan.shuffled

    @cached_property
    def size(self) -> int:
        """The bytes of a sealed report."""
        return sealed_bytes(report_bytes(self.plan.rounds[0]))

    @property
    def most(self) -> int:
        """The most reports of a batch: a curator takes no larger one."""
        return MAX_UPLOAD // self.size

    def span(self, window: int) -> tuple[float, float]:
        """Return from when until when reports of this window are taken; of a window that does not exist, never."""
        if self.plan.standing is None:
            return (float("-inf"), float(self.shuffled.until or 0)) if window == NO_WINDOW else (0.0, 0.0)
        if not 0 <= window <= MAX_WINDOW:
            return 0.0, 0.0
        first, last = self.plan.standing.counted(window)
        return float(first), float(last)

    def open(self, window: int, now: float) -> bool:
        """Return whether reports of this window are taken now."""
        first, last = self.span(window)
        begun = self.begins is not None and first <= self.begins
        return first <= now < last and not begun
