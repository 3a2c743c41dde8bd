"""What liars reach: people who lie about their trips, and clients that forge the bytes of reports.

    python -m benchmarks.liars [--users 100000] [--repeats 3] [--epsilons 1,4] [--data FOLDER]
                               [--map | --shuffled | --defences | --stream | --power]

All liars claim one and the same trip, which hardly anybody makes: four cells in a row. For each share of liars and each
way to lie: the share of synthetic trips that hold these four cells in order (the pattern, as in the attack TraP), that
visit the second of them (the cell), and that lead from the district of the first to that of the last (the pair); and
how often it is noticed, at one false alarm in a thousand collections.

- `--map`: the city is fitted on its streets; also the share of trips along the busiest street of the cell.
- `--shuffled`: epsilon is the central one.
- `--defences`: what is left of the shifts if answers that the model misses lose weight (Huber's weights, twice), and if
  visits are recovered as in LDPRecover (arXiv 2403.09351) with the share of the liars known; and what both cost where
  nobody lies (and LDPRecover expects 5 %).
- `--power`: in which part of the collections reports that are forged without care are noticed, by the share of liars.
- `--stream`: each device answers once in six steps, as in a stream with hidden presence (`benchmarks.liars_stream`).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import ldptrace as lt
from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import save
from ldptrace.audit.poisoning import forged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimate, Estimates
from ldptrace.curator.facts import Facts
from ldptrace.curator.tally import Tally, findings
from ldptrace.generators import city_traffic
from ldptrace.models import fit_model
from ldptrace.models.base import MobilityModel
from ldptrace.models.observation import Match, Observation, clearly_missed
from ldptrace.models.path.model import PathModel, fit_paths, observed
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.simulation import collect

LIARS = (0.01, 0.05)
POWER = (0.01, 0.015, 0.02, 0.03, 0.05)
WAYS = ("false trips", "forged", "forged with care")
DRAWN = 100_000
SEED = 9
# Collections of honest people that the checks take for others, and the share of liars that LDPRecover expects.
ALARM, EXPECTED = 1e-3, 0.05
# Standard errors beyond which an answer loses weight.
MISSED = 3.0
Row = dict[str, float]


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


def wanted(paths: CellPaths, cells: Ints) -> Row:
    """The shares that the liars want to raise."""
    pair = (paths.starts() == cells[0]) & (paths.ends() == cells[-1])
    return {"pattern": held(paths, cells), "cell": held(paths, cells[1:2]), "pair": float(pair.mean())}


def drawn(model: MobilityModel, plan: Plan) -> CellPaths:
    return CellPaths.from_trajectories(model.sample(DRAWN, np.random.default_rng(SEED)), plan.grid)


def along(model: RouteModel, street: int) -> float:
    """Share of the trips on streets that use this one."""
    routes = model.routes
    using = np.unique(
        np.searchsorted(routes.offsets, np.flatnonzero(routes.edges == street), side="right") - 1
    )
    return float(routes.weights[using].sum() / routes.weights.sum())


def busiest(model: RouteModel, plan: Plan, cell: int) -> int:
    """The street with the most trips of those that begin in a cell."""
    routes, roads = model.routes, model.routes.roads
    load = np.bincount(routes.edges, np.repeat(routes.weights, np.diff(routes.offsets)), roads.edges)
    x, y = (np.asarray(axis)[roads.source] for axis in (roads.x, roads.y))
    ends = lt.Trajectories(x, y, np.arange(roads.edges + 1))
    inside = CellPaths.from_trajectories(ends, plan.grid).starts() == cell
    return int(np.argmax(np.where(inside, load, -1)))


def lie(plan: Plan, way: str, cells: Ints, liars: int, rng: np.random.Generator) -> Tally:
    """The tally of the liars' reports."""
    trips = CellPaths(np.tile(cells.astype(np.int32), liars), np.arange(liars + 1) * len(cells), plan.grid)
    if way == "false trips":
        return collect(plan, trips, rng)
    return forged(plan, trips, rng, careful=way == "forged with care")


def noticed(plan: Plan, tally: Tally, matches: Sequence[Match], alarm: float = ALARM) -> float:
    """Whether counts or misfits are beyond what honest people give; half of the false alarms for each."""
    missed = clearly_missed(matches, alarm / 2 / (len(matches) + 1))
    return float(bool(findings(plan, tally, alarm / 2)) or missed)


@dataclass(frozen=True, eq=False)
class Setting:
    """One set of people, and how their reports become a model."""

    data: DataSet
    users: int
    roads: lt.RoadNetwork | None = None
    library: int | None = None
    shuffled: bool = False

    def plan(self, epsilon: float) -> Plan:
        facts = Facts(
            self.users,
            epsilon,
            self.data.bounds,
            grid=6,
            for_map=self.roads is not None,
            shuffled=self.shuffled,
        )
        return facts.simulated().plan()

    def paths(self, plan: Plan, seed: int) -> CellPaths:
        return CellPaths.from_trajectories(self.data.sample(self.users, seed).trajectories, plan.grid)

    def fit(self, plan: Plan, tally: Tally) -> MobilityModel:
        streets = None if self.library is None else StreetOptions(Library(self.library))
        found = Estimates.from_tally(plan, tally)
        return fit_model(found, public=self.roads, rng=np.random.default_rng(SEED), streets=streets)


def measured(setting: Setting, epsilon: float, seed: int) -> dict[str, Row]:
    """Shifts of one collection, by share of liars and way."""
    plan = setting.plan(epsilon)
    paths, rng = setting.paths(plan, seed), np.random.default_rng(seed)
    cells, honest = claimed(paths), collect(plan, paths, rng)
    street: list[int] = []

    def seen(tally: Tally) -> tuple[Row, float]:
        model = setting.fit(plan, tally)
        found = wanted(drawn(model, plan), cells)
        if isinstance(model, RouteModel):
            street.extend([] if street else [busiest(model, plan, int(cells[1]))])
            found["street"] = along(model, street[0])
        return found, noticed(plan, tally, model.matches)

    before, alarm = seen(honest)
    rows = {"no liars": before | {"noticed": alarm}}
    for share in LIARS:
        for way in WAYS:
            after, told = seen(honest + lie(plan, way, cells, round(share * setting.users), rng))
            rows[f"{share:.0%} {way}"] = {name: after[name] - before[name] for name in before} | {
                "noticed": told
            }
    return rows


def powered(setting: Setting, epsilon: float, seed: int) -> dict[str, Row]:
    """Whether one collection is noticed, by the share of liars who forge all that they can."""
    plan = setting.plan(epsilon)
    paths, rng = setting.paths(plan, seed), np.random.default_rng(seed)
    cells, honest = claimed(paths), collect(plan, paths, rng)
    rows = {}
    for share in (0.0, *POWER):
        tally = honest + lie(plan, WAYS[1], cells, round(share * setting.users), rng)
        rows[f"{share:.1%} forged"] = {
            "noticed": noticed(plan, tally, setting.fit(plan, tally).matches),
        }
    return rows


def doubted(seen: Observation, expected: Floats) -> Observation:
    """Answers that are missed by more than `MISSED` standard errors count as if they were missed by as many."""
    misfits = np.abs(seen.frequencies - expected) / np.sqrt(seen.variances)
    return replace(seen, variances=seen.variances * np.maximum(misfits / MISSED, 1.0))


def weighted(estimates: Estimates) -> PathModel:
    """The path model, fitted again twice with less weight for what it misses."""
    first = observed(estimates)
    fit, _ = fit_paths(estimates, first)
    for _ in range(2):
        fit, _ = fit_paths(estimates, [doubted(seen, fit.expected[seen.name]) for seen in first])
    return PathModel.of_fit(fit, first, estimates.plan)


def recovered(found: Estimate, eta: float) -> Estimate:
    """The frequencies without those of forged reports, which are taken for equal among all items with any; then the
    nearest ones that are not negative and have the same sum."""
    total = found.question.capacity
    values = np.append(found.frequencies, [] if found.nulls is None else [found.nulls])
    some = values > 0
    values = (1 + eta) * values - eta * total * some / some.sum()
    kept = np.ones(len(values), dtype=bool)
    while True:
        moved = np.where(kept, values - (values[kept].sum() - total) / kept.sum(), 0.0)
        if moved.min() >= 0:
            break
        kept &= moved > 0
    nulls = None if found.nulls is None else float(moved[-1])
    return replace(found, frequencies=moved[: len(found.frequencies)], nulls=nulls)


def defended(setting: Setting, epsilon: float, seed: int) -> dict[str, Row]:
    """Shifts of one collection without and with two defences; where nobody lies, distances to the true trips.

    Less weight is judged by the pattern and the pairs of ends of synthetic trips, LDPRecover by the estimated visits,
    although it is told the share of the liars.
    """
    plan = setting.plan(epsilon)
    paths, rng = setting.paths(plan, seed), np.random.default_rng(seed)
    cells, honest = claimed(paths), collect(plan, paths, rng)
    true = np.array([held(paths, np.array([cell])) for cell in range(plan.grid.cells)])

    def made(tally: Tally, liars: float) -> tuple[Estimates, Estimate, CellPaths, CellPaths]:
        found = Estimates.from_tally(plan, tally)
        clean = recovered(found["visits"], liars / (1 - liars))
        return found, clean, drawn(PathModel.fit(found), plan), drawn(weighted(found), plan)

    found, clean, plain, light = made(honest, EXPECTED)
    rows: dict[str, Row] = {
        "no liars": {
            "pairs off by": _distance(paths, plain),
            "with less weight": _distance(paths, light),
            "visits off by": float(np.sqrt(((found["visits"].frequencies - true) ** 2).mean())),
            "recovered": float(np.sqrt(((clean.frequencies - true) ** 2).mean())),
        }
    }
    before = held(plain, cells), held(light, cells), found["visits"].frequencies[cells[1]]
    for share in LIARS:
        for way in WAYS[1:]:
            found, clean, plain, light = made(
                honest + lie(plan, way, cells, round(share * setting.users), rng), share
            )
            rows[f"{share:.0%} {way}"] = {
                "pattern": held(plain, cells) - before[0],
                "with less weight": held(light, cells) - before[1],
                "visits of the cell": float(found["visits"].frequencies[cells[1]] - before[2]),
                "recovered": float(clean.frequencies[cells[1]] - before[2]),
            }
    return rows


def _distance(true: CellPaths, synthetic: CellPaths) -> float:
    """Total variation between true and synthetic pairs of ends."""
    cells = true.grid.cells
    laws = [
        np.bincount(each.starts().astype(np.int64) * cells + each.ends(), minlength=cells**2) / len(each)
        for each in (true, synthetic)
    ]
    return float(np.abs(laws[0] - laws[1]).sum() / 2)


def show(runs: list[dict[str, Row]]) -> dict[str, dict[str, list[float]]]:
    """Print the means and spreads of several collections, and return all values."""
    found = {}
    for name in runs[0]:
        values = {key: [run[name][key] for run in runs] for key in runs[0][name]}
        words = [
            f"{key} {np.mean(some):.0%}"
            if "noticed" in key
            else f"{key} {np.mean(some):+.4f} ± {np.std(some):.4f}"
            for key, some in values.items()
        ]
        print(f"{name:<34}{'  '.join(words)}", flush=True)
        found[name] = values
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilons", default="1,4")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--library", type=int, help="number of routes, with --map")
    for way in ("map", "shuffled", "defences", "stream", "power"):
        parser.add_argument(f"--{way}", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    roads = None
    data = oldenburg(options.data, (1,)) if options.data else generated(5, options.users)
    if options.map:
        traffic = city_traffic(seed=5)
        trips = traffic.trips(options.users, np.random.default_rng(5))
        data, roads = DataSet("city 5", trips, traffic.bounds), traffic.roads
    setting = Setting(data, options.users, roads, options.library, options.shuffled)
    name, measure = "liars", measured
    if options.defences:
        name, measure = "liars_defences", defended
    elif options.power:
        name, measure = "liars_power", powered
    elif options.stream:
        from benchmarks.liars_stream import streamed

        name, measure = "liars_stream", streamed
    name += "_map" * options.map + "_shuffled" * options.shuffled
    print(
        f"{data.name}, {options.users:,} users, 6 x 6 cells, {options.repeats} collections; shifts of shares"
    )
    results: dict[str, dict[str, list[float]]] = {}
    for epsilon in (float(word) for word in options.epsilons.split(",")):
        print(f"\neps = {epsilon:g}, eps of a report {float(setting.plan(epsilon).epsilon):g}", flush=True)
        runs = [measure(setting, epsilon, seed) for seed in range(1, options.repeats + 1)]
        results |= {f"{epsilon:g} {row}": values for row, values in show(runs).items()}
    save(options.out / f"{name}.json", results)


if __name__ == "__main__":
    main()
