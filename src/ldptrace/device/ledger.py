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
import binascii
import json
import os
from collections.abc import Callable
from fractions import Fraction

from ldptrace.device.storage import LedgerFile
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.exact import budget_fraction, decimal_text, epsilon_fraction
from ldptrace.protocol.limits import MAX_LIFETIME
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.records import Record
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import clock

FORMAT = "ldptrace-ledger"
VERSION = 1
DEFAULT_LIMIT = "5"


class Entry(Record):
    """One answered round. `report` (base64) is stored until it is sent."""

    root: str
    epsilon: str
    plan: str
    round: int
    report: str | None

    def __post_init__(self) -> None:
        if not isinstance(self.root, str) or not isinstance(self.plan, str) or type(self.round) is not int:
            raise ValueError("an entry has the ids of its root and its plan, and the number of its round")


class Acceptance(Record):
    """A standing plan that the person takes part in. `window` is the last window that was handled."""

    plan: str
    epsilon: str
    phase: int
    accepted: int
    window: int
    answers: int = 0
    report: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.plan, str):
            raise ValueError("a standing plan is named by its id")
        whole = (self.phase, self.accepted, self.window, self.answers)
        if any(type(value) is not int for value in whole) or self.phase < 0 or self.answers < 0:
            raise ValueError(f"phase, accepted, window and answers must be whole numbers, got {whole}")

    @property
    def given(self) -> Fraction:
        """Epsilon of all answers so far."""
        return Fraction(self.epsilon) * self.answers


class _Book(Record):
    limit: Fraction
    entries: tuple[Entry, ...] = ()
    standing: tuple[Acceptance, ...] = ()

    @property
    def spent(self) -> Fraction:
        """Epsilon of all answers: each chain of plans costs its epsilon once, and each answer to a standing plan costs
        its epsilon."""
        once = {entry.root: Fraction(entry.epsilon) for entry in self.entries}
        return sum((*once.values(), *(row.given for row in self.standing)), Fraction(0))

    def under(self, root: str) -> tuple[Entry, ...]:
        """Return the answers to plans with this first round (root)."""
        return tuple(entry for entry in self.entries if entry.root == root)

    def accepted(self, plan: Plan) -> Acceptance | None:
        return next((row for row in self.standing if row.plan == plan.id), None)

    def with_standing(self, new: Acceptance) -> _Book:
        """Return the ledger with this entry, which replaces an earlier entry for the same plan."""
        if all(row.plan != new.plan for row in self.standing):
            return self.changed(standing=(*self.standing, new))
        return self.changed(standing=tuple(new if row.plan == new.plan else row for row in self.standing))

    def check_limit(self, cost: Fraction) -> None:
        if self.spent + cost > self.limit:
            left = decimal_text(max(self.limit - self.spent, Fraction(0)))
            raise PlanRefused(
                Problem.PLAN_OVER_LIMIT,
                f"the plan costs epsilon {decimal_text(cost)}, {left} is left of the limit "
                f"{decimal_text(self.limit)}",
            )


class Ledger:
    """The ledger of a person: a file that records which plans were answered, and how much epsilon the answers cost.

    `limit` is the largest epsilon that the person allows for all plans together. A new ledger has the limit 5, unless
    `limit` is given. For an existing ledger, `limit` replaces the old limit.

    >>> import tempfile
    >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.json", limit="2.5")
    >>> ledger.limit, ledger.spent
    (Fraction(5, 2), Fraction(0, 1))
    """

    def __init__(
        self, path: str | os.PathLike[str] | LedgerFile, limit: float | str | Fraction | None = None
    ) -> None:
        self.file = path if isinstance(path, LedgerFile) else LedgerFile(path)
        self.new_limit = None if limit is None else budget_fraction(limit, MAX_LIFETIME, "a limit")

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def limit(self) -> Fraction:
        return self._read().limit

    @property
    def spent(self) -> Fraction:
        """Epsilon that all answers so far have cost."""
        return self._read().spent

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
            earlier = book.under(plan.root)
            for entry in earlier:
                if entry.round == round_number:
                    if entry.report is None or entry.plan != plan.id:
                        raise PlanRefused(Problem.PLAN_ANSWERED)
                    return base64.b64decode(entry.report)
            if any(entry.plan not in plan.chain for entry in earlier):
                raise PlanRefused(Problem.PLAN_FORKED)
            book.check_limit(Fraction(0) if earlier else plan.epsilon)
            report = draw()
            new = Entry(plan.root, decimal_text(plan.epsilon), plan.id, round_number, _text(report))
            self._write(book.changed(entries=(*book.entries, new)))
            return report

    def accept(self, plan: Plan, now: float, source: Source | None = None) -> Acceptance:
        """Begin to take part in a standing plan at the time `now` (Unix time), and draw the device's phase once."""
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
            book.check_limit(plan.epsilon)
            due = row.changed(window=window, answers=row.answers + 1, report=None)
            report = draw(due)
            self._write(book.with_standing(due.changed(report=_text(report))))
            return report

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
        known = book.accepted(plan)
        if known is not None:
            return known
        phase = (source or Source()).below(standing.every)
        shown = clock(now)
        accepted = standing.start - 1 if shown is None else int(shown // 1)
        # Windows that ended before now are over: nothing could be said about them.
        over = max((accepted - standing.start - phase) // standing.every, -1)
        new = Acceptance(plan.id, decimal_text(plan.epsilon), phase, accepted, over)
        self._write(book.with_standing(new))
        return new

    def _read(self) -> _Book:
        """Read the ledger from disk. An unreadable file is an error, because an empty ledger would allow to spend
        epsilon twice."""
        text = self.file.read()
        if text is None:
            return _Book(self.new_limit or epsilon_fraction(DEFAULT_LIMIT))
        try:
            data = json.loads(text)
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise ValueError(f"expected format {FORMAT!r} version {VERSION}")
            entries = tuple(Entry(**item) for item in data["entries"])
            standing = tuple(Acceptance(**item) for item in data["standing"])
            for epsilon, report in [(row.epsilon, row.report) for row in entries] + [
                (row.epsilon, row.report) for row in standing
            ]:
                epsilon_fraction(epsilon)
                base64.b64decode(report or "", validate=True)
            stored = budget_fraction(data["limit"], MAX_LIFETIME, "a limit")
            return _Book(stored if self.new_limit is None else self.new_limit, entries, standing)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
            raise FormatError(f"the ledger {self.path} cannot be read: {error}") from None

    def _write(self, book: _Book) -> None:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "limit": decimal_text(book.limit),
            "entries": [_plain(entry) for entry in book.entries],
            "standing": [_plain(row) for row in book.standing],
        }
        self.file.write(json.dumps(data, indent=1))


def _standing(plan: Plan) -> Standing:
    if plan.standing is None:
        raise InputError("the plan has no windows: it is answered round by round")
    return plan.standing


def _text(report: bytes) -> str:
    return base64.b64encode(report).decode("ascii")


def _plain(record: Record) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.fields}
