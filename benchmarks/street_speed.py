"""Seconds and memory of everything on streets, as `python -m benchmarks.streets speed` prints them.

Seconds of the clock and of the processors: on a busy machine the second say more. What is measured in this process
comes after the same with few routes, so that loops are compiled; commands are processes of their own, from the prompt
on, with the peak of their memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ldptrace.core.drawing import OffStreets
from ldptrace.curator.estimates import Estimates
from ldptrace.io import write
from ldptrace.models.routes.fitted import within
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.writer import write_roads

if TYPE_CHECKING:
    from benchmarks.streets import Town

ROUTES, SMALL, FEW, MILLION, USERS = 300_000, 8_000, 2_000, 1_000_000, 20_000
# Measures a command in a process that is small itself: the peak of a child is never below that of its parent.
MEASURE = (
    "import json, resource, subprocess, sys, time; begin = time.perf_counter(); "
    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(json.dumps([time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20]))"
)
Measured = dict[str, list[float]]


def speed(town: Town, estimates: Estimates, command: str) -> Measured:
    """Libraries, fits and a million trips written; every row is printed when it is known."""
    found: Measured = {}
    for side in (100, 316):
        roads = street_grid(side)
        _timed(
            found,
            f"library of {ROUTES:,} on {roads.nodes:,} nodes",
            partial(_drawn, roads),
        )
    roads = within(town.roads, estimates.plan.grid, estimates.plan.crs)
    routes = {many: _drawn(roads, many) for many in (FEW, ROUTES)}

    def fit(off: OffStreets, many: int) -> RouteModel:
        return RouteModel.fit(
            estimates, routes[many], np.random.default_rng(0), streets=StreetOptions(off_streets=off)
        )

    _timed(found, f"fit of {ROUTES:,} given routes", partial(fit, "never"))
    _timed(found, f"fit of {ROUTES:,} given routes, and of the path model beside it", partial(fit, "auto"))
    for many in (SMALL, ROUTES):
        _timed(
            found,
            f"search and fit of {many:,} routes, from the network on",
            lambda many: RouteModel.fit(
                estimates, town.roads, np.random.default_rng(0), streets=StreetOptions(Library(routes=many))
            ),
            many,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'all of these, peak memory':<56}{'':>18}{peak:14.2f} GiB", flush=True)
    found["all of these, peak memory"] = [peak]
    with tempfile.TemporaryDirectory() as place:
        _commands(found, town, Path(place), command)
    return found


def _commands(found: Measured, town: Town, place: Path, command: str) -> None:
    """A million trips by the commands that a user types: with the fit, and from a model that was saved."""
    trips, roads, model, out = (
        str(place / name) for name in ("trips.parquet", "roads", "m.npz", "out.parquet")
    )
    write(town.sample(USERS, 1).trips, trips)
    write_roads(town.roads, Path(roads))
    bounds = ",".join(f"{value:g}" for value in town.bounds)
    made = ["--epsilon", "1", "--grid", "6", "--bounds", bounds, "--roads", roads, "--model", model]
    for name, words in (
        (f"synthesize --roads --count {MILLION:,}", ["synthesize", trips, *made]),
        (f"sample --count {MILLION:,}", ["sample", model]),
    ):
        # Loops are compiled once on a machine.
        for count in (FEW, MILLION):
            typed = [command, *words, "-o", out, "--count", str(count)]
            said = subprocess.run([sys.executable, "-c", MEASURE, *typed], check=True, capture_output=True)
        wall, processor, memory = found[name] = json.loads(said.stdout)
        _print(name, wall, processor, memory)


def _timed(found: Measured, name: str, work: Callable[[int], object], many: int = ROUTES) -> None:
    work(FEW)
    wall, processor = time.perf_counter(), time.process_time()
    work(many)
    found[name] = [time.perf_counter() - wall, time.process_time() - processor]
    _print(name, *found[name])


def _print(name: str, wall: float, processor: float, memory: float | None = None) -> None:
    rest = "" if memory is None else f"{memory:8.2f} GiB at most"
    print(f"{name:<56}{wall:8.1f} s wall{processor:8.1f} s of processors{rest}", flush=True)


def _drawn(roads: RoadNetwork, many: int) -> Routes:
    return Library(routes=many).draw(roads, np.random.default_rng(1))


def street_grid(side: int) -> RoadNetwork:
    """Blocks of about 100 m with a third of the streets missing."""
    rng = np.random.default_rng(0)
    number = np.arange(side * side).reshape(side, side)
    here = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    there = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    kept = rng.random(len(here)) < 0.7
    here, there = here[kept], there[kept]
    i, j = np.divmod(np.arange(side * side), side)
    x, y = 100 * i + rng.normal(0, 15, side * side), 100 * j + rng.normal(0, 15, side * side)
    source, target = np.concatenate([here, there]), np.concatenate([there, here])
    return RoadNetwork.of(x, y, source, target).largest_component()
