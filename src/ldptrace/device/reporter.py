"""Make reports from a plan and a trajectory. Nothing else leaves the device."""

from __future__ import annotations

import os
import time
from typing import Literal

from ldptrace.device.book import Acceptance
from ldptrace.device.explanation import check_trips, explain_asking, explain_ledger
from ldptrace.device.ledger import Ledger
from ldptrace.device.sealing import Sealer
from ldptrace.device.track import Points, Trips, occasion_among, occasion_of, recordings_of
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import ID_BYTES, Report, asked_of, plan_prefix
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.trips import Occasion

HOUR = 3600


class Reporter:
    """A reporter makes the reports with which a device answers a plan.

    A `ledger` is a file that records all answers and their epsilon. With a ledger, the device answers each round once,
    or each time window of a standing plan once, and stops at the person's limit of epsilon. Until a report is marked
    as sent, every call returns the same bytes. To a shuffled plan, these bytes are the sealed report.

    With the word `"none"` in place of a ledger, each call draws a new report. That is for measurements only. With
    `unpadded=True`, a reporter also accepts a plan in which the size of a report depends on the trip. A plan with
    reports of different sizes is not private, and is for measurements only.
    """

    def __init__(self, plan: Plan, ledger: Ledger | Literal["none"], *, unpadded: bool = False) -> None:
        if ledger != "none" and not isinstance(ledger, Ledger):
            raise InputError(
                f"a reporter needs a Ledger, or the word 'none' for measurements, got {ledger!r:.80}"
            )
        if not plan.is_private and not unpadded:
            raise PlanRefused(Problem.PLAN_NOT_PRIVATE)
        self.plan = plan
        self.ledger = None if ledger == "none" else ledger

    @staticmethod
    def from_document(
        document: bytes,
        ledger: Ledger | Literal["none"],
        *,
        plan_id: str | None = None,
        crs: str | None = None,
    ) -> Reporter:
        """Make a reporter from the JSON of a plan.

        If `plan_id` or `crs` is given, a plan with another id or another coordinate system raises `PlanRefused`.
        """
        plan = Plan.from_json(document)
        if plan_id is not None and plan.id != plan_id:
            raise PlanRefused(Problem.PLAN_CHANGED, f"expected plan {plan_id[:80]}, got {plan.id}")
        if crs is not None and plan.crs is not None and crs != plan.crs:
            detail = f"the plan's bounds are in {plan.crs}, the trajectory in {crs}"
            raise PlanRefused(Problem.PLAN_OTHER_COORDINATES, detail)
        return Reporter(plan, ledger)

    def report(self, trips: Trips, round_number: int | None = None, now: float | None = None) -> bytes:
        """Make the report about these trips, as bytes to send.

        `trips` is a list of all trips of the person, of which the device draws one at random; a list of points is one
        trip. A trip is a list of points, or a `Recording` of points and their arrival. The device answers for any
        trips; `check` says what it makes of them. Without `round_number`, the newest round is answered.

        A standing plan is answered for the window that ended last before `now` (Unix time; by default the present),
        about one of the trips whose arrival is recent. The plan states which trips are recent; by default those that
        ended in the window. Without a recent trip, the report is a null answer, which looks like any other report. The
        first call for a standing plan only accepts the plan, as `accept` does. If no answer is due, the call raises
        `PlanRefused` with the problem `plan-not-due`.
        """
        number, grid, standing = self.number(round_number), self.plan.grid, self.plan.standing
        if standing is None:

            def fresh() -> bytes:
                return self._sealed(self.draw_about(occasion_among(recordings_of(trips), grid), number), None)

            return fresh() if self.ledger is None else self.ledger.answer(self.plan, number, fresh)

        def of_window(row: Acceptance) -> bytes:
            recordings = recordings_of(trips)
            arrivals = (one.arrival for one in recordings)
            places = standing.eligible(arrivals, row.window, row.phase, row.accepted)
            occasion = occasion_among([recordings[place] for place in places], grid)
            return self._sealed(self.draw_about(occasion, 0, window=row.window), row.window)

        return self._needed_ledger.answer_window(self.plan, _shown(now), of_window)

    def check(self, trips: Trips, round_number: int | None = None, now: float | None = None) -> list[str]:
        """Say in sentences what the device would make of these trips. Nothing is drawn, stored, spent or sent."""
        return check_trips(
            self.plan, self.number(round_number), recordings_of(trips), self.ledger, _shown(now)
        )

    def explain(
        self, trips: Trips | None = None, round_number: int | None = None, now: float | None = None
    ) -> list[str]:
        """Say in sentences what was spent, what the plan asks and costs, and, of given trips, what `check` says."""
        number, shown = self.number(round_number), _shown(now)
        spent = [] if self.ledger is None else explain_ledger(self.ledger, self.plan, shown)
        checked = [] if trips is None else self.check(trips, number, shown)
        return [*spent, *explain_asking(self.plan, number), *checked]

    def accept(self, now: float | None = None) -> Acceptance:
        """Begin to take part in a standing plan at the time `now` (Unix time). The device chooses at random at which
        time of the day or week its time windows end."""
        return self._needed_ledger.accept(self.plan, _shown(now))

    def _sealed(self, report: bytes, window: int | None) -> bytes:
        """Return what leaves the device: the report, sealed for the curator if the plan is shuffled."""
        if self.plan.shuffled is None:
            return report
        return Sealer.of_plan(self.plan.shuffled.key, self.plan.id).seal(report, window)

    @property
    def _needed_ledger(self) -> Ledger:
        if self.ledger is None:
            raise InputError("a standing plan needs a ledger: it holds the phase and what was answered")
        return self.ledger

    def delay(self, most: int | None = None) -> int:
        """Return a random number of seconds to wait before a report is sent. Draw a new delay for every report.

        The largest delay is the argument `most`; by default an hour, or for a standing plan its grace (how late a
        report may arrive).
        """
        if most is None:
            most = HOUR if self.plan.standing is None else self.plan.standing.grace
        return Source().below(most + 1)

    def sent(self, round_number: int | None = None, window: int | None = None) -> None:
        """Record in the ledger that the server received the report. After this call, the device does not answer the
        same round or time window again."""
        if self.ledger is not None:
            self.ledger.sent(self.plan, self.number(round_number), window)

    def waiting(self) -> bytes | None:
        """Return the report to this plan that is stored in the ledger and was not sent yet."""
        entry = None if self.ledger is None else self.ledger.waiting(self.plan)
        return None if entry is None else entry[0]

    def draw(self, points: Points, number: int, source: Source | None = None) -> bytes:
        """Draw a new report about one trajectory, without a ledger."""
        return self.draw_about(occasion_of(points, self.plan.grid), number, source)

    def draw_about(
        self, occasion: Occasion, number: int, source: Source | None = None, *, window: int = 0
    ) -> bytes:
        """Draw a new report about an occasion. Random values are drawn in a fixed order: report id, group, then each
        question."""
        # Bytes are read ahead for this one report only: a process that forks never shares any.
        source = source or Source(_ReadAhead())
        round_ = self.plan.rounds[number]
        report_id = source.take(ID_BYTES)
        group = _group(round_, source)
        asks = asked_of(round_, group)
        payload = b"".join(_answer(ask, occasion, source, padded=round_.padded) for ask in asks)
        if round_.padded:
            payload = payload.ljust(round_.payload_bytes, b"\0")
        plan, version = plan_prefix(self.plan), self.plan.version
        return Report(plan, number, group, window, report_id, payload, version).encode()

    def number(self, round_number: int | None) -> int:
        """Return the checked number of a round, or of the newest round if it is None."""
        rounds = len(self.plan.rounds)
        number = rounds - 1 if round_number is None else round_number
        if not 0 <= number < rounds:
            raise PlanRefused(
                Problem.PLAN_NO_SUCH_ROUND, f"the plan has rounds 1 to {rounds}, not {number + 1}"
            )
        return number


def _shown(now: float | None) -> float:
    """Return what the device's clock shows."""
    return time.time() if now is None else now


def _group(round_: Round, source: Source) -> int:
    """Draw the number of the question to answer, by the public shares and without looking at the trajectory."""
    if round_.assignment == "everyone":
        return 0
    drawn, group = source.below(SHARES), 0
    while drawn >= round_.asks[group].share:
        drawn -= round_.asks[group].share
        group += 1
    return group


def _answer(ask: Ask, occasion: Occasion, source: Source, *, padded: bool) -> bytes:
    """Return the randomised answer to one question, one slot after the other."""
    slots = ask.question.answer(occasion, source)
    channel = ask.randomizer
    return b"".join(channel.encode(channel.perturb(items, source)) for items in slots if items or padded)


class _ReadAhead:
    """A source of secure random bytes of the operating system, which reads at least 512 bytes at a time."""

    def __init__(self) -> None:
        self.data = b""
        self.position = 0

    def __call__(self, count: int) -> bytes:
        left = len(self.data) - self.position
        if left < count:
            self.data, self.position = self.data[self.position :] + os.urandom(max(count - left, 512)), 0
        piece = self.data[self.position : self.position + count]
        self.position += count
        return piece
