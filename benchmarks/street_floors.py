"""How near synthetic trips on streets are to a file of trips, beside what no street model could exceed.

    python -m benchmarks.street_floors TRIPS --roads NETWORK --bounds X0,Y0,X1,Y1 [--grids 6 8 12 16] [--users N]

Fine densities of the fixes on lattices of 24, 96 and 192 cells per side. The floors: one half of the trips against the
other half, the same fixes moved to the nearest street, the lines between the same fixes at the pace of a model that
knows no speeds, without and with the duration of each trip, and quickest ways between the real ends, without and with
delays at junctions. Then the map alone, the fit without the map, and the fit on streets for each number of cells, with
noise and with hardly any (epsilon 10). The first line says how much of a trip's time each tenth of its way takes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

import ldptrace as lt
from benchmarks.streets import SHORT, Judge, Town, answered, map_alone, paced, without_map
from benchmarks.tables import save
from ldptrace.core.placement import running
from ldptrace.core.timing import slow_at_ends
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FitWarning
from ldptrace.models.base import Along, Sampler
from ldptrace.models.routes.model import RouteModel
from ldptrace.protocol.grid import Bounds
from ldptrace.roads.coverage import in_pieces
from ldptrace.roads.library import Library
from ldptrace.roads.pace import felt_lengths
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import Tree, TurnGraph

SHOWN = ("density", "trip", "F1", "pattern", "d24", "d96", "d192")
# Points of streets are this far apart, in the unit of the network's lengths, when fixes are moved to them.
NEAR = 10.0
HARDLY_ANY = 10.0
# Trips whose ends are known and whose ways are drawn.
WAYS = 2000


def snapped(town: Town) -> Trajectories:
    """The trips with every fix moved to the nearest street."""
    roads = in_pieces(town.roads.clipped(town.bounds), NEAR)
    across, up = roads.scale
    tree = cKDTree(np.c_[roads.x * across, roads.y * up])
    _, nearest = tree.query(np.c_[town.trips.x * across, town.trips.y * up])
    return replace(town.trips, x=roads.x[nearest], y=roads.y[nearest])


def halves(town: Town, seed: int) -> tuple[Town, Trajectories]:
    """A random half of the trips as a town of its own, and the other half."""
    order = np.random.default_rng(seed).permutation(len(town.trips))
    middle = len(order) // 2
    return replace(town, trips=town.trips.take(order[:middle])), town.trips.take(order[middle:])


def lasting(town: Town) -> Trajectories:
    """The lines between the fixes, each trip with its own duration, at the pace of a model within it."""
    trips = paced(replace(town.trips, t=None), town.roads)
    assert trips.t is not None
    assert town.trips.t is not None
    first, last = trips.offsets[:-1], trips.offsets[1:] - 1
    own = (town.trips.t[last] - town.trips.t[first]) / np.maximum(trips.t[last] - trips.t[first], 1e-9)
    return replace(trips, t=trips.t * np.repeat(own, trips.sizes))


def between_ends(town: Town, many: int, seed: int, *, delays: bool = False) -> Trajectories:
    """Quickest ways between the ends of some of the trips, as a library draws them: no fit, and the ends are right.

    With `delays`, more time passes near junctions, as a model without speeds has it.
    """
    # Short pieces know where trips end.
    roads = in_pieces(town.roads.clipped(town.bounds).largest_component(), 5 * NEAR)
    across, up = roads.scale
    middle = [(xy[roads.source] + xy[roads.target]) / 2 * k for xy, k in ((roads.x, across), (roads.y, up))]
    rng, library, graph = np.random.default_rng(seed), Library(), TurnGraph.of(roads)
    trips = town.trips.take(rng.integers(0, len(town.trips), many))
    first, last = trips.offsets[:-1], trips.offsets[1:] - 1
    nearest = cKDTree(np.c_[middle[0], middle[1]])
    # A little noise decides between the two directions of a street.
    start, end = (
        nearest.query(np.c_[trips.x[at] * across, trips.y[at] * up] + rng.normal(0, 0.1, (many, 2)))[1]
        for at in (first, last)
    )
    priced = [graph.priced(price) for price in library.turn_costs]
    tree, ways = Tree(graph.edges), []
    for number in range(many):
        kind, noise = number % len(priced), library.noises[number // len(priced) % len(library.noises)]
        felt = graph.cost * np.exp(noise * rng.standard_normal(graph.edges)[graph.streets])
        tree.grow(priced[kind], felt, int(start[number]))
        # A few dead ends cannot be left or entered without turning round.
        if np.isfinite(tree.cost[end[number]]):
            ways.append(tree.ways(np.array([end[number]], dtype=np.int32))[0].tolist())
    if not delays:
        return Routes.of(roads, ways).points(spacing=2 * NEAR)
    drawn = Routes.of(replace(roads, seconds=felt_lengths(roads)), ways).points(spacing=2 * NEAR)
    assert drawn.t is not None
    felt = slow_at_ends(drawn.offsets, np.diff(drawn.t, prepend=0.0))
    return replace(drawn, t=running(felt, drawn.offsets))


def tenths(town: Town, fewest: int = 6, shortest: float = 1000.0) -> list[float]:
    """The part of its time that each tenth of a trip's way takes: mean of trips with a few fixes and some length."""
    trips = town.trips.take(town.trips.sizes >= fewest)
    assert trips.t is not None
    across, up = town.roads.scale
    way = running(
        np.hypot(np.diff(trips.x, prepend=0.0) * across, np.diff(trips.y, prepend=0.0) * up), trips.offsets
    )
    first, last = trips.offsets[:-1], trips.offsets[1:] - 1
    moving = (way[last] >= shortest) & (trips.t[last] > trips.t[first])
    number = np.repeat(2.0 * np.arange(len(trips)), trips.sizes)
    share = np.minimum(way / np.repeat(np.where(moving, way[last], 1.0), trips.sizes), 1.0)
    passed = trips.t - np.repeat(trips.t[first], trips.sizes)
    passed /= np.repeat(np.where(moving, trips.t[last] - trips.t[first], 1.0), trips.sizes)
    # Shares run from 0 to 1 on each trip; with its number they run on over all trips.
    ends = 2.0 * np.flatnonzero(moving)[:, None] + np.linspace(0, 1, 11)
    found = np.diff(np.interp(ends, number + share, number + passed), axis=1).mean(axis=0)
    return [float(part) for part in found]


class Table:
    """Rows of scores, printed as they come: mean and spread."""

    def __init__(self) -> None:
        self.rows: dict[str, list[list[float]]] = {}
        print(f"{'':<34}" + "".join(f"{name:>16}" for name in (*SHOWN, "off", "seconds")), flush=True)

    def add(self, name: str, make: Callable[[int], list[float]], repeats: int) -> None:
        rows = [make(seed) for seed in range(1, repeats + 1)]
        self.rows[name] = rows
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
        cells = [
            f"{m:.4f} ±{s:.4f}" if repeats > 1 else f"{m:.4f}" for m, s in zip(mean, spread, strict=True)
        ]
        print(f"{name:<34}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def shown(scores: list[float], off: float = 0.0, seconds: float = 0.0) -> list[float]:
    """The scores that the table shows, the share of trips off the streets, and what a fit takes."""
    named = dict(zip(SHORT, scores, strict=True))
    return [*(named[name] for name in SHOWN), off, seconds]


def fitted(town: Town, judge: Judge, epsilon: float, n: int) -> Callable[[int], list[float]]:
    """Scores of trips on streets."""

    def make(seed: int) -> list[float]:
        rng, estimates = np.random.default_rng(100 + seed), answered(town, epsilon, n, seed, for_map=True)
        begin = time.process_time()
        model = RouteModel.fit(estimates, town.roads, rng)
        seconds = time.process_time() - begin
        off = model.elsewhere + (1 - model.elsewhere) * model.off_streets
        drawn = Sampler.of(model, len(town.trips), rng, Along(timed=True)).trips()
        return shown(judge.scores(model.labelled(drawn), seed), off, seconds)

    return make


def table(
    whole: Town, town: Town, epsilon: float, grids: list[int], repeats: int
) -> dict[str, list[list[float]]]:
    """All rows of a town, whose users may be drawn from fewer trips, those of the `whole`."""
    judge, found = Judge(town), Table()

    def half(seed: int) -> list[float]:
        one, other = halves(whole, seed)
        # The fixes of the other half, as they are: not along lines.
        return shown(Judge(one).scores(other, seed, fixes=True))

    found.add("half against half", half, repeats)
    found.add(
        "fixes on the nearest street", lambda seed: shown(judge.scores(snapped(town), seed, fixes=True)), 1
    )
    lines = replace(town.trips, t=None)
    found.add("the lines between the same fixes", lambda seed: shown(judge.scores(lines, seed)), 1)
    if town.trips.t is not None:
        found.add("... each with its own duration", lambda seed: shown(judge.scores(lasting(town), seed)), 1)
    ways, delayed = (between_ends(town, WAYS, 1, delays=delays) for delays in (False, True))
    found.add("quickest ways between the real ends", lambda seed: shown(judge.scores(ways, seed)), 1)
    found.add("... with delays at junctions", lambda seed: shown(judge.scores(delayed, seed)), 1)
    found.add("the map alone", lambda seed: shown(judge.scores(map_alone(town)(seed), seed)), repeats)
    found.add(
        "no map, 6 x 6 cells",
        lambda seed: shown(judge.scores(without_map(town, epsilon)(seed), seed)),
        repeats,
    )
    for n in grids:
        found.add(f"{n} x {n} cells", fitted(town, judge, epsilon, n), repeats)
    found.add(f"{grids[0]} x {grids[0]}, hardly any noise", fitted(town, judge, HARDLY_ANY, grids[0]), 1)
    return found.rows


def bounds_of(text: str) -> Bounds:
    x0, y0, x1, y1 = (float(part) for part in text.split(","))
    return x0, y0, x1, y1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trips", type=Path)
    parser.add_argument("--roads", type=Path, required=True)
    parser.add_argument("--bounds", type=bounds_of, required=True)
    parser.add_argument("--grids", type=int, nargs="*", default=[6, 8, 12, 16])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--users", type=int, help="this many users, drawn from the trips with replacement")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    trips = lt.read(arguments.trips, bounds=arguments.bounds, outside="cut", min_points=2)
    whole = Town(arguments.trips.stem, trips, arguments.bounds, lt.read_roads(arguments.roads), fixes=True)
    town = whole if arguments.users is None else whole.sample(arguments.users, 1)
    print(f"{town.name}: {len(town.trips):,} trips on {town.roads!r}, epsilon {arguments.epsilon:g}")
    if trips.t is not None:
        print("time by tenth of the way: " + " ".join(f"{part:.3f}" for part in tenths(whole)))
    rows = table(whole, town, arguments.epsilon, arguments.grids, arguments.repeats)
    save(arguments.out / f"street_floors_{town.name}.json", rows)


if __name__ == "__main__":
    main()
