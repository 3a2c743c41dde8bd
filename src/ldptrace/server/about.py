"""What people want to know of a campaign before they take part: who runs it, until when, whom to ask."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time

from ldptrace.errors import InputError

# The last moment of the year 9999.
LATEST = 253_402_300_799
LINE, TEXT = 200, 20_000


@dataclass(frozen=True)
class About:
    """What contributors read: a title, who runs the campaign, whom to ask, the privacy notice. All may be empty.

    >>> About("Trips in town", contact="trips@town.example").check()
    >>> About("two\\nlines").check()
    Traceback (most recent call last):
    ldptrace.errors.InputError: a title has up to 200 printable characters
    """

    title: str = ""
    organiser: str = ""
    contact: str = ""
    # Several paragraphs, or the address of a page.
    notice: str = ""

    def check(self) -> None:
        """Refuse what cannot be shown."""
        for field in fields(self):
            text = getattr(self, field.name)
            if field.name == "notice":
                if len(text) > TEXT or not all(part.isprintable() for part in text.splitlines()):
                    raise InputError(f"a privacy notice has up to {TEXT:,} printable characters")
            elif len(text) > LINE or not text.isprintable():
                raise InputError(f"{NAMES[field.name]} has up to {LINE} printable characters")


NAMES = {"title": "a title", "organiser": "an organiser", "contact": "a contact"}


@dataclass(frozen=True)
class Schedule:
    """When the server opens and closes a campaign by itself, as Unix times; None: an operator does it."""

    opens: int | None = None
    until: int | None = None

    def check(self) -> None:
        for value in (self.opens, self.until):
            if value is not None and not 0 <= value <= LATEST:
                raise InputError(f"a time is from 1970 to 9999, got {value}")
        if self.opens is not None and self.until is not None and self.until <= self.opens:
            raise InputError("a campaign closes after it opens")


def moment(text: str, *, end: bool = False) -> int:
    """A date or a time as Unix time: UTC unless it says otherwise; of a date its beginning, or its `end`.

    >>> moment("2027-03-01"), moment("2027-03-01", end=True), moment("2027-03-01T08:00+01:00")
    (1803859200, 1803945600, 1803884400)
    """
    try:
        if len(text) == 10:
            day = datetime.combine(date.fromisoformat(text), time(), UTC)
            return int(day.timestamp()) + (86_400 if end else 0)
        found = datetime.fromisoformat(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise InputError(f"a time is like 2027-03-01 or 2027-03-01T08:00+01:00, got {text[:40]!r}") from None


def shown(unix: int) -> str:
    """A Unix time for people.

    >>> shown(1803945600)
    '2027-03-02 00:00 UTC'
    """
    return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d %H:%M UTC")


def day(unix: int) -> str:
    """The day of a Unix time, in UTC.

    >>> day(1803945600)
    '2027-03-02'
    """
    return shown(unix)[:10]
