"""The streaming peers as `ldptrace stream --method` knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.plugins import StreamMethod
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams import ldpids, retrasyn
from ldptrace_lab.streams.cells import CellStreams, clock_around
from ldptrace_lab.streams.states import Options, RetrasynOptions, Settings


def _method(
    name: str,
    summary: str,
    public: str,
    synthesise: Callable[[CellStreams, Settings, np.random.Generator], CellStreams],
    options: type = Options,
) -> StreamMethod:
    def run(
        trips: Trajectories, grid: Grid, epsilon: float, tick: float, rng: np.random.Generator, **options: Any
    ) -> Trajectories:
        streams = CellStreams.from_trajectories(trips, grid, clock_around(trips, tick))
        drawing, placing = rng.spawn(2)
        return synthesise(streams, Settings(epsilon, **options), drawing).trajectories(placing)

    return StreamMethod(name, summary, public, run, options)


RETRASYN = _method(
    "retrasyn",
    "RetraSyn (ICDE'24), population division: one report in any w ticks, a chain mended tick by tick",
    retrasyn.PUBLIC,
    retrasyn.retrasyn,
    RetrasynOptions,
)
LPD = _method(
    "lpd",
    "LDP-IDS (SIGMOD'22), population distribution: a release where the stream has changed, with half of what is left",
    ldpids.PUBLIC,
    ldpids.lpd,
)
LPA = _method(
    "lpa",
    "LDP-IDS (SIGMOD'22), population absorption: a release where the stream has changed, with what quiet ticks saved",
    ldpids.PUBLIC,
    ldpids.lpa,
)
