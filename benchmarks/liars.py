"""What liars reach: people who lie about their trips, and clients that forge the bytes of reports.

    python -m benchmarks.liars [--users 100000] [--repeats 3] [--epsilons 1,4] [--data FOLDER] [--map]

All liars claim one and the same trip, which hardly anybody makes: four cells in a row. For each share of liars and each
way to lie: the share of synthetic trips that hold these four cells in order (the pattern, as in the attack TraP), that
visit the second of them (the cell), and that lead from the district of the first to that of the last (the pair); and
what is noticed. With `--map`, the city is fitted on its streets, and the pattern's cells are those of a street.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import ldptrace as lt
from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import save
from ldptrace.audit.poisoning import forged
from ldptrace.core.arrays import Ints
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.curator.tally import Tally, findings
from ldptrace.generators import city_traffic
from ldptrace.models import fit_model
from ldptrace.models.base import MobilityModel
from ldptrace.models.observation import clearly_missed
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

LIARS = (0.01, 0.05)
WAYS = ("false trips", "forged", "forged with care")
DRAWN = 100_000
SEED = 9


def claimed(paths: CellPaths) -> Ints:
    """Four cells of one column, from each other's neighbour to neighbour, that are visited but whose order is rare."""
    n = paths.grid.n
    columns = [np.arange(4) * n + n + 1 + k for k in range(n - 2)] if n > 5 else [np.arange(4) * n]
    return min(columns, key=lambda cells: abs(held(paths, cells) - 0.002))


def held(paths: CellPaths, cells: Ints) -> float:
    """Share of the paths that hold these cells one after the other."""
    found = np.ones(max(len(paths.cells) - len(cells) + 1, 0), dtype=bool)
    for at, cell in enumerate(cells):
        found &= paths.cells[at : at + len(found)] == cell
    first = np.flatnonzero(found)
    own = np.searchsorted(paths.offsets, first, side="right") - 1
    return len(np.unique(own[first + len(cells) <= paths.offsets[own + 1]])) / len(paths)


def numbers(model: MobilityModel, cells: Ints, plan: Plan) -> dict[str, float]:
    """The shares that the liars want to raise, among synthetic trips."""
    drawn = model.sample(DRAWN, np.random.default_rng(SEED))
    paths = CellPaths.from_trajectories(drawn, plan.grid)
    pair = (paths.starts() == cells[0]) & (paths.ends() == cells[-1])
    return {"pattern": held(paths, cells), "cell": held(paths, cells[1:2]), "pair": float(pair.mean())}


def lie(plan: Plan, way: str, cells: Ints, liars: int, rng: np.random.Generator) -> Tally:
    """The tally of the liars' reports."""
    trips = CellPaths(np.tile(cells.astype(np.int32), liars), np.arange(liars + 1) * len(cells), plan.grid)
    if way == "false trips":
        return collect(plan, trips, rng)
    return forged(plan, trips, rng, careful=way == "forged with care")


def measured(
    data: DataSet, roads: lt.RoadNetwork | None, epsilon: float, users: int, seed: int
) -> dict[str, dict[str, float]]:
    """Shifts of one collection, by share of liars and way."""
    plan = Facts(users, epsilon, data.bounds, grid=6, for_map=roads is not None).plan()
    paths = CellPaths.from_trajectories(data.sample(users, seed).trajectories, plan.grid)
    cells, rng = claimed(paths), np.random.default_rng(seed)
    honest = collect(plan, paths, rng)

    def seen(tally: Tally) -> tuple[dict[str, float], bool]:
        fitted = fit_model(Estimates.from_tally(plan, tally), public=roads, rng=np.random.default_rng(seed))
        return numbers(fitted, cells, plan), bool(findings(plan, tally)) or clearly_missed(fitted.matches)

    before, alarm = seen(honest)
    rows: dict[str, dict[str, float]] = {"no liars": before | {"noticed": float(alarm)}}
    for share in LIARS:
        for way in WAYS:
            after, noticed = seen(honest + lie(plan, way, cells, round(share * users), rng))
            shifts = {name: after[name] - before[name] for name in before}
            rows[f"{share:.0%} {way}"] = shifts | {"noticed": float(noticed)}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilons", default="1,4")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--map", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    roads = None
    data = oldenburg(options.data, (1,)) if options.data else generated(5, options.users)
    if options.map:
        traffic = city_traffic(seed=5)
        trips = traffic.trips(options.users, np.random.default_rng(5))
        data, roads = DataSet("city 5", trips, traffic.bounds), traffic.roads
    results: dict[str, dict[str, list[float]]] = {}
    print(
        f"{data.name}, {options.users:,} users, 6 x 6 cells, {options.repeats} collections; shifts of shares of trips"
    )
    for epsilon in (float(word) for word in options.epsilons.split(",")):
        runs = [measured(data, roads, epsilon, options.users, seed) for seed in range(1, options.repeats + 1)]
        print(f"\neps = {epsilon:g}\n{'':<24}{'pattern':>18}{'cell':>18}{'pair':>18}{'noticed':>9}")
        for name in runs[0]:
            values = {key: [run[name][key] for run in runs] for key in runs[0][name]}
            shown = "".join(
                f"{np.mean(values[key]):>10.4f} ± {np.std(values[key]):.4f}"[:18].rjust(18)
                for key in ("pattern", "cell", "pair")
            )
            print(f"{name:<24}{shown}{np.mean(values['noticed']):>9.0%}", flush=True)
            results[f"{epsilon:g} {name}"] = values
    save(options.out / f"liars{'_map' if options.map else ''}.json", results)


if __name__ == "__main__":
    main()
