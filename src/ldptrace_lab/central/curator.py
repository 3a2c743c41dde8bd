"""A trusted curator: counts everybody's items, adds exact noise, and never spends more than epsilon.

Two data sets are neighbours when one trajectory is replaced by another; how many there are is public. So is the area.
A trajectory's items weigh at most one together, in whole units, so a replaced trajectory moves all counts together by
at most two. The papers call data sets neighbours when one has a trajectory more, which halves the noise and protects
less: their number is published here all the same. The noise is a discrete Laplace variable, drawn with whole numbers
only (Canonne, Kamath, Steinke, NeurIPS'20): no floating point number decides how likely an output is. A release draws
it from the operating system's secure source; only an experiment, which says so in its provenance, has a seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.paths import grid_moves
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis
from ldptrace.options import option
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.protocol.grid import Grid

# What the items of one trajectory weigh together. Sums of a billion trajectories are exact in 64 bits.
UNITS = 1 << 20
# How far one person moves all counts together. Replaced: the items of one trajectory leave, another's come.
SENSITIVITY = {"replaced": 2, "added": 1}


class SystemSource:
    """Uniform whole numbers from the operating system's secure source, exactly."""

    def integers(self, low: int, high: int, size: int) -> Ints:
        """Draw whole numbers from `low` to below `high`: the low bits of eight bytes, drawn again until they fit.

        >>> SystemSource().integers(7, 8, 3).tolist()
        [7, 7, 7]
        """
        span = high - low
        mask = np.uint64((1 << (span - 1).bit_length()) - 1)
        drawn = np.empty(0, dtype=np.uint64)
        while len(drawn) < size:
            bits = np.frombuffer(os.urandom(8 * (size - len(drawn))), dtype=np.uint64) & mask
            drawn = np.concatenate([drawn, bits[bits < span]])
        return low + drawn.astype(np.int64)


# Where uniform whole numbers come from: the operating system, or a generator with a seed.
Source = SystemSource | np.random.Generator


class TrustedCurator:
    """Noisy histograms of everybody's items, eps-differentially private together."""

    def __init__(self, epsilon: float, source: Source, neighbours: str = "replaced") -> None:
        if neighbours not in SENSITIVITY:
            raise InputError(f"neighbours must be {' or '.join(SENSITIVITY)}, got {neighbours!r}")
        self.sensitivity = SENSITIVITY[neighbours]
        self.epsilon = epsilon_fraction(epsilon)
        self.source = source
        self.left = Fraction(1)

    def histogram(
        self, items: NDArray[np.int32] | Ints, owners: Ints, domain: int, share: Fraction
    ) -> Floats:
        """Return how many trajectories an item stands for, with the noise of a share of epsilon.

        `items` and the trajectories that they are of stand side by side. A trajectory with k items adds 1/k to each.
        """
        self.left -= share
        if share <= 0 or self.left < 0:
            raise InputError(
                f"the shares of epsilon must be positive and at most 1 together, got {share} too much"
            )
        sizes = np.bincount(owners) if len(owners) else np.zeros(0, dtype=np.int64)
        weights = UNITS // np.maximum(sizes, 1)[owners]
        # Whole numbers below 2^53: these floating point sums are exact.
        counts = np.bincount(items, weights=weights, minlength=domain).astype(np.int64)
        scale = self.sensitivity * UNITS / (self.epsilon * share)
        return (counts + discrete_laplace(scale, domain, self.source)) / UNITS


def discrete_laplace(scale: Fraction, count: int, source: Source) -> Ints:
    """Return whole numbers k with probability proportional to exp(-|k| / scale), exactly.

    >>> discrete_laplace(Fraction(1, 60), 3, np.random.default_rng(1)).tolist()
    [0, 0, 0]
    """
    top, bottom = scale.numerator, scale.denominator
    if top > 1 << 40:
        raise InputError(f"noise of scale {float(scale):.3g} is more than 64-bit integers can represent")
    drawn = np.zeros(count, dtype=np.int64)
    open_ = np.arange(count)
    while len(open_):
        low = source.integers(0, top, len(open_))
        kept = _happens(low, top, source)
        wide = _geometric(len(open_), source)
        size = (low + top * wide) // bottom
        negative = source.integers(0, 2, len(open_)) == 1
        # Zero is one number, not two.
        kept &= ~(negative & (size == 0))
        drawn[open_[kept]] = np.where(negative, -size, size)[kept]
        open_ = open_[~kept]
    return drawn


def _happens(numerator: Ints, denominator: int, source: Source) -> NDArray[np.bool_]:
    """Draw events of probability exp(-numerator / denominator) for fractions of at most one (von Neumann's series)."""
    rounds = np.zeros(len(numerator), dtype=np.int64)
    going = np.arange(len(numerator))
    k = 1
    while len(going):
        again = source.integers(0, denominator * k, len(going)) < numerator[going]
        going = going[again]
        rounds[going] += 1
        k += 1
    return rounds % 2 == 0


def _geometric(count: int, source: Source) -> Ints:
    """Return how often in a row an event of probability 1/e happens."""
    often = np.zeros(count, dtype=np.int64)
    going = np.arange(count)
    while len(going):
        going = going[_happens(np.ones(len(going), dtype=np.int64), 1, source)]
        often[going] += 1
    return often


def on_simplex(counts: Floats) -> Floats:
    """Return the nearest counts that are not negative and have the same total, one at least (norm-sub).

    >>> on_simplex(np.array([5.0, 3.0, -2.0])).tolist()
    [4.0, 2.0, 0.0]
    """
    falling, total = np.sort(counts)[::-1], max(float(counts.sum()), 1.0)
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(counts - excess[last], 0.0)


def drawn(cumulative: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return this many items, with these running sums of their weights."""
    items = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], "right")
    return np.minimum(items, len(cumulative) - 1)


def onward(grid: Grid) -> Ints32:
    """Return where each of the eight moves out of each cell leads; -1 leaves the map."""
    cell, direction, target = grid_moves(grid.n).T
    targets = np.full((grid.cells, 8), -1, dtype=np.int32)
    targets[cell, direction] = target
    return targets


def points_in_parts(
    grid: Grid, cells: NDArray[np.integer], part: Ints, side: Ints, offsets: Ints, rng: np.random.Generator
) -> Trajectories:
    """Draw a uniform point in a part of each cell, which is cut into `side` parts a side; parts are numbered column by
    column."""
    within = rng.random((2, len(cells)))
    (ox, oy), (sx, sy), (x0, y0, x1, y1) = grid.origin, grid.step, grid.bounds
    x = ox + sx * (cells // grid.n + (part // side + within[0]) / side)
    y = oy + sy * (cells % grid.n + (part % side + within[1]) / side)
    return Trajectories(x.clip(x0, x1), y.clip(y0, y1), offsets)


Features = TypeVar("Features")
TRUST = "needs a trusted curator, who sees every trajectory: central, not local differential privacy"


@dataclass(frozen=True)
class Options:
    """The options of every method with a trusted curator."""

    neighbours: Literal["replaced", "added"] = option(
        "replaced", help="Which data sets are neighbours: one trajectory replaced by another, or one added."
    )


def central_method(
    name: str,
    summary: str,
    learn: Callable[[Job, TrustedCurator], Features],
    synthetic: Callable[[Features, int, np.random.Generator], Trajectories],
    *,
    note: str,
    options: type[Options] = Options,
) -> Method:
    """Make a method: `learn` reads the trajectories only through the curator, `synthetic` only what was learnt."""

    def run(job: Job) -> Synthesis:
        # Noise that nobody may know: of the operating system, unless the run is an experiment that repeats.
        source: Source = job.devices if job.seeded else SystemSource()
        curator = TrustedCurator(job.epsilon, source, job.options.neighbours)
        with job.stages("count and add noise"):
            features = learn(job, curator)
        with job.stages("synthesise"):
            made = synthetic(features, job.users if job.count is None else job.count, job.sampling)
        return Synthesis(trajectories=made, notes=(note,))

    return Method(
        name, f"{summary}; needs a trusted curator", run, leaks=TRUST, options=options, has_model=False
    )
