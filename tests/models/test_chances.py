from __future__ import annotations

import numpy as np

from ldptrace.models.chances import Chances


def test_a_part_holds_the_chances_of_its_trips() -> None:
    whole = Chances.drawn(50, np.random.default_rng(1))
    part = whole.part(20, 40)
    for name in ("speed", "hour", "minute"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[20:40])
