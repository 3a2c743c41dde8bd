from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.server.about import About, Schedule, moment


@pytest.mark.parametrize(
    "about",
    [
        About(title="x" * 201),
        About(organiser="a\nb"),
        About(contact="\0"),
        About(notice="a\x07b"),
        About(notice="x" * 20_001),
    ],
)
def test_what_cannot_be_shown_is_refused(about: About) -> None:
    with pytest.raises(InputError, match="printable characters"):
        about.check()


def test_a_notice_has_paragraphs() -> None:
    About("Trips", "The town", "trips@town.example", "One.\n\nTwo.").check()


@pytest.mark.parametrize(("opens", "until"), [(-1, None), (None, 10**12), (5, 5), (6, 5)])
def test_times_that_are_no_schedule(opens: int | None, until: int | None) -> None:
    with pytest.raises(InputError):
        Schedule(opens, until).check()


def test_a_schedule_may_be_open() -> None:
    for schedule in (Schedule(), Schedule(5), Schedule(None, 5), Schedule(5, 6)):
        schedule.check()


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2027-02-30", "2027-03-01T25:00", "1e9", "0001-01-01T00:00+14:00x"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a time is like"):
        moment(text)
