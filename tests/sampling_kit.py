"""What a model draws must not depend on how much of it is drawn at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldptrace.core.parallel import CHUNK, chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.models.base import Along, MobilityModel, Sampler

# More than one block.
COUNT = CHUNK + 300


def assert_batches_agree(model: MobilityModel, **options: Any) -> None:
    """Batches of two sizes, the last block first, hold exactly what one sample holds."""
    whole = model.sample(COUNT, np.random.default_rng(7), **options)
    assert len(whole) == COUNT
    for size in (9_999, 20_000):
        sampler = Sampler.of(model, COUNT, np.random.default_rng(7), Along(**options))
        ranges = list(enumerate(chunks(COUNT)))
        parts = {
            number: [sampler._part(number)(*part) for part in chunks(stop - start, size)]
            for number, (start, stop) in reversed(ranges)
        }
        drawn = Trajectories.concat([part for number, _ in ranges for part in parts[number]])
        for name in ("x", "y", "offsets", "t"):
            np.testing.assert_array_equal(getattr(drawn, name), getattr(whole, name), err_msg=name)
