"""The paper's mobility model: a chain with virtual start and end (eq. 12), walked by Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths, grid_moves, grown
from ldptrace.core.placement import Style, style_of
from ldptrace.curator.estimates import Estimates
from ldptrace.models.base import Arrays, LatticeModel, checked_arrays
from ldptrace.models.lengths import length_distribution
from ldptrace.models.observation import Observation, Share, first_guess, refuse_unused
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import move_count
from ldptrace.protocol.plan import Plan


@dataclass(frozen=True, eq=False, repr=False)
class MarkovModel(LatticeModel):
    """The Markov chain of the LDPTrace paper: weights of first cells, moves and last cells, and a distribution of
    lengths.

    The parameters `alpha` and `beta` make longer paths more likely to end: after k cells, the weight of the end is
    multiplied by alpha + beta k (equation 14 of the paper). If `capped` is true, this weight is multiplied
    by min(1, alpha + beta (k - 1)) instead, as in the published code of the paper.
    """

    grid: Grid
    lengths: Floats
    starts: Floats
    moves: Floats
    ends: Floats
    alpha: float = 0.3
    beta: float = 0.2
    capped: bool = False

    plan: Plan | None = None
    placement: Style = "uniform"
    without_trip: Share | None = None

    kind: ClassVar[str] = "markov"
    questions: ClassVar[tuple[str, ...]] = ("length", "steps", "start", "cut-end", "combined-steps")

    @classmethod
    def fit(
        cls, estimates: Estimates, *, alpha: float = 0.3, beta: float = 0.2, capped: bool = False
    ) -> MarkovModel:
        """Compute the model from the estimates, by equation 12 of the LDPTrace paper. Negative estimates become 0.

        The method `randsyn`, a variant of the paper's mechanism, does not ask for first and last cells. With `randsyn`,
        paths begin in a random cell and end when they have the drawn length.
        """
        refuse_unused(estimates, cls.questions, cls.kind)
        grid = estimates.plan.grid
        cells, moves = grid.cells, move_count(grid.n)
        if "combined-steps" in estimates:
            combined = np.maximum(estimates["combined-steps"].frequencies, 0)
            steps, starts, ends = np.split(combined, [moves, moves + cells])
        else:
            steps = np.maximum(estimates["steps"].frequencies, 0)
            starts, ends = np.ones(cells), np.zeros(cells)
            if "start" in estimates:
                starts = np.maximum(estimates["start"].frequencies, 0)
                ends = np.maximum(estimates["cut-end"].frequencies, 0)
        if starts.sum() <= 0:
            starts = np.ones(cells)
        share = first_guess(_observed(estimates, moves))
        return MarkovModel(
            grid,
            length_distribution(estimates["length"]),
            starts / starts.sum(),
            steps,
            ends,
            alpha,
            beta,
            capped,
            plan=estimates.plan,
            without_trip=share if share.known else None,
        )

    def walks(self, count: int, sources: Sequence[np.random.Generator]) -> CellPaths:
        """Draw paths by algorithm 1 of the paper. A path also ends in a cell that no estimated move leaves."""
        weights = np.zeros((self.grid.cells, 8))
        targets = np.zeros((self.grid.cells, 8), dtype=np.int32)
        cell, number, target = grid_moves(self.grid.n).T
        weights[cell, number] = self.moves
        targets[cell, number] = target
        onward = np.cumsum(weights, axis=1)
        lengths, starts = np.cumsum(self.lengths), np.cumsum(self.starts)

        def walk(number: int, start: int, stop: int) -> tuple[Ints32, Ints]:
            sizes = np.zeros(stop - start, dtype=np.int64)
            reweight = (self.alpha, self.beta, self.capped)
            return _walks(
                lengths, starts, onward, targets, self.ends, reweight, sizes, sources[number]
            ), sizes

        return CellPaths(*ragged.joined(map_chunks(walk, count)), self.grid)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        header = {
            "alpha": self.alpha,
            "beta": self.beta,
            "capped": self.capped,
            "placement": self.placement,
            "without_trip": self.share_document,
        }
        return header, {name: getattr(self, name) for name in ("lengths", "starts", "moves", "ends")}

    @classmethod
    def restored(cls, grid: Grid, plan: Plan | None, header: dict[str, Any], arrays: Arrays) -> MarkovModel:
        sizes = {"lengths": None, "starts": grid.cells, "moves": move_count(grid.n), "ends": grid.cells}
        return MarkovModel(
            grid,
            **checked_arrays(arrays, sizes),
            alpha=float(header["alpha"]),
            beta=float(header["beta"]),
            capped=bool(header["capped"]),
            plan=plan,
            placement=style_of(header, "uniform"),
            without_trip=Share.restored(header["without_trip"]),
        )


def _observed(estimates: Estimates, moves: int) -> list[Observation]:
    """Return the observations that tell the share of devices without a trip: one for each question, and two, of starts
    and of ends, for the question `combined-steps`.

    Starts, moves, ends and lengths of the chain are free of each other, so the joint fit of the share is that of the
    totals alone (`docs/explanation/path-model.md`, "Devices without a trip").
    """
    observations = []
    for seen in (Observation.of(each) for each in estimates.values() if each.users > 0):
        if seen.name != "combined-steps":
            observations.append(seen)
            continue
        parts = zip(("start", "cut-end"), np.split(np.arange(len(seen.frequencies))[moves:], 2), strict=True)
        observations += [
            Observation(name, 1, seen.users, seen.frequencies[at], seen.variances[at]) for name, at in parts
        ]
    return observations


@kernel
def _draw(cumulative, u):  # type: ignore[no-untyped-def]
    """Return the first index whose cumulative weight exceeds u times the total."""
    return np.searchsorted(cumulative, u * cumulative[-1], side="right")


@kernel
def _walks(lengths, starts, onward, targets, ends, reweight, sizes, rng):  # type: ignore[no-untyped-def]
    """Fill each place of `sizes` by algorithm 1, and return the cells of all walks, one after the other.

    `lengths` and `starts` are cumulative, and so are the rows of `onward`: the weights of the eight moves from a cell.
    """
    alpha, beta, capped = reweight
    cells = np.empty(8 * len(sizes) + 64, dtype=np.int32)
    filled = 0
    for walk in range(len(sizes)):
        longest = min(_draw(lengths, rng.random()), len(lengths) - 1) + 1
        while filled + longest > len(cells):
            cells = grown(cells)
        here = min(_draw(starts, rng.random()), len(starts) - 1)
        cells[filled] = here
        length = 1
        while length < longest:
            factor = min(1.0, alpha + beta * (length - 1)) if capped else alpha + beta * length
            moving = onward[here, 7]
            total = moving + factor * ends[here]
            u = rng.random() * total
            if total <= 0.0 or u >= moving:
                break
            direction = 0
            while onward[here, direction] <= u:
                direction += 1
            here = targets[here, direction]
            cells[filled + length] = here
            length += 1
        filled += length
        sizes[walk] = length
    return cells[:filled].copy()
