"""Streams: RetraSyn's Oldenburg and generated cities, played by standing plans, and demand that changes.

    python -m benchmarks.streams SCENE [--data FOLDER] [--map] [--presence hidden|shown]
                                 [--seeds 1 2 3] [--from TICK ...] [--step TICKS] [--every TICKS] [--remember auto]
                                 [--method NAME]
    python -m benchmarks.streams SCENE --named                                # only what is named as a change
    python -m benchmarks.streams SCENE --held STEPS                           # memory and time of many steps
    python -m benchmarks.streams day --draw FILES --out PICTURE               # results of several runs over time

oldenburg: 10,000 trips begin at tick 0 and 500 at each of 500 ticks of 15.6 s, a point every tick, cut at tick 500.
side: four of five trips begin in the west until tick 250, and in the east after it.
middle: four of five trips begin in the middle of the map until tick 250, and around it after that.
quarter: from tick 250 on twice as many trips begin in the north-east quarter of the map.
closed: from tick 250 on no trip passes a tenth by a fifth of the map, north of its middle; a third of all did before.
city: trips of a generated city, whose demand is odd, on the clock of Oldenburg, 100,000 of them.
day: a day of the same city with its rush hours, ticks of 60 s.
Every seed has arrivals and noise of its own. Without the experiment files a generated city takes Oldenburg's place.
"""

from __future__ import annotations

import argparse
import gc
import mmap
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.streets import Town, odd_city, oldenburg
from benchmarks.tables import save
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.memory import Memory
from ldptrace.curator.tally import Tally
from ldptrace.errors import FitWarning, PrivacyWarning
from ldptrace.evaluation.controls import map_alone
from ldptrace.evaluation.stream_metrics import STREAM_METRICS, StreamReference
from ldptrace.evaluation.streams import Clock, Frame, StreamTables, spans
from ldptrace.methods.public import Public
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads import RoadNetwork
from ldptrace.streams.now import Now
from ldptrace.streams.occasions import Occasions, tally_of_step
from ldptrace.streams.run import facts_of, stream
from ldptrace.streams.settings import WARM_UP, Settings, remembered

TICK, TICKS, FIRST, EACH = 15.6, 500, 10_000, 500
CELLS = 6
CHANGES = ("side", "middle", "quarter", "closed")
NAMES = [name.removeprefix("stream_") for name in STREAM_METRICS]
# The generated city: its number, trips, and the seconds of a tick of its day.
CITY, CITY_TRIPS, DAY_TICK = 7, 100_000, 60.0


@dataclass(frozen=True, eq=False)
class Scene:
    """What is played: the trips of a town and its public map, which may be left unused."""

    name: str
    town: Town
    with_map: bool
    tick: float = TICK

    @staticmethod
    def of(name: str, data: Path | None, with_map: bool) -> Scene:
        if name in ("city", "day"):
            tick = DAY_TICK if name == "day" else TICK
            return Scene(name, odd_city(CITY, CITY_TRIPS, tick), with_map, tick)
        return Scene(name, oldenburg(data) or odd_city(1, 300_000, TICK), with_map)

    @property
    def roads(self) -> RoadNetwork | None:
        return self.town.roads if self.with_map else None

    @property
    def bounds(self) -> Bounds:
        return self.town.bounds

    @property
    def trips(self) -> Trajectories:
        return self.town.trips

    def played(self, seed: int) -> Trajectories:
        """The stream: trips with times, cut at the last tick."""
        if self.name == "day":
            return self.trips
        share = 1.0 if self.name != "city" else CITY_TRIPS / (FIRST + TICKS * EACH)
        first, each = round(FIRST * share), round(EACH * share)
        begin = np.concatenate([np.zeros(first), np.repeat(np.arange(TICKS), each)])
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.trips))
        trips = self.trips.take(self._chosen(order, begin, rng))
        within = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
        t = (TICK * (np.repeat(begin, trips.sizes) + within)).astype(np.float64)
        kept = t <= TICKS * TICK
        offsets = np.concatenate(([0], np.cumsum(np.add.reduceat(kept, trips.offsets[:-1]))))
        return Trajectories(trips.x[kept], trips.y[kept], offsets, t=t[kept])

    def _chosen(
        self, order: NDArray[np.int64], begin: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The trip that begins at each place of the stream."""
        if self.name not in CHANGES:
            return order[np.arange(len(begin)) % len(order)]
        special, before, after = self._special
        wanted = rng.random(len(begin)) < np.where(begin < TICKS / 2, before, after)
        chosen = np.empty(len(begin), dtype=np.int64)
        for kind in (True, False):
            here, pool = np.flatnonzero(wanted == kind), order[special[order] == kind]
            chosen[here] = pool[np.arange(len(here)) % len(pool)]
        return chosen

    @cached_property
    def _special(self) -> tuple[NDArray[np.bool_], float, float]:
        """The trips whose share changes, and their share before and after."""
        x0, y0, x1, y1 = self.bounds
        x, y = (self.trips.x - x0) / (x1 - x0), (self.trips.y - y0) / (y1 - y0)
        first = self.trips.offsets[:-1]
        if self.name == "side":
            return x[first] < 0.5, 0.8, 0.2
        if self.name == "middle":
            return np.maximum(np.abs(x - 0.5), np.abs(y - 0.5))[first] < 0.25, 0.8, 0.2
        if self.name == "quarter":
            there = (x[first] > 0.5) & (y[first] > 0.5)
            share = float(there.mean())
            return there, share, 2 * share / (1 + share)
        closed = (np.abs(x - 0.5) < 0.05) & (y > 0.5) & (y < 0.7)
        passing = np.logical_or.reduceat(closed, first)
        return passing, float(passing.mean()), 0.0


def reported(
    scene: Scene, options: argparse.Namespace, seed: int
) -> tuple[Plan, Iterator[tuple[float, Tally]]]:
    """The plan of a stream, and the reports of each step with the seconds until its end."""
    trips, rng = scene.played(seed), np.random.default_rng(seed)
    assert trips.t is not None
    start, end, length = float(trips.t.min()), float(trips.t.max()), options.step * scene.tick
    plan = facts_of(len(trips), 1.0, scene.bounds, None, CELLS, for_map=options.map).plan()
    if options.presence == "shown":
        occasions = Occasions.shown(trips, (start, end))
    else:
        every = end - start if options.every is None else options.every * scene.tick
        occasions = Occasions.hidden(trips, np.arange(len(trips)), every, (start, end), rng)

    def steps() -> Iterator[tuple[float, Tally]]:
        for number in range(int(np.ceil((end - start) / length))):
            begin, until = start + number * length, start + (number + 1) * length
            which = occasions.between(begin if number else -np.inf, until)
            yield until - start, tally_of_step(plan, trips, which, rng)

    return plan, steps()


def named(scene: Scene, options: argparse.Namespace, seed: int) -> int:
    """What the memory of a curator names as changes in one stream, without any fit; how many."""
    plan, steps = reported(scene, options, seed)
    length, found = options.step * scene.tick, 0
    memory = Memory(plan, length, remembered(options.remember), warm_up=WARM_UP)
    for until, tally in steps:
        for change in memory.add(tally, until):
            found += 1
            print(f"  tick {until / scene.tick:5.0f}: {change}", flush=True)
    print(f"seed {seed}: {found} changes named, remembered {memory.words} at the end", flush=True)
    return found


def held(scene: Scene, options: argparse.Namespace) -> None:
    """Memory and time of a model of now whose stream is played again and again."""
    plan, steps = reported(scene, options, options.seeds[0])
    tallies, length = [tally for _, tally in steps], options.step * scene.tick
    now = Now(plan, length, remember=remembered(options.remember), public=scene.roads, warm_up=WARM_UP)
    begun, tenth = time.process_time(), max(options.held // 10, 1)
    for number in range(1, options.held + 1):
        now.add(tallies[number % len(tallies)], number * length)
        if number % tenth == 0:
            gc.collect()
            megabytes = int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 1e6
            spent = (time.process_time() - begun) / tenth
            print(f"after {number:5,} steps: {megabytes:.0f} MB, {spent:.2f} s per step", flush=True)
            begun = time.process_time()


def measured(scene: Scene, options: argparse.Namespace, seed: int) -> list[dict[str, Any]]:
    """One stream, its steps, and its metrics from several ticks on, beside what the map alone gives."""
    real, results = scene.played(seed), list[dict[str, Any]]()
    settings = Settings(
        scene.tick,
        options.step * scene.tick,
        None if options.every is None else options.every * scene.tick,
        remember=remembered(options.remember),
        presence=options.presence,
        grid=CELLS,
        method=options.method,
        seed=seed,
    )
    begun = time.process_time()
    found = stream(real, 1.0, bounds=scene.bounds, settings=settings, public=Public.of(roads=scene.roads))
    print(
        f"seed {seed}: {len(real):,} trips, {real.sizes.mean():.1f} points; "
        f"{time.process_time() - begun:.0f} processor seconds"
    )
    for step in found.steps:
        said = "; ".join(str(change) for change in step.changes)
        print(
            f"  until {step.time / scene.tick:5.0f}: {step.reports:6,} reports, {step.effective:9,.0f} effective, "
            f"half-life {step.half_life / scene.tick:5.0f}, with a trip {step.with_trip:.3f}, "
            f"{step.departures * scene.tick:6.1f} leave per tick, {step.seconds:.2f} s {said}",
            flush=True,
        )
    for start in options.start:
        reference = reference_of(scene, real, start)
        synthetic = StreamTables.of(found.trajectories, reference.frame)
        results.append({"seed": seed, "from": start, **scores(reference, synthetic)})
        print(_line(f"seed {seed}, from tick {start}", results[-1]), flush=True)
        results[-1]["course"] = course(reference, synthetic)
        for name, tables in reference.controls.items():
            results[-1][name] = scores(reference, tables)
            print(_line(f"  {name}", results[-1][name]), flush=True)
    return results


def reference_of(scene: Scene, real: Trajectories, start: int) -> StreamReference:
    """The real side without floor, beside the map alone where there is one."""
    rng, times = np.random.default_rng(0), spans(real)
    frame = Frame.of(Grid(scene.bounds, CELLS), Clock.of(times, scene.tick, start), rng)
    tables = StreamTables.of(real, frame)
    found = StreamReference(frame, tables, tables, tables, times[0][0], {})
    if scene.roads is None:
        return found
    return found.with_map(map_alone(scene.roads.largest_component(), rng), rng)


def scores(reference: StreamReference, tables: StreamTables) -> dict[str, float]:
    pair = reference.pair(tables)
    return {name.removeprefix("stream_"): metric.of(pair) for name, metric in STREAM_METRICS.items()}


def course(reference: StreamReference, tables: StreamTables) -> dict[str, list[float]]:
    """People on the way and the density error tick by tick, the real ones and those of the map alone beside them."""
    sides = {"real": reference.real, "synthetic": tables, **reference.controls}
    found: dict[str, list[float]] = {
        "tick": [reference.frame.clock.tick],
        "from": [reference.frame.clock.start],
    }
    for name, side in sides.items():
        whole = reference.course(side)
        found[f"{name} present"] = whole["present"]
        found[f"{name} density"] = whole["density_error"]
    return found


def draw(files: list[Path], target: Path) -> None:
    """How several streams of one scene go over time: files of results, each named by what it is."""
    import json

    import matplotlib.pyplot as plt

    # Fixed names inside the file, so that a rerun changes only what changed.
    plt.rcParams["svg.hashsalt"] = "streams"
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    for number, file in enumerate(files):
        found = json.loads(file.read_text())[0]["course"]
        lines = [("synthetic", file.stem.replace("-", " "), f"C{number}")]
        hours = (found["from"][0] + np.arange(len(found["real present"]))) * found["tick"][0] / 3600
        if number == 0:
            above.plot(hours, found["real present"], color="0.4", label="real")
            lines.append(("map_alone", "the map alone", "0.7"))
        for name, label, colour in lines:
            if f"{name} present" in found:
                above.plot(hours, found[f"{name} present"], color=colour, label=label)
                below.plot(hours, found[f"{name} density"], color=colour, label=label)
    above.set_ylabel("people on the way")
    above.legend(frameon=False)
    below.set(ylabel="density error", xlabel="hour", ylim=(0, 0.3))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})


def _line(head: str, values: dict[str, Any]) -> str:
    return f"{head}: " + ", ".join(f"{name} {values[name]:.4f}" for name in NAMES)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scene", choices=("oldenburg", *CHANGES, "city", "day"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--map", action="store_true")
    parser.add_argument("--presence", choices=("hidden", "shown"), default="hidden")
    parser.add_argument("--remember", default="auto")
    parser.add_argument("--step", type=int, default=50, help="ticks of a step")
    parser.add_argument("--every", type=int, help="ticks in which a device with hidden presence answers once")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--from", dest="start", type=int, nargs="+", default=[100])
    parser.add_argument("--method", default="single-report")
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--held", type=int, metavar="STEPS")
    parser.add_argument("--draw", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/streams.json"))
    options = parser.parse_args()
    if options.draw:
        draw(options.draw, options.out)
        return
    warnings.simplefilter("ignore", FitWarning)
    warnings.simplefilter("ignore", PrivacyWarning)
    scene = Scene.of(options.scene, options.data, options.map)
    print(f"{options.scene}: {options.presence}, {'with' if options.map else 'without'} the map", flush=True)
    if options.named:
        found = [named(scene, options, seed) for seed in options.seeds]
        print(f"{sum(map(bool, found))} of {len(found)} runs name a change")
        return
    if options.held:
        held(scene, options)
        return
    results = [row for seed in options.seeds for row in measured(scene, options, seed)]
    for start in options.start:
        rows = [row for row in results if row["from"] == start]
        mean = {name: float(np.mean([row[name] for row in rows])) for name in NAMES}
        print(_line(f"mean of {len(rows)} from tick {start}", mean))
        if len(rows) > 1:
            spread = {name: float(np.std([row[name] for row in rows], ddof=1)) for name in NAMES}
            print(_line("  standard deviation", spread))
    save(options.out, results)


if __name__ == "__main__":
    main()
