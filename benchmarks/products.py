"""Seconds that planners wait: a matrix by zone and hour, and vehicles on streets, of 200,000 trips.

    python -m benchmarks.products [--trips 200000] [--side 100] [--sumo 0]

Streets are a lattice of about side x side nodes; trips follow them, a point every 150 m. Each row counts the same trips
as they are and as those of a model, which come with 24 replicates of the noise. Seconds of the clock and of the
processors: on a busy machine the second say more. `--sumo` also converts that many trips for SUMO, drives them there,
and counts those that arrive.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import shapely

from benchmarks.street_speed import street_grid
from benchmarks.tables import save
from ldptrace.core.trajectories import Trajectories
from ldptrace.models.observation import REPLICATES
from ldptrace.models.routes.model import RouteModel
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.sample import Sample
from ldptrace.products.simulators import write_for
from ldptrace.products.zones import Polygons
from ldptrace.protocol.grid import Grid
from ldptrace.roads import read_roads
from ldptrace.roads.network import RoadNetwork

ZONES = 10
APART, SPEED, DAY = 150.0, 10.0, 86_400
FEW = 2_000


def day_of_trips(roads: RoadNetwork, many: int) -> Trajectories:
    """Trips along the streets, spread over a day."""
    model = RouteModel.of_map(roads, Grid(roads.bounds(), 6), np.random.default_rng(0))
    trips = model.sample(many, np.random.default_rng(1), spacing=APART)
    leaves = np.repeat(np.random.default_rng(2).integers(0, DAY, many), trips.sizes)
    since = APART / SPEED * (np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes))
    return replace(trips, t=leaves + since)


def squares(roads: RoadNetwork) -> Polygons:
    """Polygons that divide the map."""
    x0, y0, x1, y1 = roads.bounds()
    x, y = np.linspace(x0, x1, ZONES + 1), np.linspace(y0, y1, ZONES + 1)
    shapes = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for i in range(ZONES) for j in range(ZONES)]
    return Polygons("squares", tuple(map(str, range(len(shapes)))), shapes)


def timed(name: str, work: Callable[[], object]) -> dict[str, float | str]:
    begin, used = time.perf_counter(), time.process_time()
    work()
    wall, processors = time.perf_counter() - begin, time.process_time() - used
    print(f"{name:<56}{wall:8.1f} s wall{processors:8.1f} s of processors", flush=True)
    return {"name": name, "wall": wall, "processors": processors}


def counted(many: int, side: int) -> list[dict[str, float | str]]:
    """The rows of the matrix and of the flows."""
    roads = street_grid(side)
    trips, zones = day_of_trips(roads, many), squares(roads)
    redrawn = np.abs(np.random.default_rng(3).normal(1, 0.1, (REPLICATES, many))).astype(np.float32)
    rows = []
    for kind, sample in (("trips", Sample(trips)), ("model", Sample(trips, replicates=redrawn))):
        # Loops are compiled once on a machine.
        Flows.count(Sample(trips.part(0, FEW)), roads, "hour")
        words = f"of {many:,} {kind}"
        rows.append(timed(f"matrix {words}, {ZONES**2} zones", partial(Matrix.count, sample, zones, "hour")))
        rows.append(
            timed(
                f"flows {words}, {roads.nodes:,} nodes",
                partial(Flows.count, sample, roads, "hour"),
            )
        )
    return rows


def driven(many: int, side: int) -> list[dict[str, float | str]]:
    """Trips of a SUMO network, driven by SUMO itself: how many were loaded and how many arrived."""
    import sumo

    programs = Path(sumo.__file__).parent / "bin"
    rows = []
    with tempfile.TemporaryDirectory() as place:
        network = Path(place) / "grid.net.xml"
        made = [str(programs / "netgenerate"), "--grid", "--grid.number", str(side), "--grid.length", "150"]
        lanes = ["--default.lanenumber", "2", "-o", str(network)]
        subprocess.run([*made, *lanes], check=True, capture_output=True)
        trips = day_of_trips(read_roads(network), many)
        for kind, ending in (("sumo-trips", "trips.xml"), ("sumo-routes", "rou.xml")):
            file = Path(place) / f"day.{ending}"
            rows.append(
                timed(
                    f"{many:,} {kind} written",
                    partial(write_for, trips, file, kind, network),
                )
            )
            loaded = [
                str(programs / "sumo"),
                "-n",
                str(network),
                "-r",
                str(file),
                "--duration-log.statistics",
            ]
            begin = time.perf_counter()
            said = subprocess.run([*loaded, "--no-step-log"], check=True, capture_output=True, text=True)
            print(f"SUMO drove them in {time.perf_counter() - begin:.1f} s")
            shown = ("Inserted", "Running", "Waiting", "Teleports", "Error", "Warning")
            print(
                "\n".join(
                    line
                    for line in (said.stdout + said.stderr).splitlines()
                    if line.strip().startswith(shown)
                )
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trips", type=int, default=200_000)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--sumo", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    rows = counted(given.trips, given.side)
    if given.sumo:
        rows += driven(given.sumo, 30)
    save(given.out / "products.json", rows)


if __name__ == "__main__":
    main()
