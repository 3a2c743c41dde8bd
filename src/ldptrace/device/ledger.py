"""The ledger: which plans a person has answered, and how much epsilon the answers cost.

A report is stored in the ledger before it can be sent. After a crash, the same bytes are sent again; a new draw would
be a second answer, and two answers reveal more than one.

Plans of one chain share one budget: the first answer costs the whole epsilon, later rounds nothing more. This is safe
only if all answers are rounds of one plan, whose rounds together cost at most its epsilon. A curator could publish
several plans that continue the same first round. So a device answers a plan only if all its earlier answers with the
same first round belong to the chain of this plan.

A standing plan has one entry: its phase, which is drawn once, the last window, and the number of answers, each of which
costs epsilon.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ldptrace.device.book import UNREADABLE, Acceptance, Book, Cost, Entry, Limits, stored
from ldptrace.device.storage import LedgerFile
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.exact import budget_fraction, decimal_text
from ldptrace.protocol.limits import MAX_EPSILON, MAX_LIFETIME
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import clock


class Ledger:
    """The ledger of a person: a file that records which plans were answered, and how much epsilon the answers cost.

    `limit` is the largest epsilon that the person allows for all plans together. A new ledger has the limit 5, unless
    `limit` is given. For an existing ledger, `limit` replaces the old limit. The other arguments are about shuffled
    plans, and replace what the person said before:

    - `local_limit`: the largest epsilon of all plans together if shuffler and curator work together; 30, or the limit
      if that is larger.
    - `most_local`: the largest epsilon of one shuffled answer in that case; 6.
    - `shuffled`: whether shuffled plans are answered at all.

    >>> import tempfile
    >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.json", limit="2.5")
    >>> ledger.limit, ledger.spent, ledger.limits.local_limit
    (Fraction(5, 2), Fraction(0, 1), Fraction(30, 1))
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | LedgerFile,
        limit: float | str | Fraction | None = None,
        *,
        local_limit: float | str | Fraction | None = None,
        most_local: float | str | Fraction | None = None,
        shuffled: bool | None = None,
    ) -> None:
        self.file = path if isinstance(path, LedgerFile) else LedgerFile(path)
        self.new_limits: dict[str, Any] = {
            name: value if isinstance(value, bool) else budget_fraction(value, most, what)
            for name, value, most, what in (
                ("limit", limit, MAX_LIFETIME, "a limit"),
                ("local", local_limit, MAX_LIFETIME, "a local limit"),
                ("most_local", most_local, MAX_EPSILON, "the most epsilon of one shuffled answer"),
                ("shuffled", shuffled, 1, ""),
            )
            if value is not None
        }

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def limits(self) -> Limits:
        """What the person allows."""
        return self._read().limits

    @property
    def limit(self) -> Fraction:
        return self.limits.limit

    @property
    def cost(self) -> Cost:
        """What all answers so far have cost: epsilon within the limit, delta, and epsilon within the local limit."""
        return self._read().cost

    @property
    def spent(self) -> Fraction:
        """Epsilon that all answers so far have cost; of shuffled answers, the central epsilon."""
        return self.cost.central

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of all rounds that the device has answered, over all plans."""
        return self._read().entries

    @property
    def standing(self) -> tuple[Acceptance, ...]:
        """The standing plans that the device takes part in."""
        return self._read().standing

    def acceptance(self, plan: Plan) -> Acceptance | None:
        """Return the entry of a standing plan, or None if the device does not take part in the plan."""
        return self._read().accepted(plan)

    def answer(self, plan: Plan, round_number: int, draw: Callable[[], bytes]) -> bytes:
        """Return the report for a round. The first call makes the report by `draw` and stores it on disk.

        Later calls return the same bytes until the report is marked as sent. After that, or if the answer would
        exceed the person's limit, the call raises `PlanRefused`.
        """
        if plan.standing is not None:
            raise InputError("a standing plan is answered window by window: its reports depend on the clock")
        with self.file.locked():
            book = self._read()
            book.check_wanted(plan)
            earlier = [entry for entry in book.entries if entry.root == plan.root]
            for entry in earlier:
                if entry.round == round_number:
                    if entry.report is None or entry.plan != plan.id:
                        raise PlanRefused(Problem.PLAN_ANSWERED)
                    return base64.b64decode(entry.report)
            if any(entry.plan not in plan.chain for entry in earlier):
                raise PlanRefused(Problem.PLAN_FORKED)
            book.check_local(plan)
            book.check(Cost() if earlier else Cost.of_answer(plan))
            report = draw()
            epsilon = decimal_text(plan.epsilon)
            new = Entry(plan.root, epsilon, plan.id, round_number, stored(report), **_promised(plan))
            self._write(book.changed(entries=(*book.entries, new)))
            return report

    def accept(self, plan: Plan, now: float, source: Source | None = None) -> Acceptance:
        """Begin to take part in a standing plan at the time `now` (Unix time), and draw the device's phase once.

        The epsilon of all answers to a shuffled plan counts within the local limit from now on, so the call raises
        `PlanRefused` if it does not fit.
        """
        with self.file.locked():
            return self._accept(plan, now, source)

    def answer_window(self, plan: Plan, now: float, draw: Callable[[Acceptance], bytes]) -> bytes:
        """Return the report for the window that ended last before `now` (Unix time).

        The first call makes the report by `draw` and stores it on disk. Later calls return the same bytes until the
        report is marked as sent.
        """
        standing = _standing(plan)
        with self.file.locked():
            row = self._accept(plan, now)
            window = standing.latest(now, row.phase)
            if window <= row.window:
                if row.report is None:
                    raise PlanRefused(
                        Problem.PLAN_NOT_DUE,
                        f"the next answer is due at Unix time {standing.end(row.window + 1, row.phase)}",
                    )
                return base64.b64decode(row.report)
            if (row.answers + 1) * plan.epsilon > standing.lifetime:
                raise PlanRefused(
                    Problem.PLAN_LIFETIME,
                    f"{row.answers} answers were given, epsilon {decimal_text(row.given)} of the lifetime "
                    f"{decimal_text(standing.lifetime)}",
                )
            book = self._read()
            book.check_local(plan)
            book.check(Cost.of_answer(plan))
            due = row.changed(window=window, answers=row.answers + 1, report=None)
            report = draw(due)
            self._write(book.with_standing(due.changed(report=stored(report))))
            return report

    def waiting(self, plan: Plan) -> tuple[bytes, int | None] | None:
        """Return the report to this plan that was not sent yet, and its window; None if there is none. A plan with
        several rounds has the report of its newest answered round."""
        book = self._read()
        row = book.accepted(plan)
        if row is not None:
            return None if row.report is None else (base64.b64decode(row.report), row.window)
        texts = [entry.report for entry in book.entries if entry.plan == plan.id and entry.report is not None]
        return (base64.b64decode(texts[-1]), None) if texts else None

    def sent(self, plan: Plan, round_number: int, window: int | None = None) -> None:
        """Record that the server received the report of a round or window, and delete the bytes of the report."""
        with self.file.locked():
            book = self._read()
            row = book.accepted(plan)
            if row is not None and window in (None, row.window):
                changed = book.with_standing(row.changed(report=None))
            else:
                changed = book.changed(
                    entries=tuple(
                        entry.changed(report=None)
                        if (entry.plan, entry.round) == (plan.id, round_number)
                        else entry
                        for entry in book.entries
                    )
                )
            if changed != book:
                self._write(changed)

    def _accept(self, plan: Plan, now: float, source: Source | None = None) -> Acceptance:
        """Return the entry of a plan. A new entry with its phase is stored on disk first."""
        standing, book = _standing(plan), self._read()
        book.check_wanted(plan)
        known = book.accepted(plan)
        if known is not None:
            return known
        total = Cost.of_acceptance(plan)
        if plan.shuffled is not None:
            book.check_local(plan)
            book.check(total)
        phase = (source or Source()).below(standing.every)
        shown = clock(now)
        accepted = standing.start - 1 if shown is None else int(shown // 1)
        # Windows that ended before now are over: nothing could be said about them.
        over = max((accepted - standing.start - phase) // standing.every, -1)
        new = Acceptance(plan.id, decimal_text(plan.epsilon), phase, accepted, over, **_promised(plan))
        if plan.shuffled is not None:
            new = new.changed(total=decimal_text(total.local))
        self._write(book.with_standing(new))
        return new

    def _read(self) -> Book:
        """Read the ledger from disk. An unreadable file is an error, because an empty ledger would allow to spend
        epsilon twice."""
        text = self.file.read()
        if text is None:
            return Book(Limits(**self.new_limits))
        try:
            book = Book.from_json(text)
        except UNREADABLE as error:
            raise FormatError(f"the ledger {self.path} cannot be read: {error}") from None
        return book.changed(limits=book.limits.changed(**self.new_limits))

    def _write(self, book: Book) -> None:
        self.file.write(book.to_json())


def _standing(plan: Plan) -> Standing:
    if plan.standing is None:
        raise InputError("the plan has no windows: it is answered round by round")
    return plan.standing


def _promised(plan: Plan) -> dict[str, Any]:
    """Return what an entry holds of the central promise of a plan."""
    if plan.shuffled is None:
        return {}
    return {"central": decimal_text(plan.shuffled.epsilon), "delta": decimal_text(plan.shuffled.delta)}
