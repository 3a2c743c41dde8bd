"""The calibrated maximum-entropy path model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimate
from ldptrace.errors import FitWarning, FormatError, InputError
from ldptrace.models.base import MobilityModel, load_arrays, save_arrays
from ldptrace.models.path.fit import Fit, Observation, calibrate
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.network import Network
from ldptrace.models.path.sampler import Walks
from ldptrace.models.path.statistics import QUESTIONS, Layout, weights_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import TURNS, move_count

Floats = NDArray[np.float64]
VERSION = 1
# False-alarm probability of the warning that a fit is poor.
ALARM = 1e-6


@dataclass(frozen=True)
class Match:
    """How well the model matches one question: misfits in units of the answers' standard errors."""

    question: str
    users: int
    answers: int
    # Mean of the squared misfits: near 1 when all misfit is noise, below when the model follows some noise.
    chi2: float
    largest: float


@dataclass(frozen=True, eq=False)
class PathModel(MobilityModel):
    """Paths with L cells have probability `length[L - 1]` times a product of factors, over their sum.

    The factors, as logarithms: `start` and `end` of the first and last cell, `move` of every move (the base, an
    equal chance of all moves out of a cell, not included), `turn` of every bend. It is the distribution of largest
    entropy for given expected starts, ends, moves, turns and lengths.
    """

    grid: Grid
    length: Floats
    start: Floats
    end: Floats
    move: Floats
    turn: Floats
    matches: tuple[Match, ...] = ()
    # Standard deviation of each part of the prior, as estimated.
    scales: Mapping[str, float] | None = None

    @staticmethod
    def from_estimates(grid: Grid, estimates: Mapping[str, Estimate]) -> PathModel:
        """Fit to all noisy answers at once, each weighted by its known variance.

        Questions that the model does not know, and questions nobody was asked, are left out.
        """
        observations = [
            _observation(estimates[name])
            for name in QUESTIONS
            if name in estimates and estimates[name].users > 0
        ]
        network = Network(grid)
        lengths = len(estimates["length"].frequencies) if "length" in estimates else 3 * grid.n + 2
        fit = calibrate(network, lengths, observations)
        layout, potentials = fit.model.layout, fit.model.potentials
        model = PathModel(
            grid=grid,
            length=fit.model.length,
            start=potentials[layout.start],
            end=potentials[layout.end],
            move=potentials[layout.move],
            turn=potentials[layout.turn],
            matches=tuple(_match(seen, fit.expected[seen.name]) for seen in observations),
            scales={name: math.sqrt(variance) for name, variance in fit.variances.items()},
        )
        _warn(model, fit)
        return model

    @cached_property
    def _walks(self) -> Walks:
        network = Network(self.grid)
        layout = Layout(network.cells, network.moves, len(self.length))
        potentials = np.concatenate([self.start, self.end, self.move, self.turn, np.zeros(len(self.length))])
        messages = Messages.along(network, weights_of(network, layout, potentials), len(self.length) - 1)
        return Walks.prepare(messages, self.length)

    def sample(self, count: int, rng: np.random.Generator) -> CellPaths:
        """Independent paths, drawn exactly and without rejection."""
        if count < 0:
            raise InputError(f"the number of paths must not be negative, got {count}")
        return self._walks.draw(count, rng)

    def explain(self) -> str:
        """How well the model matches what was asked, in units of standard errors, and what it learned."""
        lines = ["How the model matches the noisy answers (1.0: all misfit is noise)"]
        lines += [f"  {'question':<10}{'users':>10}{'answers':>9}{'chi2':>7}{'largest':>9}"]
        lines += [
            f"  {match.question:<10}{match.users:>10,}{match.answers:>9}{match.chi2:>7.2f}{match.largest:>7.1f} se"
            for match in self.matches
        ]
        if self.scales:
            lines += ["What the potentials are made of (standard deviation of each part, in log units)"]
            lines += [f"  {name:<20}{scale:>7.3f}" for name, scale in self.scales.items()]
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        header = {
            "model": "path",
            "version": VERSION,
            "grid": {"bounds": list(self.grid.bounds), "n": self.grid.n},
            "matches": [asdict(match) for match in self.matches],
            "scales": list((self.scales or {}).items()),
        }
        save_arrays(path, header, {name: getattr(self, name) for name in _ARRAYS})

    @staticmethod
    def load(path: str | Path) -> PathModel:
        header, arrays = load_arrays(path, "path", VERSION)
        try:
            grid = Grid(tuple(header["grid"]["bounds"]), header["grid"]["n"])
            matches = tuple(Match(**match) for match in header["matches"])
            parts = {name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS}
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path} is not a complete path model: {error}") from None
        sizes = {"start": grid.cells, "end": grid.cells, "move": move_count(grid.n), "turn": TURNS}
        for name, part in parts.items():
            if part.ndim != 1 or len(part) != sizes.get(name, len(part)) or not np.isfinite(part).all():
                raise FormatError(
                    f"{path} has a broken array {name!r} for a grid of {grid.n} x {grid.n} cells"
                )
        return PathModel(grid, **parts, matches=matches, scales=dict(header["scales"]) or None)


_ARRAYS = ("length", "start", "end", "move", "turn")


def _observation(estimate: Estimate) -> Observation:
    question, variances = estimate.question, estimate.std_errors**2
    total = None
    if estimate.nulls is not None and question.name not in {"length", "start", "end"}:
        # All outputs, empty places included, add up to a constant: this is the noise of the part that is filled.
        total = (question.capacity - estimate.nulls, question.capacity * float(variances.min()))
    return Observation(
        question.name, question.capacity, estimate.users, estimate.frequencies, variances, total
    )


def _match(seen: Observation, expected: Floats) -> Match:
    misfit = (seen.frequencies - expected) / np.sqrt(seen.variances)
    return Match(seen.name, seen.users, len(misfit), float((misfit**2).mean()), float(np.abs(misfit).max()))


def _warn(model: PathModel, fit: Fit) -> None:
    """A poor fit is told: misfits that noise does not explain, or steps that did not settle."""
    total = sum(match.chi2 * match.answers for match in model.matches)
    answers = sum(match.answers for match in model.matches)
    limit = answers + math.sqrt(-4 * answers * math.log(ALARM)) - 2 * math.log(ALARM)
    if total > limit:
        worst = max(model.matches, key=lambda match: match.chi2)
        warnings.warn(
            f"the path model misses the answers by more than noise explains (chi2 {total / answers:.2f} per answer, "
            f"worst {worst.question!r} with {worst.chi2:.2f})",
            FitWarning,
            stacklevel=3,
        )
    elif not fit.converged:
        warnings.warn(f"the path model did not settle in {fit.rounds} rounds", FitWarning, stacklevel=3)
