from __future__ import annotations

from fractions import Fraction

import pytest

from ldptrace.curator.accounting import stated_lifetime
from ldptrace.curator.hiding import Hiding, usual_batch
from ldptrace.device.book import Limits
from ldptrace.errors import InputError
from ldptrace.protocol.shuffling import divergence, stated_epsilon

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
