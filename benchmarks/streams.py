"""Streams: RetraSyn's Oldenburg, played by standing plans, with and without the map, and with demand that changes.

    python -m benchmarks.streams [--data FOLDER] [--roads NETWORK] [--presence hidden|shown] [--change]
                                 [--remember auto] [--seeds N] [--from TICK] [--method NAME]

10,000 trips begin at tick 0 and 500 at each of 500 ticks of 15.6 s, a point every tick, cut at tick 500. With --change
four of five trips begin in the west until tick 250, and in the east after it. Without a folder of experiment files a
generated city takes their place.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import DataSet, oldenburg
from benchmarks.tables import save
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.memory import remembered
from ldptrace.engines.local import Memory
from ldptrace.errors import FitWarning, PrivacyWarning
from ldptrace.evaluation.stream_metrics import STREAM_METRICS, StreamReference
from ldptrace.methods.public import Public
from ldptrace.protocol.grid import Grid
from ldptrace.roads import read_roads
from ldptrace.streams import Settings, stream

TICK, TICKS, FIRST, EACH = 15.6, 500, 10_000, 500


def played(data: DataSet, *, change: bool = False, scale: float = 1.0, seed: int = 0) -> Trajectories:
    """The stream: trips with times, cut at the last tick."""
    first, each = round(FIRST * scale), round(EACH * scale)
    begin = np.concatenate([np.zeros(first), np.repeat(np.arange(TICKS), each)])
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.trajectories))
    chosen = _changing(data, order, begin, rng) if change else order[np.arange(len(begin)) % len(order)]
    trips = data.trajectories.take(chosen)
    within = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    t = (np.repeat(begin, trips.sizes) + within) * TICK
    kept = t <= TICKS * TICK
    offsets = np.concatenate(([0], np.cumsum(np.add.reduceat(kept, trips.offsets[:-1]))))
    return Trajectories(trips.x[kept], trips.y[kept], offsets, t=t[kept])


def _changing(
    data: DataSet, order: NDArray[np.int64], begin: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Trips such that four of five begin in the west in the first half, and in the east in the second."""
    trips, (x0, _, x1, _) = data.trajectories, data.bounds
    west = trips.x[trips.offsets[:-1]][order] < (x0 + x1) / 2
    sides = {True: order[west], False: order[~west]}
    in_west = (begin < TICKS / 2) == (rng.random(len(begin)) < 0.8)
    chosen = np.empty(len(begin), dtype=np.int64)
    for side, pool in sides.items():
        here = np.flatnonzero(in_west == side)
        chosen[here] = pool[np.arange(len(here)) % len(pool)]
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--roads", type=Path)
    parser.add_argument("--presence", choices=("hidden", "shown"), default="hidden")
    parser.add_argument("--change", action="store_true")
    parser.add_argument("--remember", default="auto")
    parser.add_argument("--step", type=int, default=50, help="ticks of a step")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--from", dest="start", type=int, nargs="+", default=[100, 250])
    parser.add_argument("--method", default="single-report")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    warnings.simplefilter("ignore", PrivacyWarning)
    data = oldenburg(options.data)
    data = replace(data, trajectories=replace(data.trajectories, t=None))
    real = played(data, change=options.change, scale=options.scale)
    roads = None if options.roads is None else read_roads(options.roads)
    grid, results = Grid(data.bounds, 6), []
    references = [
        StreamReference.of(Memory(real), lambda block: block, grid, TICK, start, np.random.default_rng(0))
        for start in options.start
    ]
    settings = Settings(
        TICK,
        options.step * TICK,
        remember=remembered(options.remember),
        presence=options.presence,
        grid=6,
        method=options.method,
    )
    print(f"{data.name}: {len(real):,} trips, {real.sizes.mean():.1f} points; {vars(options)}", flush=True)
    for seed in range(1, options.seeds + 1):
        found = stream(
            real,
            1.0,
            bounds=data.bounds,
            settings=replace(settings, seed=seed),
            public=Public.of(roads=roads),
        )
        for step in found.steps:
            said = "; ".join(str(change) for change in step.changes)
            print(
                f"  tick {step.time / TICK:5.0f}: {step.reports:6,} reports, {step.effective:9,.0f} effective, "
                f"half-life {step.half_life / TICK:5.0f}, with a trip {step.with_trip:.3f}, "
                f"{step.departures * TICK:6.1f} leave per tick, {step.seconds:.2f} s {said}",
                flush=True,
            )
        for reference in references:
            tables = reference.tables(Memory(found.trajectories), lambda block: block, "synthetic")
            scores = {
                name: value.mean for name, value in reference.values(tables).items() if name in STREAM_METRICS
            }
            start = reference.frame.clock.start
            print(
                f"seed {seed}, from tick {start}: "
                + ", ".join(f"{k[7:]} {v:.4f}" for k, v in scores.items()),
                flush=True,
            )
            results.append({"seed": seed, "from": start, **scores})
    save(options.out / "streams.json", results)


if __name__ == "__main__":
    main()
