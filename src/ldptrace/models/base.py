"""What a mobility model is: fitted to private estimates once, and drawn from as often as anyone wants."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.area import Land
from ldptrace.core.arrays import Floats
from ldptrace.core.atomic import atomic_path
from ldptrace.core.crs import scale_of
from ldptrace.core.drawing import MOST_TRIPS, Points
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import Style, place, respace
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.models.observation import Match, Share, beside_map
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import promise, trusted

FORMAT = "ldptrace-model"
# Trips of a block from number `start` to before `stop`.
Part = Callable[[int, int], Trajectories]
Arrays = dict[str, NDArray[Any]]
# Trips, and how much each would count if the noise of the reports were drawn again.
Replicated = tuple[Trajectories, NDArray[np.float32] | None]
# Trips that show how many points trips have, and points of a piece of a block, about: 100 MB with their times.
FEW, DENSE = 64, 1 << 22


@dataclass(frozen=True)
class Along(Points):
    """How points are chosen along the way of a trip: every `spacing` units, or every `interval` seconds.

    On streets, `timed` keeps the times that free roads take; where speeds are not known, times say only on which part
    of its way a trip spends its time.
    """

    timed: bool = False


class MobilityModel(ABC):
    """A distribution over trips. Its file is complete: the grid, the plan it was learned under, all of its numbers."""

    # Name and version of the saved model, and the questions it uses: it refuses to ignore another one.
    kind: ClassVar[str]
    version: ClassVar[int] = 1
    questions: ClassVar[tuple[str, ...]]

    grid: Grid
    # The plan whose answers it was fitted to: coordinate system and promise of everything drawn from it.
    plan: Plan | None
    # How it matches the answers that it was fitted to; on streets also how the public map does without any report.
    matches: tuple[Match, ...] = ()
    map_alone: tuple[Match, ...] = ()
    # The share of devices that answered without a trip, where the answers say something about it.
    without_trip: Share | None = None

    def __repr__(self) -> str:
        name, n = type(self).__name__, self.grid.n
        spent = "" if self.plan is None else f", epsilon {float(Fraction(trusted(self.plan)['epsilon'])):g}"
        absent = "" if self.without_trip is None or not self.without_trip.clear else f", {self.without_trip}"
        return f"<{name}: {n} x {n} cells{spent}{absent}>"

    @abstractmethod
    def block(self, count: int, rng: np.random.Generator, along: Along) -> Part:
        """Return one block of at most `CHUNK` trips from a source of its own; the points of a part when they are
        asked for."""

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        spacing: float | None = None,
        interval: float | None = None,
    ) -> Trajectories:
        """Draw independent synthetic trajectories; a point every `spacing` units along the way (metres where
        coordinates are degrees), or every `interval` seconds where the model knows how fast people are.

        From the source `numpy.random.default_rng(sample_seed)` they are those of a release with that seed.
        """
        return self.labelled(Sampler.of(self, count, rng, Along(spacing, interval)).trips())

    def replicated(self, count: int, rng: np.random.Generator, *, timed: bool = False) -> Replicated:
        """Return trips as `sample` draws them, and how much each would count if the noise of the reports were drawn
        again: a
        row for each replicate, with mean one. None where the model does not know. `timed` is that of `Along`."""
        return self.sample(count, rng), None

    @abstractmethod
    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """Return what the file holds besides grid and plan: numbers and texts, and arrays."""

    @classmethod
    @abstractmethod
    def restored(cls, grid: Grid, plan: Plan | None, header: dict[str, Any], arrays: Arrays) -> Self:
        """Return the model with these contents, checked."""

    @property
    def knows_speeds(self) -> bool:
        """Whether the times of its trips are seconds."""
        return False

    @property
    def devices(self) -> int:
        """How many devices answered: one question each, or all of them."""
        answered = [match.users for match in self.matches]
        one_each = self.plan is not None and self.plan.rounds[0].assignment == "partition"
        return sum(answered) if one_each else max(answered, default=0)

    @property
    def map_note(self) -> str | None:
        """What the map alone gives beside what the reports give, in a sentence, where trips follow a map."""
        return beside_map(self.matches, self.map_alone) if self.map_alone else None

    @property
    def promised(self) -> dict[str, Any] | None:
        """What the plan promised, and what of the result the map alone gives."""
        if self.plan is None:
            return None
        notes = {} if self.map_note is None else {"notes": [self.map_note]}
        return promise(self.plan) | {"without_trip": self.share_document} | notes

    @property
    def share_document(self) -> dict[str, float] | None:
        """The share without a trip as plain data, for files and promises."""
        return None if self.without_trip is None else self.without_trip.document()

    def trips(self, devices: int) -> int:
        """Return how many of these devices had a trip, as estimated; all of them, unless more had none than noise
        explains."""
        return devices if self.without_trip is None else self.without_trip.trips(devices)

    def labelled(self, drawn: Trajectories) -> Trajectories:
        """Label trips with the coordinate system of the plan, and what it promised."""
        return drawn if self.plan is None else replace(drawn, crs=self.plan.crs, provenance=self.promised)

    def explain(self) -> str:
        """Say how well the model matches what was asked."""
        said = f"A {self.kind} model on {self.grid.n} x {self.grid.n} cells."
        return "\n".join([said, *self.share_lines])

    @property
    def remarks(self) -> list[str]:
        """What anyone who publishes its trips should know: devices without a trip, trips off the streets, and what the
        map alone gives."""
        return self.share_lines + self.street_lines + ([] if self.map_note is None else [self.map_note])

    @property
    def street_lines(self) -> list[str]:
        """Which trips do not follow the streets of a map, in sentences."""
        return []

    @property
    def share_lines(self) -> list[str]:
        """What is known of devices without a trip, in sentences."""
        return [] if self.without_trip is None else self.without_trip.lines

    def save(self, path: str | Path, *, release: Mapping[str, Any] | None = None) -> None:
        """Write the model as a versioned .npz of plain arrays with a JSON header; never a pickle.

        `release` is what else a release from it needs (`ldptrace.methods.release`).
        """
        own, arrays = self.contents()
        header = {
            "format": FORMAT,
            "model": self.kind,
            "version": self.version,
            "grid": {"bounds": list(self.grid.bounds), "n": self.grid.n},
            "plan": None if self.plan is None else self.plan.to_json(),
            **own,
            **({} if release is None else {"release": dict(release)}),
        }
        text = json.dumps(header, sort_keys=True)
        with atomic_path(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the model of this kind in a file."""
        return cls.read_from(path, *read_model(path))

    @classmethod
    def read_from(cls, path: str | Path, header: dict[str, Any], arrays: Arrays) -> Self:
        """Return the model of this kind with the header and the arrays of that file."""
        if (header.get("model"), header.get("version")) != (cls.kind, cls.version):
            raise FormatError(
                f"{path} should hold a {cls.kind} model of version {cls.version}, it holds "
                f"{header.get('model')!r} version {header.get('version')!r}"
            )
        try:
            grid = Grid(tuple(header["grid"]["bounds"]), header["grid"]["n"])
            plan = None if header["plan"] is None else Plan.from_json(header["plan"])
            return cls.restored(grid, plan, header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path} is not a complete {cls.kind} model: {error}") from None


@dataclass(frozen=True, eq=False)
class Sampler:
    """Synthetic trips of a model, the one way to draw them: block by block, each from a source of its own.

    Any block can be drawn without the others, in pieces of few points however dense they are.
    """

    model: MobilityModel
    count: int
    sources: Sequence[np.random.Generator]
    along: Along

    @staticmethod
    def of(model: MobilityModel, count: int, rng: np.random.Generator, along: Along | None = None) -> Sampler:
        """Make a sampler of `count` trips. Another sampler of the same source draws other trips."""
        return Sampler(model, checked_count(count), rng.spawn(len(block_sizes(count))), along or Along())

    @cached_property
    def trip_points(self) -> float:
        """Points of a trip, by a few trips of the same law: the same for every source and any memory."""
        few = self.model.block(FEW, np.random.default_rng(0), self.along)
        return max(few(0, FEW).points / FEW, 1.0)

    def pieces(self, number: int) -> Iterator[Trajectories]:
        """Draw the block of this number, one piece after the other."""
        part, size = self._part(number), block_sizes(self.count)[number]
        for start, stop in chunks(size, max(1, int(DENSE / self.trip_points))):
            yield part(start, stop)

    def trips(self) -> Trajectories:
        """Return all of them in memory."""
        # One trip at least, so that spacing and interval are checked even if none is wanted.
        parts = map_chunks(
            lambda number, start, stop: self._part(number)(0, stop - start), max(self.count, 1)
        )
        return Trajectories.concat(parts) if self.count else parts[0].part(0, 0)

    def _part(self, number: int) -> Part:
        # A copy, so that a block may be asked for again.
        return self.model.block(block_sizes(self.count)[number], deepcopy(self.sources[number]), self.along)


class LatticeModel(MobilityModel):
    """A distribution over the cell paths of the grid; points are placed in the cells afterwards."""

    # How they are placed (see `ldptrace.core.placement`).
    placement: Style

    @property
    def land(self) -> Land | None:
        """Where in the cells points may be; None: everywhere."""
        return None

    def sample_paths(self, count: int, rng: np.random.Generator) -> CellPaths:
        """Return independent cell paths."""
        return self.walks(checked_count(count), rng.spawn(len(chunks(count))))

    @abstractmethod
    def walks(self, count: int, sources: Sequence[np.random.Generator]) -> CellPaths:
        """Return independent cell paths, each chunk of them from its own source."""

    def block(self, count: int, rng: np.random.Generator, along: Along) -> Part:
        spacing, interval = along.spacing, along.interval
        if interval is not None:
            raise InputError(
                f"a {self.kind} model knows no speeds, so points cannot be {interval:g} seconds apart; give a spacing"
            )
        paths = self.walks(count, rng.spawn(1))
        placed = place(paths, rng.spawn(1), style=self.placement, land=self.land)
        if spacing is None:
            return placed.part
        scale = scale_of(self.grid.bounds, None if self.plan is None else self.plan.crs)
        return lambda start, stop: respace(placed.part(start, stop), spacing, self.land, scale)


def read_model(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    """Read the header and the arrays of a saved model of any kind."""
    try:
        data = Path(path).read_bytes()
        if not data.startswith(b"PK"):
            raise ValueError("it is not the kind of archive that `ldptrace fit` writes")
        with np.load(BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header: dict[str, Any] = json.loads(arrays.pop("header").tobytes().decode())
    except FileNotFoundError:
        raise FormatError(f"there is no file {path}") from None
    except Exception as error:  # a damaged archive fails in many ways, all of them mean the same to the user
        raise FormatError(f"{path} is not a saved model: {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{path} is not a saved model: its format is not {FORMAT!r}")
    return header, arrays


def block_sizes(count: int) -> list[int]:
    """Return how many of the trips are in each block; no trips give one block of one, to know its columns.

    >>> block_sizes(40_000), block_sizes(0)
    ([32768, 7232], [1])
    """
    return [stop - start for start, stop in chunks(max(count, 1))]


def checked_count(count: int) -> int:
    """Check a number of trajectories to draw."""
    if not 0 <= count <= MOST_TRIPS:
        raise InputError(
            f"the number of synthetic trajectories must be from 0 to {MOST_TRIPS:,}, got {count}"
        )
    return count


def checked_arrays(arrays: Arrays, sizes: Mapping[str, int | None]) -> dict[str, Floats]:
    """Return the named columns of finite numbers; a size of None is free."""
    checked = {}
    for name, size in sizes.items():
        column = np.asarray(arrays[name], dtype=np.float64)
        if column.ndim != 1 or (size is not None and len(column) != size) or not np.isfinite(column).all():
            raise FormatError(f"the array {name!r} is broken or does not fit its grid")
        checked[name] = column
    return checked
