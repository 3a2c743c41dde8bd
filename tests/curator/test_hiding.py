from __future__ import annotations

import contextlib
import re
from fractions import Fraction
from typing import Any

import pytest

from ldptrace.curator.accounting import stated_lifetime
from ldptrace.curator.facts import Facts
from ldptrace.curator.hiding import Hiding, refused_by_default, usual_batch
from ldptrace.device.book import Book, Cost, Limits
from ldptrace.errors import InputError
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.shuffling import divergence, stated_epsilon
from shuffled_kit import KEY

DELTA = Fraction(1, 10**8)


def test_eps0_is_the_largest_that_keeps_the_wanted_promise() -> None:
    hiding = Hiding(Fraction(1), 8_000, DELTA)
    assert hiding.hidden == 7_200
    assert Fraction(99, 100) < hiding.central <= 1
    assert divergence(7_200, float(hiding.local), float(hiding.central)) <= 1e-8
    assert stated_epsilon(7_200, float(hiding.local) + 0.01, 1e-8) > 1


def test_a_bounded_eps0_states_less_than_was_wanted() -> None:
    hiding = Hiding(Fraction(1), 10**6, DELTA, most_local=Fraction("4.5"))
    assert hiding.local == Fraction("4.5")
    assert hiding.central == Fraction(str(stated_epsilon(900_000, 4.5, 1e-8)))


def test_a_batch_of_few_hides_nothing() -> None:
    assert Hiding(Fraction(1, 2), 2, DELTA).local == Fraction(1, 2)
    for batch, honest in ((1, Fraction(1)), (10**8, Fraction(1)), (2, Fraction(1, 10))):
        with pytest.raises(InputError, match="batch"):
            Hiding(Fraction(1), batch, DELTA, honest)


def test_the_usual_batch_is_four_fifths_of_the_people() -> None:
    assert usual_batch(10_000) == 8_000
    assert usual_batch(10**12) == 10_000_000


@pytest.mark.parametrize(("wanted", "answers"), [("0.02", 10), ("0.1", 8), ("0.3", 5)])
def test_devices_accept_the_usual_lifetime_without_being_asked(wanted: str, answers: int) -> None:
    hiding = Hiding(Fraction(wanted), 300_000, DELTA)
    assert hiding.answers(None) == answers
    assert answers * hiding.local <= Limits().local_limit
    assert answers == 10 or (answers + 1) * hiding.local > Limits().local_limit


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, None),
        ({"epsilon": "5.5"}, "one answer costs epsilon 5.5, and 5 is allowed"),
        ({"shuffled": True}, None),
        (
            {"shuffled": True, "most_local": "7"},
            "work together, one answer costs epsilon 6.*, and 6 is allowed",
        ),
        ({"shuffled": True, "every": "7d"}, None),
        (
            {"shuffled": True, "every": "7d", "lifetime": "5"},
            "work together, all answers cost .*, and 30 is allowed",
        ),
    ],
)
def test_a_plan_that_devices_refuse_by_default_is_named(facts: dict[str, Any], said: str | None) -> None:
    plan = Facts(300_000, bounds=(0, 0, 1, 1), **{"epsilon": "0.5"} | facts).plan(KEY.public)
    caution = refused_by_default(plan)
    if said is None:
        assert caution is None
    else:
        assert re.search(said, caution or ""), caution
    # As devices have it.
    book = Book()
    with contextlib.nullcontext() if said is None else pytest.raises(PlanRefused):
        book.check_local(plan)
        book.check(Cost.of_answer(plan))
        book.check(Cost.of_acceptance(plan))


@pytest.mark.slow
def test_a_lifetime_is_composed() -> None:
    hiding = Hiding(Fraction(1, 10), 300_000, DELTA)
    ten = hiding.lifetime(10)
    assert ten == Fraction(str(stated_lifetime(hiding.hidden, float(hiding.local), 1e-8, 10)))
    assert hiding.central < ten < 10 * hiding.central
    assert hiding.answers(ten) == 10
    assert hiding.answers(ten - Fraction(1, 1000)) == 9
    assert hiding.answers(hiding.central) == 1
    with pytest.raises(InputError, match="holds at least one answer"):
        hiding.answers(hiding.central / 2)
    # No more answers than a plan can state the sum of.
    assert hiding.answers(Fraction(900)) == int(999 / hiding.local)
