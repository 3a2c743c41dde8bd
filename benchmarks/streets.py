"""What the street map gives and what the reports give, told apart.

    python -m benchmarks.streets main     [--data FOLDER] [--repeats 3]   with the map, without, the map alone
    python -m benchmarks.streets ablation [--data FOLDER] [--repeats 3]   one thing at a time
    python -m benchmarks.streets epsilon  | users | grid  [--data FOLDER] budgets, crowds, cells
    python -m benchmarks.streets real     --data FOLDER                   Porto and Beijing with their networks
    python -m benchmarks.streets alone    [--data FOLDER] [--repeats 2]   the map alone, of few and of many routes
    python -m benchmarks.streets speed                                    libraries, fits, a million trips written

Oldenburg where the folder has it; generated cities, whose demand is far from uniform, otherwise and besides. Metrics on
6 x 6 cells, fine densities along the lines (against raw fixes for real taxis). Without a map means the path model with
its own shares of the questions.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import ldptrace as lt
from benchmarks import street_speed
from benchmarks.data import CITY_SIDE, OLDENBURG_BOUNDS
from benchmarks.tables import save
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import running
from ldptrace.core.timing import slow_at_ends
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.planning import outlook
from ldptrace.errors import FitWarning
from ldptrace.evaluation import controls
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.evaluation.metrics import METRICS, Reference
from ldptrace.evaluation.traces import Traces, coarser
from ldptrace.generators import city_traffic
from ldptrace.models.path.model import PathModel
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.simulation import collect

SIDES = (24, 96, 192)
SHORT = (
    "density",
    "query",
    "hotspot",
    "Kendall",
    "trip",
    "length",
    "diameter",
    "F1",
    "pattern",
    *(f"d{s}" for s in SIDES),
)
Row = dict[str, list[float]]


@dataclass(frozen=True, eq=False)
class Town:
    """Trips, their public bounds, and the public map."""

    name: str
    trips: Trajectories
    bounds: Bounds
    roads: RoadNetwork
    # Whether fine densities are measured against raw fixes: those of taxis are too far apart for lines.
    fixes: bool = False

    def sample(self, users: int, seed: int) -> Town:
        picked = np.random.default_rng(seed).integers(0, len(self.trips), users)
        return replace(self, trips=self.trips.take(picked))


class Judge:
    """Scores of synthetic sets against one town."""

    def __init__(self, town: Town) -> None:
        self.town, self.grid = town, Grid(town.bounds, 6)
        self.reference = Reference.of(town.trips, self.grid, np.random.default_rng(0))
        self.traces = Traces.of(replace(town.trips, t=None), self.grid)

    def scores(self, made: Trajectories, seed: int, *, fixes: bool = False) -> list[float]:
        """The nine metrics and the fine densities; with `fixes` those of what was made are of its points, too."""
        made = replace(made, crs=self.town.trips.crs)
        if self.town.fixes and not fixes:
            made = paced(made, self.town.roads)
        nine = self.reference.redrawn(np.random.default_rng(seed)).score(made)
        traces = Traces.of(made if self.town.fixes else replace(made, t=None), self.grid)
        real = self.traces.fixes if self.town.fixes else self.traces.along
        ours = traces.whereabouts if self.town.fixes else traces.along
        ours = traces.fixes if fixes else ours
        fine = [count_divergence(coarser(real, side), coarser(ours, side)) for side in SIDES]
        return [*(nine[name] for name in METRICS), *fine]


def paced(made: Trajectories, roads: RoadNetwork) -> Trajectories:
    """The trips with times: their own, or those that a model gives them where no speeds are known."""
    if made.t is not None:
        return made
    (across, up), steps = roads.scale, np.zeros(made.points)
    steps[1:] = np.hypot(np.diff(made.x) * across, np.diff(made.y) * up)
    steps[made.offsets[:-1]] = 0.0
    return replace(made, t=running(slow_at_ends(made.offsets, steps), made.offsets))


def oldenburg(folder: Path | None) -> Town | None:
    """The Oldenburg files with their network, if they are at hand."""
    files = [folder / f"oldenburg_brinkhoff_100k_seed{seed}.parquet" for seed in (1, 2, 3)] if folder else []
    if not files or not all(file.exists() for file in files):
        return None
    trips = Trajectories.concat([lt.read(file, min_points=1) for file in files])
    return Town("Oldenburg", trips, OLDENBURG_BOUNDS, _folder(files[0].parent, "oldenburg"))


def _folder(folder: Path, name: str) -> RoadNetwork:
    """Two tables side by side, as a folder that a reader takes."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for table in ("nodes", "edges"):
            shutil.copy(folder / f"{name}_{table}.csv", Path(place) / f"{table}.csv")
        return replace(lt.read_roads(place), name=name)


def odd_city(seed: int, trips: int = 200_000, interval: float = 15.0) -> Town:
    """A generated city: hubs, rush hours, trips that know 640 destinations; its network has travel times."""
    world, day = np.random.default_rng(seed).spawn(2)
    traffic = city_traffic(world, size=CITY_SIDE, interval=interval)
    return Town(f"city {seed}", traffic.trips(trips, day), traffic.bounds, traffic.roads)


def taxis(folder: Path) -> list[Town]:
    """Real traces with a real network, those that stay in the box."""
    towns = []
    for name, file, network, box in (
        ("Porto taxis", "porto_sample", "porto", (-8.70, 41.13, -8.55, 41.20)),
        ("T-Drive", "tdrive600_segments", "beijing", (116.24, 39.81, 116.52, 40.01)),
        ("GeoLife", "geolife_beijing_15s", "beijing", (116.24, 39.81, 116.52, 40.01)),
    ):
        trips = lt.read(folder / f"{file}.parquet", bounds=box, outside="drop", min_points=1)
        roads = replace(lt.read_roads(folder / "roads" / network), name=network)
        towns.append(Town(name, trips.take(trips.sizes > 1), box, roads, fixes=True))
    return towns


def answered(town: Town, epsilon: float, n: int, seed: int, *, for_map: bool) -> Estimates:
    """Everybody answers one question."""
    grid = Grid(town.bounds, n)
    view = outlook(len(town.trips), epsilon, n)
    plan = Plan.single_report(grid, epsilon, most_moves=view.most_moves, cap=view.cap, for_map=for_map)
    paths = CellPaths.from_trajectories(town.trips, grid)
    return Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(seed)))


def without_map(town: Town, epsilon: float = 1.0, n: int = 6) -> Callable[[int], Trajectories]:
    def make(seed: int) -> Trajectories:
        model = PathModel.fit(answered(town, epsilon, n, seed, for_map=False))
        return model.sample(len(town.trips), np.random.default_rng(seed))

    return make


def with_map(
    town: Town,
    epsilon: float = 1.0,
    n: int = 6,
    *,
    for_map: bool = True,
    second: bool = True,
    mixture: bool = True,
    **library: Any,
) -> Callable[[int], Trajectories]:
    def make(seed: int) -> Trajectories:
        rng = np.random.default_rng(100 + seed)
        estimates = answered(town, epsilon, n, seed, for_map=for_map)
        drawing = Library(**library) if library else None
        public: RoadNetwork | Routes = town.roads
        if not second:
            public = (drawing or Library()).draw(town.roads.clipped(town.bounds).largest_component(), rng)
        options = StreetOptions(drawing, "auto" if mixture else "never")
        model = RouteModel.fit(estimates, public, rng, streets=options)
        if model.off_streets:
            print(f"    {model.off_streets:.0%} off the streets")
        return model.sample(len(town.trips), rng)

    return make


def map_alone(town: Town) -> Callable[[int], Trajectories]:
    def make(seed: int) -> Trajectories:
        rng = np.random.default_rng(200 + seed)
        return RouteModel.of_map(town.roads, Grid(town.bounds, 6), rng).sample(len(town.trips), rng)

    return make


def measured(
    town: Town, makers: dict[str, Callable[[int], Trajectories]], repeats: int
) -> dict[str, list[list[float]]]:
    """Scores of every maker, printed as mean and spread."""
    judge, results = Judge(town), {}
    print(f"{town.name + f', n = {len(town.trips):,}':<40}" + "".join(f"{name:>16}" for name in SHORT))
    for name, make in makers.items():
        rows = [judge.scores(make(seed), seed) for seed in range(1, repeats + 1)]
        results[name] = rows
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) if repeats > 1 else None
        cells = [f"{m:.4f}" + ("" if spread is None else f" ±{spread[k]:.4f}") for k, m in enumerate(mean)]
        print(f"{name:<40}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    return results


def towns_of(arguments: argparse.Namespace) -> list[Town]:
    found = oldenburg(arguments.data) if arguments.towns == "all" else None
    cities = [odd_city(seed, arguments.trips) for seed in arguments.cities]
    return ([found] if found is not None else []) + cities


def main_table(arguments: argparse.Namespace) -> object:
    return {
        town.name: measured(
            town,
            {
                "without the map": without_map(town),
                "with the map": with_map(town),
                "the map alone": map_alone(town),
            },
            arguments.repeats,
        )
        for town in towns_of(arguments)
    }


def ablation(arguments: argparse.Namespace) -> object:
    results = {}
    for town in towns_of(arguments):
        slow = replace(town, roads=replace(town.roads, seconds=None))
        makers = {
            "as it is": with_map(town),
            "shares of a plan without a map": with_map(town, for_map=False),
            "one broad library only": with_map(town, second=False),
            "narrow: near ends only": with_map(town, reaches=(0.1,)),
            "only far ends": with_map(town, reaches=(math.inf,)),
            "turns cost nothing": with_map(town, turn_costs=(0.0,)),
            "one temper": with_map(town, turn_costs=(1.0,), noises=(0.15,)),
            "no noise on costs": with_map(town, noises=(0.0,)),
            "speeds unknown": with_map(slow),
            "no mixture": with_map(town, mixture=False),
            "30,000 routes": with_map(town, routes=30_000),
            "the map alone": map_alone(town),
        }
        results[town.name] = measured(town, makers, arguments.repeats)
    return results


def budgets(arguments: argparse.Namespace) -> object:
    return {
        town.name: measured(
            town,
            {f"eps {epsilon:g}": with_map(town, epsilon) for epsilon in (0.5, 1.0, 1.5, 2.0)}
            | {f"eps {epsilon:g}, no map": without_map(town, epsilon) for epsilon in (0.5, 2.0)}
            | {"the map alone": map_alone(town)},
            arguments.repeats,
        )
        for town in towns_of(arguments)
    }


def crowds(arguments: argparse.Namespace) -> object:
    results = {}
    for town in towns_of(arguments):
        for users in (10_000, 100_000, 1_000_000):
            part = town.sample(users, 1)
            makers = {"without the map": without_map(part), "with the map": with_map(part)}
            results[f"{town.name}, {users}"] = measured(
                part, makers | {"the map alone": map_alone(part)}, arguments.repeats
            )
    return results


def cells(arguments: argparse.Namespace) -> object:
    return {
        town.name: measured(
            town, {f"{n} x {n} cells": with_map(town, n=n) for n in (6, 8, 12, 18)}, arguments.repeats
        )
        for town in towns_of(arguments)
    }


def real(arguments: argparse.Namespace) -> object:
    results = {}
    for whole in taxis(arguments.data):
        # Few people were recorded: each trace is that of many users.
        town = whole.sample(100_000, 1)
        makers = {
            "without the map": without_map(town),
            "with the map": with_map(town),
            "the map alone": map_alone(town),
        }
        results[town.name] = measured(town, makers, arguments.repeats)
    return results


def alone(arguments: argparse.Namespace) -> object:
    def control(town: Town, routes: int) -> Callable[[int], Trajectories]:
        roads = town.roads.clipped(town.bounds)
        return lambda seed: controls.map_alone(roads, np.random.default_rng(seed), routes)

    return {
        town.name: measured(
            town,
            {f"{routes:,} routes": control(town, routes) for routes in (controls.ROUTES, Library().routes)}
            | {"with strides": map_alone(town)},
            arguments.repeats,
        )
        for town in towns_of(arguments)
    }


def speed(arguments: argparse.Namespace) -> object:
    town = odd_city(1, 100_000)
    return street_speed.speed(town, answered(town, 1.0, 6, 1, for_map=True), arguments.command)


PARTS = {
    "main": main_table,
    "ablation": ablation,
    "epsilon": budgets,
    "users": crowds,
    "grid": cells,
    "real": real,
    "alone": alone,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, help="folder with the experiment files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cities", type=int, nargs="*", default=[41, 42])
    parser.add_argument("--towns", choices=("all", "cities"), default="all", help="cities: without Oldenburg")
    parser.add_argument("--trips", type=int, default=200_000, help="trips of a generated city")
    beside = shutil.which("ldptrace", path=str(Path(sys.executable).parent)) or "ldptrace"
    parser.add_argument("--command", default=beside, help="speed: how ldptrace is started")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    save(arguments.out / f"streets_{arguments.part}.json", PARTS[arguments.part](arguments))


if __name__ == "__main__":
    main()
