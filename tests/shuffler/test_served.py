"""What a shuffler takes from a plan."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.shuffler.served import NO_WINDOW, Served
from server_kit import TELLING
from shuffler_kit import BATCH, HOUR, NOW, sealed, standing, telling


def test_sizes_and_batches_are_those_of_the_plan() -> None:
    plan = telling()
    served = Served.of(plan)
    assert (served.size, served.shuffled.batch) == (len(sealed(plan, 1).body), BATCH)
    with pytest.raises(InputError, match="not shuffled"):
        Served.of(TELLING)
    most = (256 << 20) // served.size
    assert Served.of(telling(batch=most)).shuffled.batch == most
    with pytest.raises(InputError, match=f"at most {most:,} reports, so one of at least {most + 1:,}"):
        Served.of(telling(batch=most + 1))


def test_the_batch_of_a_plan_without_windows_is_open_until_its_end() -> None:
    served = Served.of(telling())
    assert [served.open(NO_WINDOW, now) for now in (0, NOW, NOW + HOUR - 1, NOW + HOUR)] == [True] * 3 + [
        False
    ]
    assert not served.open(0, NOW)


def test_windows_are_open_from_a_day_before_until_every_device_has_answered() -> None:
    served = Served.of(standing())
    first, last = served.span(4)
    assert (first, last) == (NOW + 4 * HOUR - 86_400, NOW + 6 * HOUR + HOUR // 2)
    assert [served.open(4, now) for now in (first - 1, first, last - 1, last)] == [False, True, True, False]
    assert not any(served.open(window, NOW) for window in (NO_WINDOW, -5, MAX_WINDOW + 1))
