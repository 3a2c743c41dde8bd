from __future__ import annotations

import numpy as np

from ldptrace.models.time_draws import TimeDraws


def test_a_part_holds_the_draws_of_its_trips() -> None:
    whole = TimeDraws.drawn(50, np.random.default_rng(1))
    part = whole.part(20, 40)
    for name in ("speed", "hour", "minute"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[20:40])
