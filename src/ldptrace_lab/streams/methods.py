"""The streaming peers as `ldptrace stream --method` knows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.plugins import StreamMethod
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams import ldpids, retrasyn
from ldptrace_lab.streams.cells import CellStreams, clock_around
from ldptrace_lab.streams.states import Options, RetrasynOptions, Settings


def _run(
    synthesise: Callable[[CellStreams, Settings, np.random.Generator], CellStreams],
    trips: Trajectories,
    grid: Grid,
    epsilon: float,
    tick: float,
    rng: np.random.Generator,
    **options: Any,
) -> Trajectories:
    streams = CellStreams.from_trajectories(trips, grid, clock_around(trips, tick))
    drawing, placing = rng.spawn(2)
    return synthesise(streams, Settings(epsilon, **options), drawing).trajectories(placing)


RETRASYN = StreamMethod(
    "retrasyn",
    "RetraSyn (ICDE'24), population division: one report in any w ticks, a chain mended tick by tick",
    retrasyn.PUBLIC,
    partial(_run, retrasyn.retrasyn),
    RetrasynOptions,
)
LPD = StreamMethod(
    "lpd",
    "LDP-IDS (SIGMOD'22), population distribution: a release where the stream has changed, with half of what is left",
    ldpids.PUBLIC,
    partial(_run, ldpids.lpd),
    Options,
)
LPA = StreamMethod(
    "lpa",
    "LDP-IDS (SIGMOD'22), population absorption: a release where the stream has changed, with what quiet ticks saved",
    ldpids.PUBLIC,
    partial(_run, ldpids.lpa),
    Options,
)
