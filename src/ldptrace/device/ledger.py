"""What this person has already said, and to which plan: a small file that is always whole.

A report is written here before anyone can send it. After a crash the same bytes are there to be sent again;
a fresh draw would be a second answer, and two answers tell more than one.

Plans of one chain share one budget: the first answer costs the whole epsilon, later rounds nothing more. That
is safe only while all answers are rounds of one plan, whose rounds together spend at most its epsilon. A curator
can publish several continuations of one plan, each within its epsilon; so a plan is answered only when every
earlier answer under its root was given to a plan of its own chain.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from ldptrace.errors import FormatError
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.records import Record

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = "ldptrace-ledger"
VERSION = 1
DEFAULT_LIMIT = "5"


class Entry(Record):
    """One answered round. `report` (base64) stays until it was sent."""

    root: str
    epsilon: str
    plan: str
    round: int
    report: str | None


class _Book(Record):
    limit: Fraction
    entries: tuple[Entry, ...] = ()

    @property
    def spent(self) -> Fraction:
        """Every chain of plans costs its epsilon once."""
        return sum(
            (Fraction(epsilon) for epsilon in {e.root: e.epsilon for e in self.entries}.values()), Fraction(0)
        )

    def under(self, root: str) -> tuple[Entry, ...]:
        """The answers to plans with this root: rounds of one chain."""
        return tuple(entry for entry in self.entries if entry.root == root)


class Ledger:
    """The ledger in the file `path`. `limit` is the most epsilon this person gives away in all.

    A new ledger has the limit 5 unless told otherwise; `limit` of an existing one is changed only when given.

    >>> import tempfile
    >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.json", limit="2.5")
    >>> ledger.limit, ledger.spent
    (Fraction(5, 2), Fraction(0, 1))
    """

    def __init__(self, path: str | os.PathLike[str], limit: float | str | Fraction | None = None) -> None:
        self.path = os.fspath(path)
        self.new_limit = None if limit is None else epsilon_fraction(limit)

    @property
    def _folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.path))

    @property
    def limit(self) -> Fraction:
        return self._read().limit

    @property
    def spent(self) -> Fraction:
        """Epsilon given away so far."""
        return self._read().spent

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self._read().entries

    def answer(self, plan: Plan, round_number: int, draw: Callable[[], bytes]) -> bytes:
        """The report for this round: the one drawn before if it was not sent yet, a fresh draw if allowed.

        The file is on the disk before the bytes are returned.
        """
        with self._locked():
            book = self._read()
            earlier = book.under(plan.root)
            for entry in earlier:
                if entry.round == round_number:
                    if entry.report is None or entry.plan != plan.id:
                        raise PlanRefused(Problem.PLAN_ANSWERED)
                    return base64.b64decode(entry.report)
            if any(entry.plan not in plan.chain for entry in earlier):
                raise PlanRefused(Problem.PLAN_FORKED)
            cost = Fraction(0) if earlier else plan.epsilon
            if book.spent + cost > book.limit:
                left = decimal_text(max(book.limit - book.spent, Fraction(0)))
                raise PlanRefused(
                    Problem.PLAN_OVER_LIMIT,
                    f"the plan costs epsilon {decimal_text(cost)}, {left} is left of the limit "
                    f"{decimal_text(book.limit)}",
                )
            report = draw()
            text = base64.b64encode(report).decode("ascii")
            new = Entry(plan.root, decimal_text(plan.epsilon), plan.id, round_number, text)
            self._write(book.changed(entries=(*book.entries, new)))
            return report

    def sent(self, plan: Plan, round_number: int) -> None:
        """The report of this round has arrived: forget its bytes, keep that it was given."""
        with self._locked():
            book = self._read()
            entries = tuple(
                entry.changed(report=None) if (entry.plan, entry.round) == (plan.id, round_number) else entry
                for entry in book.entries
            )
            if entries != book.entries:
                self._write(book.changed(entries=entries))

    def _read(self) -> _Book:
        """The book on the disk. What cannot be read is an error: an empty book would spend twice."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return _Book(self.new_limit or epsilon_fraction(DEFAULT_LIMIT))
        except UnicodeDecodeError as error:
            raise FormatError(f"the ledger {self.path} cannot be read: {error}") from None
        try:
            data = json.loads(text)
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise ValueError(f"expected format {FORMAT!r} version {VERSION}")
            entries = tuple(Entry(**item) for item in data["entries"])
            for entry in entries:
                epsilon_fraction(entry.epsilon)
                base64.b64decode(entry.report or "", validate=True)
            limit = epsilon_fraction(data["limit"]) if self.new_limit is None else self.new_limit
            return _Book(limit, entries)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
            raise FormatError(f"the ledger {self.path} cannot be read: {error}") from None

    def _write(self, book: _Book) -> None:
        """Replace the file as a whole: new bytes on the disk, then the name, then the folder."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "limit": decimal_text(book.limit),
            "entries": [{name: getattr(entry, name) for name in entry.fields} for entry in book.entries],
        }
        temporary = f"{self.path}.{os.urandom(4).hex()}"
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(data, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise
        _sync_folder(self._folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time; the system releases the lock of a process that dies."""
        os.makedirs(self._folder, exist_ok=True)
        with open(self.path + ".lock", "a+b") as file:
            if sys.platform == "win32":
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                try:
                    yield
                finally:
                    file.seek(0)
                    msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield


def _sync_folder(folder: str) -> None:
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
