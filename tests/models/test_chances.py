from __future__ import annotations

import numpy as np

from ldptrace.models.chances import Chances


def test_blocks_hold_what_all_trips_together_draw() -> None:
    whole = Chances.drawn(50, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    blocks = Chances.blocks([20, 20, 10], rng)
    # In any order, and any number of times.
    for number in (2, 0, 1, 1):
        part = whole.part(20 * number, min(20 * number + 20, 50))
        for name in ("speed", "hour", "minute"):
            np.testing.assert_array_equal(getattr(blocks(number), name), getattr(part, name))
    # What is drawn afterwards is what would have been.
    other = np.random.default_rng(1)
    Chances.drawn(50, other)
    assert rng.random() == other.random()
