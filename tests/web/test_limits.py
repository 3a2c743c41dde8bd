"""Limits of bodies and of requests per address; times that operators write, and clocks for trials."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.web import limits
from ldptrace.web.limits import Arriving, RateLimit, Settings, moment, trial_clock


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0, 3), max_size=60), st.floats(0.1, 5), st.integers(1, 8))
def test_no_address_gets_more_than_its_bucket_and_what_flows_in(
    pauses: list[float], rate: float, burst: int
) -> None:
    clock = Clock()
    limit = RateLimit(rate, burst, clock)
    allowed = 0
    for pause in pauses:
        clock.now += pause
        allowed += limit.allows("192.0.2.1")
        assert allowed <= burst + rate * clock.now + 1e-6


def test_addresses_do_not_share_a_bucket_but_networks_of_one_client_do() -> None:
    limit = RateLimit(1.0, 1.0, Clock())
    assert limit.allows("192.0.2.1")
    assert limit.allows("192.0.2.2")
    assert limit.allows("2001:db8::1")
    assert not limit.allows("2001:db8::ffff")
    assert limit.allows("2001:db8:0:1::1")


def test_refused_requests_do_not_make_an_address_wait_longer() -> None:
    clock = Clock()
    limit = RateLimit(1.0, 1.0, clock)
    assert [limit.allows("192.0.2.1") for _ in range(9)].count(True) == 1
    clock.now = 1.0
    assert limit.allows("192.0.2.1")


@pytest.mark.parametrize("address", [None, "127.0.0.1", "::1"])
def test_the_machine_itself_is_not_limited(address: str | None) -> None:
    limit = RateLimit(1.0, 1.0, Clock())
    assert all(limit.allows(address) for _ in range(9))


def test_no_limit_is_no_limit() -> None:
    limit = RateLimit(0.0, 1.0, Clock())
    assert all(limit.allows("192.0.2.1") for _ in range(9))


def test_memory_is_bounded_and_the_quietest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ADDRESSES", 2)
    limit = RateLimit(1.0, 1.0, Clock())
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3"):
        assert limit.allows(address)
    assert limit.allows("192.0.2.1")
    assert not limit.allows("192.0.2.3")


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 400)), max_size=40), st.integers(0, 50))
def test_bodies_that_arrive_in_part_stay_within_their_bound(parts: list[tuple[int, int]], free: int) -> None:
    """Bodies grow by pieces in any order; beyond what each has for free they never hold more than the bound."""
    arriving, sizes = Arriving(1_000, free), dict[int, int]()
    for number, piece in parts:
        before = sizes.get(number % 7, 0)
        if arriving.grow(before, before + piece):
            sizes[number % 7] = before + piece
        assert arriving.bytes == sum(max(0, size - free) for size in sizes.values()) <= 1_000
    for size in sizes.values():
        arriving.end(size)
    assert arriving.bytes == 0


@pytest.mark.parametrize("name", ["rate", "burst", "timeout"])
def test_a_limit_that_is_no_number_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be a number, got 'nan'"):
        Settings(**{name: float("nan")})


def test_a_trial_clock_is_the_same_after_a_restart() -> None:
    text = f"2027-03-01,1000,{time.time() - 10}"
    assert trial_clock(text)() == pytest.approx(1_803_859_200 + 10_000, abs=500)
    one, two = (trial_clock(text, lambda: 2e9) for _ in range(2))
    assert one() == two()
    assert trial_clock("2027-03-01,1000")() == pytest.approx(1_803_859_200, abs=500)


@pytest.mark.parametrize(
    "text", ["", "2027-03-01", "x,1", "2027-03-01,x", "2027-03-01,0", "2027-03-01,1e9", "2027-03-01,1,2,3"]
)
def test_what_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        trial_clock(text)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2027-02-30", "2027-03-01T25:00", "inf", "0001-01-01T00:00+14:00x"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a time is a moment"):
        moment(text)
