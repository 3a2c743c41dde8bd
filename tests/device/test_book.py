from __future__ import annotations

from fractions import Fraction

import pytest

from ldptrace.device.book import Acceptance, Book, Cost, Entry, Limits
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.seals import GENERATOR
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.standing import Standing

DIRECT = Plan.single_report(Grid((0, 0, 6, 6), 6), 4)
ROW = Shuffled(GENERATOR, 10**6, 1, "0.000001", "0.5", None, 1_800_000_000, "A club", "https://club.example")
ENTRY = Entry("a", "4", "a", 0, None, "0.5", "0.000001")
WEEK = Acceptance("b", "3", 5, 0, 7, 2, None, "0.1", "0.00000001", "30")
OLD = '{"format":"ldptrace-ledger","version":1,"limit":"2.5","entries":[],"standing":[]}'


def test_what_answers_cost() -> None:
    shuffled = DIRECT.changed(shuffled=ROW)
    standing = DIRECT.changed(
        standing=Standing.of(604_800, epsilon=4, lifetime=22),
        shuffled=ROW.changed(until=None, lifetime=Fraction(2)),
    )
    assert Cost.of_answer(DIRECT) == Cost(Fraction(4), Fraction(0), Fraction(4))
    assert Cost.of_answer(shuffled) == Cost(Fraction(1, 2), Fraction(1, 10**6), Fraction(4))
    assert Cost.of_acceptance(DIRECT) == Cost.of_acceptance(shuffled) == Cost()
    # Its total counts at acceptance, and each answer adds to the first sum alone.
    assert Cost.of_acceptance(standing) == Cost(local=Fraction(20))
    assert Cost.of_answer(standing) == Cost(Fraction(1, 2), Fraction(1, 10**6))


def test_two_sums() -> None:
    book = Book(Limits(), (ENTRY, Entry("c", "1", "c", 0, None)), (WEEK,))
    assert book.cost == Cost(Fraction("1.7"), Fraction("0.00000102"), Fraction(35))


def test_a_ledger_without_shuffled_plans_is_written_as_version_1() -> None:
    book = Book.from_json(OLD)
    assert book == Book(Limits(Fraction(5, 2)))
    direct = book.changed(entries=(Entry("c", "1", "c", 0, None),))
    assert '"version": 1' in direct.to_json()
    assert "local" not in direct.to_json()
    assert "central" not in direct.to_json()
    assert Book.from_json(direct.to_json()) == direct


@pytest.mark.parametrize(
    "book",
    [
        Book(Limits(), (ENTRY,)),
        Book(Limits(), (), (WEEK,)),
        Book(Limits(shuffled=False)),
        Book(Limits(local=Fraction("40.5"))),
        Book(Limits(most_local=Fraction(1))),
    ],
)
def test_what_is_about_shuffled_plans_makes_version_2(book: Book) -> None:
    """A program that knows version 1 alone would forget it, so it must not read the file."""
    assert '"version": 2' in book.to_json()
    assert Book.from_json(book.to_json()) == book


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"shuffled": true', '"shuffled": 1'),
        ('"local_limit": null', '"local_limit": "much"'),
        ('"most_local": "6"', '"most_local": "0"'),
        ('"central": "0.5"', '"central": null'),
        ('"central": "0.5"', '"central": "x"'),
        ('"delta": "0.000001"', '"delta": null'),
        ('"delta": "0.000001"', '"delta": "-1"'),
        ('"total": "30"', '"total": "0"'),
        ('"version": 2', '"version": 3'),
    ],
)
def test_numbers_that_are_none_are_not_read(old: str, new: str) -> None:
    text = Book(Limits(), (ENTRY,), (WEEK,)).to_json()
    assert old in text
    with pytest.raises((ValueError, TypeError)):
        Book.from_json(text.replace(old, new))


def test_the_second_limit_is_at_least_the_first_unless_it_was_set() -> None:
    assert Limits().local_limit == 30
    assert Limits(Fraction(50)).local_limit == 50
    assert Limits(Fraction(50), Fraction(7)).local_limit == 7
