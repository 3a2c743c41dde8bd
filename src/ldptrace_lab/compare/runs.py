"""The runs of a comparison, in this process or in several: a method of `synthesize` or of `stream`, with the map or
without, on a data set with one epsilon and one seed, measured. Their means and spreads over the seeds are the rows of
its tables."""

from __future__ import annotations

import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ldptrace import plugins
from ldptrace.core.drawing import Ways
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.facts import Asked
from ldptrace.engines.local import Memory
from ldptrace.errors import FitWarning, InputError, LdptraceError, NoiseWarning, PrivacyWarning
from ldptrace.evaluation.controls import map_alone, plain_routing
from ldptrace.evaluation.evaluator import read_network
from ldptrace.evaluation.line_metrics import LinePair
from ldptrace.evaluation.metrics import METRICS, Metric, Reference, of_pair
from ldptrace.evaluation.sets import Side, measured
from ldptrace.evaluation.stream_metrics import StreamReference
from ldptrace.evaluation.values import ALL_METRICS, lines, once
from ldptrace.io import read, write
from ldptrace.methods import method, names
from ldptrace.methods.public import Public
from ldptrace.plugins import StreamMethod
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork
from ldptrace.streams.run import stream
from ldptrace.streams.settings import SHOWN, Presence, Settings
from ldptrace.synthesis import synthesize
from ldptrace_lab.kept import Kept, digest_of, key_of

Kind = Literal["method", "stream", "reference"]

WITH_MAP, SHUFFLED = "+map", "+shuffled"
# What stands beside the methods, and is no method: epsilon means nothing to it.
REFERENCES = {
    "fresh-sample": "a bootstrap of the real trips: what a perfect generator gives",
    "map-alone": "routes of the public map, weighted by nobody's reports",
    "plain-routing": "quickest routes between the ends of real trips: not private",
}
LOCAL = "nobody: local differential privacy"
MIXED = (
    "that shuffler and curator do not work together: epsilon is central, with delta {delta}, for the replacement of "
    "one trip by another"
)
# Our own streams, by what they show of who is on the way.
STANDING: dict[str, Presence] = {"standing": "hidden", "standing-shown": "shown"}


@dataclass(frozen=True)
class Contestant:
    """A line of the table: its name, what it is, and whom one has to trust with the raw trips."""

    name: str
    kind: Kind
    summary: str
    trust: str
    with_map: bool = False
    shuffled: bool = False

    @property
    def local(self) -> bool:
        """Whether nobody has to be trusted; what is no method has nothing to trust."""
        return self.trust in (LOCAL, "")

    @property
    def method(self) -> str:
        return self.name.removesuffix(SHUFFLED).removesuffix(WITH_MAP)


def contestant(name: str, *, has_map: bool) -> Contestant:
    """Return the contestant of a name: a method, a method with `+map`, a method for streams, or a reference."""
    plain, with_map = name.removesuffix(WITH_MAP), name.endswith(WITH_MAP)
    if (with_map or (name in REFERENCES and name != "fresh-sample")) and not has_map:
        raise InputError(f"{name} needs a street map: give it with --roads")
    if name in REFERENCES:
        return Contestant(name, "reference", REFERENCES[name], "")
    if plain in STANDING:
        trust = LOCAL if STANDING[plain] == "hidden" else SHOWN
        summary = "`ldptrace stream`: one report per device, a model that follows changes"
        return Contestant(name, "stream", summary, trust, with_map)
    streams = plugins.installed(plugins.STREAMS)
    if plain in names():
        recipe = method(plain)
        who = Contestant(name, "method", recipe.summary, recipe.leaks or LOCAL, with_map)
        map_fits = issubclass(recipe.options, Ways)
    elif plain in streams:
        peer: StreamMethod = plugins.load(streams[plain])
        who, map_fits = Contestant(name, "stream", peer.summary, peer.public), False
    else:
        raise InputError(
            f"there is no method {plain!r}; the methods are {', '.join([*names(), *STANDING, *streams])}, "
            f"with {WITH_MAP} behind the name for one that uses the map"
        )
    if with_map and not map_fits:
        raise InputError(f"method {plain} has no use for a map")
    return who


def contestants(text: str, *, has_map: bool, delta: str | None = None) -> tuple[Contestant, ...]:
    """Return the contestants of a list of names joined by commas, then the references of every table.

    With a `delta`, each method whose reports can be shuffled is a contestant twice, without and with a shuffler.
    """
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if not wanted:
        raise InputError("name at least one method, as in --methods single-report,adatrace")
    beside = ["fresh-sample", *(("map-alone", "plain-routing") if has_map else ())]
    chosen = [contestant(name, has_map=has_map) for name in dict.fromkeys([*wanted, *beside])]
    if delta is None:
        return tuple(chosen)
    can = [one for one in chosen if one.kind == "method" and issubclass(method(one.method).options, Asked)]
    if not can:
        raise InputError("none of the methods sends reports that can be shuffled: add single-report")
    expanded = []
    for one in chosen:
        expanded.append(one)
        if one in can:
            trust = MIXED.format(delta=delta)
            expanded.append(replace(one, name=f"{one.name}{SHUFFLED}", trust=trust, shuffled=True))
    return tuple(expanded)


# The name of the seconds of a run among its values.
SECONDS = "seconds"
# Cells per side of the metrics, as in the paper.
METRIC_GRID = 6


@dataclass(frozen=True)
class Question:
    """What is compared on: a data set in a Parquet file, and what all runs share."""

    title: str
    data: Path
    # Hash of the trips, so that kept runs of other data are not taken for these.
    digest: str
    bounds: Bounds
    grid: int | Literal["auto"] = "auto"
    roads: Path | None = None
    # Seconds of a tick, where streams are compared.
    tick: float | None = None
    time: Literal["auto", "off"] = "off"
    # Delta of shuffled reports; None: the usual one, or none are shuffled.
    delta: float | None = None

    @staticmethod
    def of(trips: Trajectories, title: str, folder: Path, bounds: Bounds, **shared: Any) -> Question:
        """Put the real trips where every process finds them, never into the folder of results."""
        digest = digest_of(trips.offsets, trips.x, trips.y, trips.t)
        path = folder / f"data-{digest}.parquet"
        if not path.exists():
            write(trips, path)
        return Question(title, path, digest, bounds, **shared)


@dataclass(frozen=True)
class Run:
    """One run of a contestant on a data set; references have no epsilon."""

    question: Question
    contestant: Contestant
    epsilon: float | None
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the result depends on, the same in any process."""
        shared = asdict(self.question) | {"data": None, "title": None, "roads": str(self.question.roads)}
        if not self.contestant.shuffled:
            del shared["delta"]
        return shared | {"method": self.contestant.name, "epsilon": self.epsilon, "seed": self.seed}

    @property
    def name(self) -> str:
        """The same for the same run, in any process."""
        return f"{self.contestant.name}-{key_of(self.settings, self.contestant.method)}"


class Bench:
    """The real side of all runs on one data set, added up once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.real = read(question.data)
        self.grid = Grid(question.bounds, METRIC_GRID)
        source = np.random.default_rng(0)
        side = Side.of(self.real, self.grid)
        self.measured, again = side.measured(source, self.streets, sizes=[len(self.real)])
        self.again = again[len(self.real)]
        self.cells = Reference.of(self.measured.summary, self.grid, source)
        self.lines = LinePair.draw(self.measured, source)
        self.stream = None
        if question.tick is not None:
            crowd = Memory(self.real)
            self.stream = StreamReference.of(crowd, lambda block: block, self.grid, question.tick, 0, source)

    @cached_property
    def roads(self) -> RoadNetwork | None:
        """The whole network in the bounds."""
        if self.question.roads is None:
            return None
        whole = read_network(self.question.roads)
        whole.check_against(self.question.bounds, self.real.crs)
        return whole.clipped(self.question.bounds)

    @cached_property
    def streets(self) -> StreetIndex | None:
        return None if self.roads is None else StreetIndex.of(self.roads)

    def run(self, run: Run) -> dict[str, float]:
        """Synthesise and measure: return the metrics by name, and the seconds that it took."""
        with warnings.catch_warnings():
            # Every table names what is not private; what is poor or noisy shows in its values.
            for kind in (PrivacyWarning, FitWarning, NoiseWarning):
                warnings.simplefilter("ignore", kind)
            begin = time.perf_counter()
            if run.contestant.name == "fresh-sample":
                return self._fresh(run.seed) | {SECONDS: 0.0}
            values = self._measured(self._made(run), run)
            return values | {SECONDS: time.perf_counter() - begin}

    def _made(self, run: Run) -> Trajectories:
        who, question = run.contestant, self.question
        needed = who.kind == "reference" or (who.kind == "stream" and who.with_map)
        roads = self.roads.largest_component() if needed and self.roads is not None else None
        if who.kind == "reference":
            assert roads is not None
            rng = np.random.default_rng(run.seed)
            return map_alone(roads, rng) if who.name == "map-alone" else plain_routing(roads, self.real, rng)
        assert run.epsilon is not None
        if who.kind == "stream":
            return self._stream(who.method, run.epsilon, run.seed, roads)
        options: dict[str, Any] = {"roads": question.roads} if who.with_map else {}
        if who.shuffled:
            options |= {"shuffled": True, "delta": question.delta}
        return synthesize(
            self.real,
            run.epsilon,
            bounds=question.bounds,
            grid=question.grid,
            method=who.method,
            seed=run.seed,
            time=question.time,
            # As in the literature, every trip plays a user, also where the data say whose it is.
            unit="trip",
            outside="clamp",
            **options,
        )

    def _stream(self, name: str, epsilon: float, seed: int, roads: RoadNetwork | None) -> Trajectories:
        tick, grid, t = self.question.tick, self.question.grid, self.real.t
        assert tick is not None
        if name not in STANDING:
            # Other people's methods have the cells of their papers.
            settings = Settings(tick, grid=METRIC_GRID if grid == "auto" else grid, method=name, seed=seed)
        else:
            # The time from the first departure to the last arrival is public in a comparison.
            start, end = (None, None) if t is None or not len(t) else (float(t.min()), float(t.max()))
            settings = Settings(tick, presence=STANDING[name], grid=grid, seed=seed, start=start, end=end)
        public = Public.of(roads=roads)
        return stream(
            self.real, epsilon, bounds=self.question.bounds, settings=settings, public=public
        ).trajectories

    def _measured(self, made: Trajectories, run: Run) -> dict[str, float]:
        x0, y0, x1, y1 = self.question.bounds
        inside = Trajectories(
            made.x.clip(x0, x1), made.y.clip(y0, y1), made.offsets, t=made.t, crs=self.real.crs,
            timezone=made.timezone,
        )  # fmt: skip
        synthetic = measured(inside, self.grid, self.streets, np.random.default_rng(run.seed))
        values = once(self.cells, self.lines, synthetic.resized(len(self.real)))
        if self.stream is not None and inside.t is not None and inside.has_dates == self.real.has_dates:
            tables = self.stream.tables(Memory(inside), lambda block: block, run.contestant.name)
            values |= self.stream.values(tables)
        return values

    def _fresh(self, seed: int) -> dict[str, float]:
        """Return what a second real set of the same size gives, as far as one can tell: a bootstrap.

        Lines and streams are drawn once for the bench: only the first seed has them, so that no spread is shown.
        """
        values = of_pair(METRICS, self.cells.bootstrap(len(self.real), np.random.default_rng(seed)))
        if seed > 1:
            return values
        values = lines(self.lines, self.again, fixes=True) | values
        if self.stream is not None:
            values |= self.stream.values(self.stream.again)
        return values


@lru_cache(maxsize=1)
def bench(question: Question) -> Bench:
    """Return the bench of a data set; a process works on one after the other."""
    return Bench(question)


def outcome(run: Run, folder: Path) -> dict[str, float] | LdptraceError:
    """Return the values of a run, kept in the folder, or the error of a method that refuses: what a process does."""
    kept = Kept(folder)
    try:
        values = kept.find(run.name)
        if values is None:
            values = bench(run.question).run(run)
            kept.keep(run.name, run.settings, values)
    except LdptraceError as error:
        return error
    return values


# What is being done, how many runs are done, and how many there are.
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Row:
    """One metric of one contestant at one epsilon on one data set; `std` is the spread over the seeds."""

    data: str
    contestant: Contestant
    epsilon: float | None
    metric: Metric
    mean: float
    std: float | None
    seeds: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that was found. Runs that failed have one sentence each, and no rows."""

    questions: tuple[Question, ...]
    contestants: tuple[Contestant, ...]
    epsilons: tuple[float, ...]
    seeds: int
    rows: tuple[Row, ...]
    seconds: dict[str, float]
    failures: tuple[str, ...] = ()


def compare(
    questions: Sequence[Question],
    contestants: Sequence[Contestant],
    epsilons: Sequence[float],
    seeds: int,
    folder: Path,
    *,
    jobs: int = 1,
    listener: Listener | None = None,
) -> Comparison:
    """Run what is not kept in the folder yet, with that many processes, and add up all of it."""
    cases = [
        (question, who, epsilon)
        for question in questions
        for who in contestants
        for epsilon in ((None,) if who.kind == "reference" else epsilons)
    ]
    wanted = [Run(*case, seed) for case in cases for seed in range(1, seeds + 1)]
    results: dict[Run, dict[str, float]] = {}
    failures: dict[str, None] = {}
    for done, (run, answer) in enumerate(_outcomes(wanted, folder / "runs", jobs), start=1):
        if isinstance(answer, LdptraceError):
            failures[f"{run.contestant.name} on {run.question.title}: {answer}"] = None
        else:
            results[run] = answer
        if listener is not None:
            listener(f"{run.question.title}: {run.contestant.name}", done, len(wanted))
    rows: list[Row] = []
    spent: dict[str, list[float]] = {}
    for question, who, epsilon in cases:
        runs = [Run(question, who, epsilon, seed) for seed in range(1, seeds + 1)]
        known = [results[run] for run in runs if run in results]
        spent.setdefault(who.name, []).extend(each.get(SECONDS, math.nan) for each in known)
        for name, metric in ALL_METRICS.items():
            values = [each[name] for each in known if not math.isnan(each.get(name, math.nan))]
            if values and not metric.corrects:
                mean, std = float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None
                rows.append(Row(question.title, who, epsilon, metric, mean, std, len(values)))
    seconds = {name: float(np.mean(each)) for name, each in spent.items() if each}
    return Comparison(
        tuple(questions), tuple(contestants), tuple(epsilons), seeds, tuple(rows), seconds, tuple(failures)
    )


def _outcomes(
    wanted: Sequence[Run], folder: Path, jobs: int
) -> Iterable[tuple[Run, dict[str, float] | LdptraceError]]:
    """Yield the runs as they end."""
    if jobs == 1:
        yield from ((run, outcome(run, folder)) for run in wanted)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(outcome, run, folder): run for run in wanted}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)
