from __future__ import annotations

import numpy as np
import pytest

from ldptrace import plugins
from ldptrace.core.trajectories import Trajectories
from ldptrace.plugins import StreamMethod
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import LPA, LPD, RETRASYN


@pytest.mark.parametrize("method", [RETRASYN, LPD, LPA])
def test_timed_trips_in_and_out(method: StreamMethod, rng: np.random.Generator) -> None:
    steps, ticks = rng.random((50, 6, 2)), np.arange(6) * 10.0
    begins = 1000 + rng.integers(0, 5, 50) * 10.0
    real = Trajectories(
        steps[..., 0].ravel(),
        steps[..., 1].ravel(),
        np.arange(0, 301, 6),
        t=(begins[:, None] + ticks).ravel(),
    )
    made = method.run(real, Grid((0.0, 0.0, 1.0, 1.0), 3), 1.0, 10.0, rng, window=4)
    assert made.t is not None
    assert real.t is not None
    assert made.t.min() >= real.t.min()
    assert made.t.max() <= real.t.max()
    assert np.all(np.diff(made.t)[np.setdiff1d(np.arange(len(made.t) - 1), made.offsets[1:-1] - 1)] == 10)
    assert "public" in method.public
    assert method.options().window == 20


def test_they_are_found_by_their_names() -> None:
    found = plugins.installed(plugins.STREAMS)
    assert plugins.load(found["retrasyn"]) is RETRASYN
    assert {"lpd", "lpa"} <= set(found)
