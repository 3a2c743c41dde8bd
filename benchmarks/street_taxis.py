"""Taxis with a fix a minute on a map without speeds: where the error of trips on streets comes from, by cells.

    python -m benchmarks.street_taxis parts [--towns 7 8 porto] [--data FOLDER]              where the error comes from
    python -m benchmarks.street_taxis cells [--towns 7 8 porto] [--data FOLDER] [--repeats 3]  6 to 16 cells, and auto

A town is the seed of a generated city of 12 km a side with one-way streets, or a network of the folder `roads`. Drivers
have five tastes in equal parts: how much time counts beside length, and by how much costs vary. Turns cost them
nothing. In the generated cities the lines between their fixes are 1.2 times as long as the crow flies at the median
and 1.6 at the 90th percentile, half of the fixes are more than 270 m apart, and a fix is so far off its street that
moving it there changes d192 by .02: all nearly as with San Francisco's taxis. The map that a fit gets has lengths and
one-way streets, no speeds and no classes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import ldptrace as lt
from benchmarks.street_floors import HARDLY_ANY, Table, between_ends, fitted, halves, shown, snapped
from benchmarks.streets import Judge, Town
from benchmarks.tables import save
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.planning import choose_grid
from ldptrace.errors import FitWarning
from ldptrace.generators.cities import network_traffic
from ldptrace.generators.legs import Recorder, grow
from ldptrace.generators.streets import CLASSES, CityMap
from ldptrace.generators.traffic import Attraction, Traffic
from ldptrace.roads.network import RoadNetwork

# How much time counts beside length, and the standard deviation of the logarithm of costs.
TASTES = ((1.0, 0.2), (1.0, 0.5), (1.0, 0.8), (0.5, 0.5), (0.0, 0.5))
SIDE, ONE_WAY = 12_000.0, 0.3
# Traffic is slower than the empty road of a generated city, and of a map's classes.
SLOWER_CITY, SLOWER_MAP = 1.25, 1.6
MINUTE, DENSE, GPS = 60.0, 5.0, 15.0
# Taxis serve few places: how much more the great hubs attract, and the share of other ends that are anywhere.
PULL, HOMES = 1.5, 0.3
# Mean duration of a trip.
MINUTES = 9.5
# Trips whose ends are known and whose ways are drawn.
WAYS = 5000
CELLS = (6, 8, 10, 12, 16)


@dataclass(frozen=True, eq=False)
class Taxis:
    """Traffic whose drivers have several tastes, all with the same ends."""

    tastes: tuple[Traffic, ...]

    @staticmethod
    def of(traffic: Traffic, seed: int) -> Taxis:
        return Taxis((traffic,) * len(TASTES)).redrawn(seed)

    def redrawn(self, seed: int) -> Taxis:
        """Drivers of the same tastes whose costs vary otherwise."""
        traffic, rng = self.tastes[0], np.random.default_rng((seed, 1))
        assert traffic.roads.seconds is not None
        mean = traffic.roads.seconds.sum() / traffic.roads.length.sum()
        return Taxis(
            tuple(
                replace(traffic, trees=grow(traffic.roads, traffic.places, cost, spread=spread, rng=rng)[0])
                for time, spread in TASTES
                for cost in (traffic.roads.seconds**time * (mean * traffic.roads.length) ** (1 - time),)
            )
        )

    def trips(self, count: int, seed: int, *, dense: bool = False) -> Trajectories:
        """The same trips for the same seed: a noisy fix a minute, or the whole way with its times."""
        parts = []
        for number, traffic in enumerate(self.tastes):
            recorder = traffic.recorder._replace(interval=DENSE, noise=0.0) if dense else traffic.recorder
            driven = replace(traffic, recorder=recorder)
            parts.append(driven.trips(count // len(TASTES), np.random.default_rng((seed, number))))
        return Trajectories.concat(parts)

    def town(self, name: str, count: int, seed: int) -> Town:
        roads = self.tastes[0].network
        unknown = replace(roads, seconds=None, road_class=np.full(roads.edges, -1), classes=())
        trips = self.trips(count, seed)
        return Town(name, trips, self.tastes[0].bounds, replace(unknown, name=name), fixes=True)


def one_way(roads: RoadNetwork, share: float, rng: np.random.Generator) -> RoadNetwork:
    """The network with a share of its streets open in one direction only, where all of it can still be reached."""
    streets = np.flatnonzero(roads.opposite > np.arange(roads.edges))
    some = streets[rng.random(len(streets)) < share]
    kept = np.ones(roads.edges, dtype=bool)
    kept[np.where(rng.random(len(some)) < 0.5, some, roads.opposite[some])] = False
    return roads.take_edges(kept).largest_component()


def slower(roads: RoadNetwork, factor: float) -> RoadNetwork:
    assert roads.seconds is not None
    return replace(roads, seconds=factor * roads.seconds)


def generated(seed: int) -> Traffic:
    """Traffic of a city that does not exist, with one-way streets."""
    rng = np.random.default_rng(seed)
    drawn = CityMap.generate(SIDE, rng)
    roads = slower(one_way(drawn.roads.network(CLASSES, "city"), ONE_WAY, rng), SLOWER_CITY)
    hubs = drawn.hubs
    visits = Attraction.around(roads, hubs.x, hubs.y, hubs.pull**PULL, hubs.reach).visits
    attraction = Attraction(visits, HOMES / roads.nodes + (1 - HOMES) * visits / visits.sum())
    recorder, bounds = Recorder.driving(MINUTE, GPS), (0.0, 0.0, drawn.size, drawn.size)
    return Traffic.prepare(roads, attraction, recorder, MINUTES, bounds, rng)


def taxis_of(name: str, folder: Path | None) -> Taxis:
    """Those of a generated city, named by its seed, or of a network in the folder."""
    if name.isdigit():
        return Taxis.of(generated(int(name)), int(name))
    if folder is None:
        raise SystemExit(f"the network {name} needs --data")
    roads = slower(lt.read_roads(folder / "roads" / name), SLOWER_MAP)
    return Taxis.of(network_traffic(roads, None, 1, interval=MINUTE, noise=GPS, minutes=MINUTES), 1)


def parts(taxis: Taxis, town: Town, many: int) -> dict[str, list[list[float]]]:
    """What the error is made of: one thing after the other is no longer known."""
    judge, found = Judge(town), Table()
    known = replace(town, roads=taxis.tastes[0].network)

    def row(name: str, made: Callable[[], Trajectories], *, fixes: bool = False) -> None:
        found.add(name, lambda seed: shown(judge.scores(made(), seed, fixes=fixes)), 1)

    one, other = halves(town, 1)
    found.add("half against half", lambda seed: shown(Judge(one).scores(other, seed, fixes=True)), 1)
    row("fixes on the nearest street", lambda: snapped(town), fixes=True)
    row("the true ways with their times", lambda: taxis.trips(many, 1, dense=True))
    row("... at the pace of a model", lambda: replace(taxis.trips(many, 1, dense=True), t=None))
    row("true ends, drivers drawn again", lambda: taxis.redrawn(2).trips(many, 1, dense=True))
    row("... at the pace of a model", lambda: replace(taxis.redrawn(2).trips(many, 1, dense=True), t=None))
    row(f"{WAYS} of these trips", lambda: replace(taxis.redrawn(2).trips(WAYS, 1, dense=True), t=None))
    row("true ends, ways of a library", lambda: between_ends(town, WAYS, 1))
    row("... on a map with speeds", lambda: between_ends(known, WAYS, 1))
    for epsilon in (HARDLY_ANY, 1.0):
        found.add(f"fit, 8 x 8 cells, epsilon {epsilon:g}", fitted(town, judge, epsilon, 8), 1)
    found.add("fit, 8 x 8 cells, map with speeds", fitted(known, judge, 1.0, 8), 1)
    return found.rows


def cells(town: Town, repeats: int) -> dict[str, list[list[float]]]:
    """Fits of several numbers of cells at epsilon 1."""
    judge, found = Judge(town), Table()
    auto = choose_grid(len(town.trips), 1.0, for_map=True)
    for n in sorted({*CELLS, auto}):
        chosen = " (auto)" if n == auto else ""
        found.add(f"{n} x {n} cells{chosen}", fitted(town, judge, 1.0, n), repeats)
    return found.rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("parts", "cells"))
    parser.add_argument("--towns", nargs="*", default=["7", "8"])
    parser.add_argument("--data", type=Path, help="folder with the experiment files")
    parser.add_argument("--trips", type=int, default=350_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    results = {}
    for name in arguments.towns:
        taxis = taxis_of(name, arguments.data)
        town = taxis.town(f"taxis {name}", arguments.trips, 1)
        print(f"{town.name}: {len(town.trips):,} trips on {town.roads!r}")
        if arguments.part == "parts":
            results[town.name] = parts(taxis, town, arguments.trips)
        else:
            results[town.name] = cells(town, arguments.repeats)
    save(arguments.out / f"street_taxis_{arguments.part}.json", results)


if __name__ == "__main__":
    main()
