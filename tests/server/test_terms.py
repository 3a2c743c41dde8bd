"""What is stated about a campaign besides its plan."""

from __future__ import annotations

from typing import Any

import pytest

from ldptrace.errors import InputError
from ldptrace.options import from_options
from ldptrace.server.terms import LINE, MOST_REPORTS, TEXT, Terms


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": "x" * (LINE + 1)},
        {"title": 3},
        {"organiser": "a\nb"},
        {"contact": "\0"},
        {"notice": "a\x07b"},
        {"notice": "x" * (TEXT + 1)},
        {"opens": -1},
        {"opens": True},
        {"opens": 2.5},
        {"opens": "soon"},
        {"until": 10**12},
        {"min_reports": 0},
        {"min_reports": True},
        {"min_reports": 5, "max_reports": 4},
        {"max_reports": MOST_REPORTS + 1},
        {"max_reports": 10**400},
        {"users": 0},
    ],
)
def test_what_cannot_be_shown_or_counted_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        from_options(Terms, wrong)


def test_what_is_stated() -> None:
    about = {"title": "Trips", "organiser": "The town", "notice": "One.\n\nTwo."}
    found = from_options(Terms, about | {"opens": 5, "until": "1970-01-02", "max_reports": MOST_REPORTS})
    assert about.items() <= vars(found).items()
    assert (found.opens, found.until) == (5, 2 * 86_400)
    assert Terms(opens="1803859200") == Terms(opens="2027-03-01")  # type: ignore[arg-type]
    assert (found.min_reports, found.users) == (1_000, None)
