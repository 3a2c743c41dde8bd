from __future__ import annotations

import math

import numpy as np
import pytest

from ldptrace.streams.now import WithTrip
from ldptrace.streams.rate import NOMINAL, Hidden, Shown


def test_shown_as_many_leave_as_arrived() -> None:
    rate = Shown(50.0)
    assert rate.per_second == NOMINAL / 50
    rate.add(200, WithTrip(1.0, 0.1), 100.0)
    assert rate.per_second == 4.0


def test_hidden_the_slope_of_the_number_of_devices_with_a_trip(rng: np.random.Generator) -> None:
    """10 trips end in each second from second 100 on, of 20,000 devices; known to a thousand."""
    rate = Hidden(20_000, 2000.0, 0.0)
    for time in range(50, 1000, 100):
        share = max(10 * (time - 100), 0) / 20_000
        rate.add(1000, WithTrip(share + rng.normal(0, 0.005), 0.005), float(time))
    assert rate.per_second == pytest.approx(10, rel=0.2)


def test_hidden_later_the_number_over_the_window() -> None:
    rate = Hidden(1000, 100.0, 0.0)
    for time in (50.0, 150.0, 250.0, 350.0):
        rate.add(10, WithTrip(0.5, 0.01), time)
    assert rate.per_second == pytest.approx(5.0)


def test_hidden_nothing_new_changes_nothing() -> None:
    rate = Hidden(1000, 100.0, 0.0)
    before = rate.per_second
    rate.add(0, WithTrip(0.5, 0.1), 10.0)
    rate.add(5, WithTrip(1.0, math.inf), 20.0)
    assert rate.per_second == before == 10.0
