"""Whether the answers show which kinds of drivers there are: cities whose drivers are all of one known kind, or of six.

    python -m benchmarks.kinds [--cities 101 102] [--drivers 0 3 equal quickest] [--ways learned assumed true]
                               [--grid 16] [--epsilon 5] [--trips 200000] [--repeats 1] [--out FOLDER]

Streets are those of generated cities. Trips are drawn with the routes of one kind of driver (its number among
`Library().kinds`), of all kinds in equal parts (`equal`), or of drivers who take the quickest way and pay nothing for
turns (`quickest`), between places that differ at random in how many trips begin and end there. `learned` is the method;
`assumed` keeps six kinds in equal parts, `true` draws routes of the true kind only. Shares are those the answers show,
and `odds` the logarithm of the odds for unequal ones: beyond 3 they are used.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.ndimage import gaussian_filter

from benchmarks.data import CITY_SIDE
from benchmarks.streets import SHORT, Judge, Town
from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import FitWarning
from ldptrace.generators import city_traffic
from ldptrace.models.routes import drivers
from ldptrace.models.routes.fitted import within
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import Lean, Library, Zones
from ldptrace.simulation import collect

# Zones of demand per side, and the standard deviations of the logarithms of what begins or ends in each, and of pairs.
ZONES, UNEVEN, PAIRED = 8, 1.2, 0.3
SHOWN = ("trip", "F1", "pattern", "d24", "d96", "d192")


def library_of(name: str, routes: int) -> Library:
    """The library with the routes of these drivers."""
    if name == "equal":
        return Library(routes=routes)
    price, noise = (0.0, 0.0) if name == "quickest" else Library().kinds[int(name)]
    return Library(routes=routes, turn_costs=(price,), noises=(noise,))


def town_of(city: int, name: str, trips: int) -> Town:
    """A city with trips of these drivers between places of uneven demand, a point every 15 seconds."""
    streets, demand, drawn = np.random.default_rng(city).spawn(3)
    traffic = city_traffic(streets, size=CITY_SIDE)
    grid = Grid(traffic.bounds, ZONES)
    roads = within(traffic.network, grid, None)
    zones = Zones.of(roads, grid)
    starts, ends = np.ones((2, len(zones.cell)))
    for part in (starts, ends):
        hills = gaussian_filter(demand.standard_normal((ZONES, ZONES)), 0.7).ravel()
        part[: grid.cells] = np.exp(UNEVEN * hills / hills.std())
    pairs = np.outer(starts, ends) * np.exp(PAIRED * demand.standard_normal((len(starts), len(ends))))
    pool = library_of(name, trips).pool(roads, drawn, Lean(zones.of_edge, pairs, starts, ends))
    # Routes are drawn as often as the demand says; their weights would undo it.
    return Town(
        f"city {city}, drivers {name}", pool.routes.points(interval=15.0), traffic.bounds, traffic.network
    )


def result(town: Town, name: str, way: str, seed: int, given: argparse.Namespace) -> dict[str, object]:
    """Scores of one fit, the shares that it found, and the seconds of processors that it took."""
    plan = (
        Facts(len(town.trips), given.epsilon, town.bounds, grid=given.grid, for_map=True).simulated().plan()
    )
    rng = np.random.default_rng(seed)
    estimates = Estimates.from_tally(
        plan, collect(plan, CellPaths.from_trajectories(town.trips, plan.grid), rng)
    )
    routes = library_of(name if way == "true" else "equal", given.routes)
    begin = time.process_time()
    with mock.patch.object(drivers, "CLEAR", math.inf if way == "assumed" else drivers.CLEAR):
        model = RouteModel.fit(estimates, town.roads, rng, streets=StreetOptions(routes))
    seconds = time.process_time() - begin
    scores = dict(zip(SHORT, Judge(town).scores(model.sample(len(town.trips), rng), seed), strict=True))
    found: dict[str, object] = {name: scores[name] for name in SHOWN}
    found["seconds"] = seconds
    misfit = {match.question: match.chi2 for match in model.matches}
    found |= {"links": misfit["links"], "off": model.off_streets}
    if model.drivers is not None:
        found |= {"shares": model.drivers.found.tolist(), "odds": model.drivers.odds}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cities", type=int, nargs="*", default=[101, 102])
    parser.add_argument("--drivers", nargs="*", default=["0", "3", "equal", "quickest"])
    parser.add_argument("--ways", nargs="*", default=["learned", "assumed", "true"])
    parser.add_argument("--grid", type=int, default=16)
    parser.add_argument("--epsilon", type=float, default=5.0)
    parser.add_argument("--trips", type=int, default=200_000)
    parser.add_argument("--routes", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    given.out.mkdir(parents=True, exist_ok=True)
    for city in given.cities:
        for name in given.drivers:
            town = town_of(city, name, given.trips)
            for way in given.ways:
                for seed in range(1, given.repeats + 1):
                    found = result(town, name, way, seed, given)
                    case = {"city": city, "drivers": name, "way": way, "seed": seed, "grid": given.grid}
                    with (given.out / "kinds.jsonl").open("a") as file:
                        file.write(json.dumps(case | {"epsilon": given.epsilon} | found) + "\n")
                    print(f"city {city}, drivers {name}, {way}, seed {seed}: " + _words(found), flush=True)


def _words(found: dict[str, object]) -> str:
    def word(value: object) -> str:
        return " ".join(map(word, value)) if isinstance(value, list) else f"{value:.4g}"

    return ", ".join(f"{name} {word(value)}" for name, value in found.items())


if __name__ == "__main__":
    main()
