"""Everything about a campaign besides its plan, as options: the description for contributors, times, and numbers of
reports. The command line, the HTTP interface and the OpenAPI document use the same records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ldptrace.curator.facts import checked_users
from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.limits import MAX_START
from ldptrace.web.limits import moment

# Characters of a line and of a longer text.
LINE, TEXT = 200, 20_000
MOST_REPORTS = 2**53
MOST_TRIPS = 10_000_000


def _line(what: str, value: str) -> str:
    if len(value) > LINE or not value.isprintable():
        raise InputError(f"{what} has up to {LINE} printable characters")
    return value


def _notice(value: str) -> str:
    if len(value) > TEXT or not all(part.isprintable() for part in value.splitlines()):
        raise InputError(f"a privacy notice has up to {TEXT:,} printable characters")
    return value


def _unix(value: int | str, *, end: bool = False) -> int:
    if isinstance(value, str):
        value = moment(value, end=end)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_START:
        raise InputError(f"a time is from 1970 to 9999, in whole seconds, got {str(value)[:40]}")
    return value


@dataclass(frozen=True)
class Terms:
    """Everything about a campaign besides its plan: what contributors read (texts may be empty), when the server opens
    and closes it by itself (None: an operator does), and how many reports are shown and counted.

    >>> Terms("two\\nlines")
    Traceback (most recent call last):
    ldptrace.errors.InputError: a title has up to 200 printable characters
    """

    title: str = option("", help="Title of the page that contributors see.", check=partial(_line, "a title"))
    organiser: str = option(
        "",
        help="Name of the person or organisation that runs the campaign, as contributors see it.",
        check=partial(_line, "an organiser"),
    )
    contact: str = option(
        "",
        help="E-mail address, or other contact, for questions of contributors.",
        check=partial(_line, "a contact"),
    )
    notice: str = option(
        "", help="Privacy notice: a web address, or a text (on the command line, its file).", check=_notice
    )
    opens: int | None = option(
        None,
        metavar="TIME",
        help="Time at which the server opens the campaign: Unix seconds, or a text such as 2027-03-01.",
        parse=_unix,
    )
    until: int | None = option(
        None,
        metavar="TIME",
        help="Time at which the server closes the campaign; a date means the end of that day in UTC.",
        parse=partial(_unix, end=True),
    )
    min_reports: int = option(
        1_000,
        help="Smallest number of reports for which estimates are shown and released; below it, the server shows only "
        "how many reports arrived.",
        least=1,
    )
    max_reports: int = option(
        100_000_000, help="Largest number of reports that the server counts in a round.", least=1
    )
    users: int | None = option(None, help="Expected number of users.", check=checked_users)

    def __post_init__(self) -> None:
        settle(self)
        if self.max_reports > MOST_REPORTS:
            raise InputError(
                f"the largest number of reports is at most 2^53, got {str(self.max_reports)[:40]}"
            )
        if self.min_reports > self.max_reports:
            raise InputError(
                f"the smallest number of reports must be from 1 to the largest, {self.max_reports:,}, "
                f"got {self.min_reports:,}"
            )


@dataclass(frozen=True)
class Publishing:
    """How a release is made."""

    count: int = option(
        0,
        help=f"Number of synthetic trips, at most {MOST_TRIPS:,}; 0 means the number of devices with a trip inside the "
        "bounds, estimated from the reports.",
        least=0,
        below=MOST_TRIPS + 1,
    )
    again: bool = option(False, help="Publish the campaign again after an interrupted attempt.")

    def __post_init__(self) -> None:
        settle(self)
