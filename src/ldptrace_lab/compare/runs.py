"""One run: a method on a data set with one epsilon and one seed, measured."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.errors import FitWarning, NoiseWarning, PrivacyWarning
from ldptrace.evaluation.controls import map_alone, plain_routing, usable_roads
from ldptrace.evaluation.evaluator import read_network
from ldptrace.evaluation.measured import Measured
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.stream_metrics import StreamReference
from ldptrace.evaluation.streets import StreetMap
from ldptrace.evaluation.values import References
from ldptrace.io import read, write
from ldptrace.methods.public import Public
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.network import RoadNetwork
from ldptrace.streams import Settings, stream
from ldptrace.streams.settings import DEFAULT
from ldptrace.synthesis import synthesize
from ldptrace_lab.compare.contestants import STANDING, Contestant
from ldptrace_lab.kept import Kept, key_of

# The name of the seconds of a run among its kept values.
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
        digest = hashlib.blake2b(digest_size=8)
        for column in (trips.offsets, trips.x, trips.y, trips.t):
            if column is not None:
                digest.update(np.ascontiguousarray(column).tobytes())
        path = folder / f"data-{digest.hexdigest()}.parquet"
        if not path.exists():
            write(trips, path)
        return Question(title, path, digest.hexdigest(), bounds, **shared)


@dataclass(frozen=True)
class RunKey:
    """One run of a contestant; references have no epsilon."""

    contestant: Contestant
    epsilon: float | None
    seed: int

    def settings(self, question: Question) -> dict[str, Any]:
        """Return everything that its result depends on, the same in any process."""
        shared = asdict(question) | {"data": None, "title": None, "roads": str(question.roads)}
        if not self.contestant.shuffled:
            del shared["delta"]
        return shared | {"method": self.contestant.name, "epsilon": self.epsilon, "seed": self.seed}

    def name(self, question: Question) -> str:
        """Return the same for the same run, in any process."""
        key = key_of(self.settings(question), self.contestant.method)
        return f"{self.contestant.name}-{key}"


@dataclass(frozen=True)
class RunResult:
    """Values of the metrics by name, and the seconds of the synthesis."""

    values: dict[str, float]
    seconds: float


class Bench:
    """The real side of all runs on one data set, added up once."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.real = read(question.data)
        self.grid = Grid(question.bounds, METRIC_GRID)
        source = np.random.default_rng(0)
        self.references = References.of(self.real, self.grid, [len(self.real)], source, self.streets)
        self.stream = None
        if question.tick is not None:
            crowd = Memory(self.real)
            self.stream = StreamReference.of(crowd, lambda block: block, self.grid, question.tick, 0, source)

    @cached_property
    def roads(self) -> RoadNetwork | None:
        """The whole network in the bounds."""
        if self.question.roads is None:
            return None
        return usable_roads(read_network(self.question.roads), Grid(self.question.bounds, 2), self.real.crs)

    @cached_property
    def streets(self) -> StreetMap | None:
        return None if self.roads is None else StreetMap.of(self.roads)

    def run(self, key: RunKey) -> RunResult:
        """Synthesise and measure."""
        with warnings.catch_warnings():
            # Every table names what is not private; what is poor or noisy shows in its values.
            for kind in (PrivacyWarning, FitWarning, NoiseWarning):
                warnings.simplefilter("ignore", kind)
            begin = time.perf_counter()
            if key.contestant.name == "fresh-sample":
                return RunResult(self._fresh(key.seed), 0.0)
            made = self._made(key)
            return RunResult(self._measured(made, key), time.perf_counter() - begin)

    def _made(self, key: RunKey) -> Trajectories:
        who, question = key.contestant, self.question
        if who.kind == "reference":
            return self._control(who.name, np.random.default_rng(key.seed))
        assert key.epsilon is not None
        if who.kind == "stream":
            return self._stream(who, key.epsilon, key.seed)
        options: dict[str, Any] = {"roads": question.roads} if who.with_map else {}
        if who.shuffled:
            options |= {"shuffled": True, "delta": question.delta}
        return synthesize(
            self.real,
            key.epsilon,
            bounds=question.bounds,
            grid=question.grid,
            method=who.method,
            seed=key.seed,
            time=question.time,
            # As in the literature, every trip plays a user, also where the data say whose it is.
            unit="trip",
            outside="clamp",
            **options,
        )

    def _stream(self, who: Contestant, epsilon: float, seed: int) -> Trajectories:
        question, own = self.question, who.method in STANDING
        assert question.tick is not None
        roads = self.roads.largest_component() if who.with_map and self.roads is not None else None
        start, end = self._period() if own else (None, None)
        return stream(
            self.real,
            epsilon,
            bounds=question.bounds,
            settings=Settings(
                question.tick,
                presence=STANDING.get(who.method, "hidden"),
                # Other people's methods have the cells of their papers.
                grid=METRIC_GRID if question.grid == "auto" and not own else question.grid,
                method=DEFAULT if own else who.method,
                seed=seed,
                start=start,
                end=end,
            ),
            public=Public.of(roads=roads),
        ).trajectories

    def _period(self) -> tuple[float | None, float | None]:
        """Return the time from the first departure to the last arrival, which is public in a comparison."""
        t = self.real.t
        return (None, None) if t is None or not len(t) else (float(t.min()), float(t.max()))

    def _control(self, name: str, rng: np.random.Generator) -> Trajectories:
        assert self.roads is not None
        roads = self.roads.largest_component()
        return map_alone(roads, rng) if name == "map-alone" else plain_routing(roads, self.real, rng)

    def _measured(self, made: Trajectories, key: RunKey) -> dict[str, float]:
        x0, y0, x1, y1 = self.question.bounds
        inside = Trajectories(
            made.x.clip(x0, x1), made.y.clip(y0, y1), made.offsets, t=made.t, crs=self.real.crs,
            timezone=made.timezone,
        )  # fmt: skip
        measured = Measured.of(inside, self.grid, self.streets, np.random.default_rng(key.seed))
        values = self.references.once(measured.resized(len(self.real)))
        if self.stream is not None and inside.t is not None and inside.has_dates == self.real.has_dates:
            tables = self.stream.tables(Memory(inside), lambda block: block, key.contestant.name)
            values |= {name: value.mean for name, value in self.stream.values(tables).items()}
        return values

    def _fresh(self, seed: int) -> dict[str, float]:
        """Return what a second real set of the same size gives, as far as one can tell: a bootstrap.

        Lines and streams are drawn once for the bench: only the first seed has them, so that no spread is shown.
        """
        pair = self.references.cells.bootstrap(len(self.real), np.random.default_rng(seed))
        values = {name: metric.of(pair) for name, metric in METRICS.items()}
        if seed > 1:
            return values
        values = self.references.lines(self.references.again[len(self.real)], fixes=True) | values
        if self.stream is not None:
            real = self.stream.values(self.stream.sides.again)
            values |= {name: value.mean for name, value in real.items()}
        return values


@lru_cache(maxsize=1)
def bench(question: Question) -> Bench:
    """Return the bench of a data set; a process works on one after the other."""
    return Bench(question)


def run(question: Question, key: RunKey, folder: Path) -> RunResult:
    """Return one run, kept in the folder: what a process does."""
    kept, name = Kept(folder), key.name(question)
    values = kept.find(name)
    if values is not None:
        return RunResult(values, values.pop(SECONDS, math.nan))
    result = bench(question).run(key)
    kept.keep(name, key.settings(question), result.values | {SECONDS: result.seconds})
    return result
