"""Whether errors fall as reports tell more: nine metrics against users and epsilon, beside floors and AdaTrace.

    python -m benchmarks.learning oldenburg | cities | tdrive | adatrace | curve [--data FOLDER] [--no-map]
    python -m benchmarks.learning draw [--pictures docs/images]

`oldenburg`: 300,000 users at epsilon 1, 4, 8 without a map and 1, 5 with it. `cities`: with the map at epsilon 5.
`tdrive`: taxis without a map at epsilon 5, with the questions that a plan chooses and without `pairs` and `bends`.
`adatrace`: a curator who sees 300,000 trips, at epsilon 1, beside shuffled reports at the same central epsilon (delta
1e-8), with and without a map. `curve`: samples of the users, several epsilons. `draw`: the picture of the page.

People who are asked are a sample, and the model draws as many trips as there are people in the data: all are judged
against everybody's trips on 6 x 6 cells. The floor is a bootstrap sample of everybody's trips, as good as any method
can be. `--no-map` leaves out what uses the map. Each result is kept as a line of OUT/learning.jsonl, so a run that was
stopped goes on where it ended; after a change of the code, use another folder. The constants of
`ldptrace.curator.asking` were chosen on Oldenburg: only the other places are tests of it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import streets
from benchmarks.data import DataSet, unseen
from benchmarks.tables import Scores, header, row
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import FitWarning
from ldptrace.evaluation.metrics import METRICS, Reference
from ldptrace.models import fit_model
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.shares import DEFAULT_SHARES, MAP_SHARES
from ldptrace.roads.network import RoadNetwork
from ldptrace.simulation import collect
from ldptrace.synthesis import synthesize

N, CITY_TRIPS = 6, 150_000
# The largest epsilon of one shuffled answer against a shuffler and a curator who work together.
MOST_LOCAL = 7.7
# Users without a map and with it (0: everybody) and epsilons of the curve.
CURVE = {
    "Oldenburg": ((10_000, 50_000, 0), (10_000, 0)),
    "city 77": ((10_000, 50_000, 0), (10_000, 0)),
    "city 93": ((10_000, 50_000, 0), (10_000, 0)),
    "T-Drive": ((3_000, 0), ()),
}
EPSILONS, MAP_EPSILONS = (1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 5.0)
DRAWN = ("density_error", "query_error", "kendall_tau", "trip_error", "pattern_f1", "pattern_error")


@dataclass(frozen=True)
class Case:
    """One collection. `users` 0: everybody; `way`: chosen, plain, shuffled, adatrace or floor."""

    place: str
    epsilon: float
    users: int = 0
    map: bool = False
    way: str = "chosen"

    @property
    def name(self) -> str:
        if self.way == "floor":
            return "floor"
        told = {"chosen": "", "plain": ", no pairs or bends"}.get(self.way, f", {self.way}")
        people = f"{self.users:,}, " if self.users else ""
        return f"{people}eps {self.epsilon:g}{', map' if self.map else ''}{told}"


@dataclass(frozen=True, eq=False)
class Place:
    """Everybody's trips with their bounds, and the public map."""

    data: DataSet
    roads: RoadNetwork | None

    @staticmethod
    @cache
    def named(name: str, folder: Path | None) -> Place:
        if name.startswith("city"):
            town = streets.odd_city(int(name.split()[1]), CITY_TRIPS)
            return Place(DataSet(name, replace(town.trips, t=None), town.bounds), town.roads)
        if name == "T-Drive":
            found = [Place(data, None) for data in unseen(folder) if data.name == "tdrive600"]
        else:
            town_or_none = streets.oldenburg(folder)
            found = [Place(DataSet(name, t.trips, t.bounds), t.roads) for t in [town_or_none] if t]
        if not found:
            raise SystemExit(f"{name} needs the experiment files: give --data FOLDER")
        return found[0]

    @cached_property
    def reference(self) -> Reference:
        return Reference.of(self.data.trajectories, Grid(self.data.bounds, N), np.random.default_rng(0))

    def scores(self, case: Case, seed: int) -> dict[str, float]:
        """The nine metrics of one run, and the seconds of processors that the model took."""
        reference, everybody = self.reference.redrawn(np.random.default_rng(seed)), self.data.trajectories
        if case.way == "floor":
            pair = reference.bootstrap(len(everybody), np.random.default_rng(seed))
            return {name: metric.of(pair) for name, metric in METRICS.items()}
        begin = time.process_time()
        made = self.made(case, seed)
        return reference.score(made) | {"seconds": time.process_time() - begin}

    def made(self, case: Case, seed: int) -> Trajectories:
        users, count = case.users or len(self.data.trajectories), len(self.data.trajectories)
        asked = self.data.sample(users, seed).trajectories
        if case.way == "adatrace":
            return synthesize(
                asked,
                case.epsilon,
                bounds=self.data.bounds,
                grid=N,
                method="adatrace",
                count=count,
                seed=seed,
                unit="trip",
            )
        told: dict[str, Any] = {}
        if case.way == "plain":
            shares = MAP_SHARES if case.map else DEFAULT_SHARES
            told = {"shares": shares, "questions": tuple(shares)}
        elif case.way == "shuffled":
            told = {"shuffled": True, "most_local": MOST_LOCAL}
        facts = Facts(users, case.epsilon, self.data.bounds, grid=N, for_map=case.map, **told).simulated()
        plan, rng = facts.plan(), np.random.default_rng(seed)
        paths = CellPaths.from_trajectories(asked, plan.grid)
        estimates = Estimates.from_tally(plan, collect(plan, paths, rng))
        roads = self.roads if case.map else None
        return fit_model(estimates, public=roads, rng=rng).sample(count, rng)


class Kept:
    """Results by case and seed, one line each of a file."""

    def __init__(
        self, file: Path, folder: Path | None, places: Sequence[str] = tuple(CURVE), *, on_map: bool = True
    ) -> None:
        self.file, self.folder, self.places, self.on_map = file, folder, places, on_map
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text().splitlines() if file.exists() else []
        self.found = {(Case(**line["case"]), line["seed"]): line["scores"] for line in map(json.loads, lines)}

    def scores(self, case: Case, repeats: int) -> Scores:
        """What is known of a case, and what is missing computed."""
        rows = []
        for seed in range(1, repeats + 1):
            if (case, seed) not in self.found:
                scores = Place.named(case.place, self.folder).scores(case, seed)
                self.found[case, seed] = scores
                with self.file.open("a") as file:
                    file.write(json.dumps({"case": asdict(case), "seed": seed, "scores": scores}) + "\n")
            rows.append(self.found[case, seed])
        return {name: [each[name] for each in rows] for name in rows[0]}

    def chosen(self, cases: Iterable[Case]) -> list[Case]:
        return [case for case in cases if self.on_map or not case.map]

    def table(self, cases: Iterable[Case], repeats: int) -> dict[Case, Scores]:
        """Print one line for each case, with a header where the place changes."""
        done: dict[Case, Scores] = {}
        place = ""
        for case in self.chosen(cases):
            if case.place != place:
                place = case.place
                print(header(place), flush=True)
            done[case] = self.scores(case, repeats)
            spent = np.mean(done[case].get("seconds", [0.0]))
            print(f"{row(case.name, done[case])}{spent:8.0f} s", flush=True)
        return done


def wins(ours: Scores, theirs: Scores) -> str:
    """In how many metrics the mean is better, and in which it is not."""
    lost = [
        name.replace("_", " ")
        for name, metric in METRICS.items()
        if (np.mean(ours[name]) >= np.mean(theirs[name]))
        != (metric.goal == "max" or np.mean(ours[name]) == np.mean(theirs[name]))
    ]
    return f"better in {len(METRICS) - len(lost)} of {len(METRICS)}" + (
        f", not in {', '.join(lost)}" if lost else ""
    )


def beside(kept: Kept, first: Case, others: Sequence[Case], repeats: int) -> None:
    """Print cases, and in how many metrics each but the first is better than the first."""
    rows = kept.table([first, *others, Case(first.place, 0.0, way="floor")], repeats)
    for case in kept.chosen(others):
        print(f"{case.name}: {wins(rows[case], rows[first])} than {first.name}")


def oldenburg(kept: Kept, repeats: int) -> None:
    cases = [Case("Oldenburg", epsilon) for epsilon in (1.0, 4.0, 8.0)]
    cases += [Case("Oldenburg", epsilon, map=True) for epsilon in (1.0, 5.0)]
    kept.table([*cases, Case("Oldenburg", 0.0, way="floor")], repeats)


def cities(kept: Kept, repeats: int) -> None:
    for name in ("city 77", "city 93"):
        kept.table([Case(name, 5.0, map=True), Case(name, 0.0, way="floor")], repeats)


def tdrive(kept: Kept, repeats: int) -> None:
    beside(kept, Case("T-Drive", 5.0, way="plain"), [Case("T-Drive", 5.0)], repeats)


def adatrace(kept: Kept, repeats: int) -> None:
    ours = [Case("Oldenburg", 1.0, map=on_map, way="shuffled") for on_map in (False, True)]
    beside(kept, Case("Oldenburg", 1.0, way="adatrace"), ours, repeats)


def curve(kept: Kept, repeats: int) -> None:
    kept.table(_curve(kept.places), repeats)


def _curve(places: Sequence[str]) -> list[Case]:
    cases = []
    for place in places:
        few, mapped = CURVE[place]
        cases += [Case(place, epsilon, users) for users in few for epsilon in EPSILONS]
        cases += [Case(place, epsilon, users, map=True) for users in mapped for epsilon in MAP_EPSILONS]
        cases.append(Case(place, 0.0, way="floor"))
    return cases


def draw(kept: Kept, out: Path) -> None:
    """Draw all that is kept of the curve: a row for each place, a column for each metric."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    size = (12, 0.8 + 1.9 * len(kept.places))
    figure, axes = plt.subplots(
        len(kept.places), len(DRAWN), figsize=size, layout="constrained", sharex=True, squeeze=False
    )
    shades = {3_000: "tab:cyan", 10_000: "tab:cyan", 50_000: "tab:blue", 0: "navy"}
    for line, place in zip(axes, kept.places, strict=True):
        for axis, name in zip(line, DRAWN, strict=True):
            for users in dict.fromkeys([*CURVE[place][0], *CURVE[place][1]]):
                for on_map, style in ((False, "-"), (True, "--"))[: 1 + kept.on_map]:
                    points = _known(kept, place, users, on_map, name)
                    if points:
                        at = np.array([[epsilon, np.mean(v), np.std(v)] for epsilon, v in points]).T
                        axis.errorbar(at[0], at[1], at[2], ls=style, color=shades[users], marker=".", lw=1.2)
            floor = [
                scores[name]
                for (case, _), scores in kept.found.items()
                if case == Case(place, 0.0, way="floor")
            ]
            if floor:
                axis.axhline(np.mean(floor), color="0.6", lw=1)
            axis.set_xscale("log", base=2)
            axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            axis.minorticks_off()
            if METRICS[name].goal == "min":
                axis.set_ylim(bottom=0)
            axis.spines[["top", "right"]].set_visible(False)
            axis.tick_params(labelsize=7)
        line[0].set_ylabel(place)
    for axis, name in zip(axes[0], DRAWN, strict=True):
        axis.set_title(name.replace("_", " ").replace("kendall", "Kendall").replace("f1", "F1"), fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("epsilon", fontsize=8)
    words = {"tab:cyan": "10,000 users (T-Drive: 3,000)", "tab:blue": "50,000 users", "navy": "all users"}
    lines = [Line2D([], [], color=shade, label=label) for shade, label in words.items()]
    if kept.on_map:
        lines += [Line2D([], [], color="0.3", ls="--", label="with the street map")]
    lines += [Line2D([], [], color="0.6", label="a perfect method")]
    figure.legend(handles=lines, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "learning.svg", metadata={"Date": None})
    print(f"picture: {out / 'learning.svg'}")


def _known(kept: Kept, place: str, users: int, on_map: bool, name: str) -> list[tuple[float, list[float]]]:
    """Values of a metric by epsilon."""
    found: dict[float, list[float]] = {}
    for (case, _), scores in kept.found.items():
        if case == Case(place, case.epsilon, users, on_map):
            found.setdefault(case.epsilon, []).append(scores[name])
    return sorted(found.items())


TABLES = {"oldenburg": oldenburg, "cities": cities, "tdrive": tdrive, "adatrace": adatrace, "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="+", choices=(*TABLES, "draw"))
    parser.add_argument("--data", type=Path, help="folder with the experiment files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--places", nargs="+", choices=tuple(CURVE), default=tuple(CURVE), help="of the curve"
    )
    parser.add_argument("--no-map", action="store_true", help="leave out what uses the map")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--pictures", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    kept = Kept(given.out / "learning.jsonl", given.data, given.places, on_map=not given.no_map)
    for name in given.tables:
        if name == "draw":
            draw(kept, given.pictures)
        else:
            TABLES[name](kept, given.repeats)


if __name__ == "__main__":
    main()
