"""What buildings are for: opening hours, when people come and how long they stay."""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """What a category of buildings is like.

    Its place in the tree of categories, its opening hours, how much it draws people, at which hour most and
    how many hours around it, and how many minutes they stay.
    """

    path: str
    opens: float
    closes: float
    draw: float
    peak: float
    width: float
    stay: float


USAGES = {
    "academic": Usage("study/academic", 7, 22, 5.0, 12.5, 4.0, 60),
    "research": Usage("study/research", 7, 21, 2.0, 13.0, 4.0, 80),
    "commons": Usage("study/commons", 7, 24, 3.0, 14.0, 6.0, 40),
    "library": Usage("study/library", 8, 24, 3.0, 15.0, 6.0, 80),
    "administrative": Usage("work/administrative", 8, 17, 1.0, 11.5, 3.0, 30),
    "operations": Usage("work/operations", 6, 18, 0.6, 10.0, 4.0, 60),
    "services": Usage("service/services", 8, 20, 1.5, 13.0, 4.0, 15),
    "commercial": Usage("service/commercial", 8, 23, 2.0, 12.5, 3.0, 25),
    "athletics": Usage("leisure/athletics", 6, 23, 1.5, 18.0, 3.0, 60),
    "housing": Usage("living/housing", 0, 24, 1.5, 20.0, 5.0, 90),
    "studenthousing": Usage("living/student housing", 0, 24, 3.0, 20.0, 5.0, 90),
    "parking": Usage("transport/parking", 0, 24, 0.8, 12.0, 7.0, 5),
}
# Where nothing is known about a category.
ORDINARY = Usage("other", 8, 20, 0.7, 13.0, 4.0, 30)


def usage_of(category: str) -> Usage:
    """What is known about a category; one that nobody knows is ordinary, under its own name.

    >>> usage_of("StudentHousing").path, usage_of("Observatory").path
    ('living/student housing', 'other/observatory')
    """
    leaf = category.rsplit("/", 1)[-1].strip().lower()
    known = USAGES.get("".join(leaf.split()))
    if known is not None:
        return known
    return ORDINARY if leaf in {"", "other"} else ORDINARY._replace(path=f"other/{leaf}")
