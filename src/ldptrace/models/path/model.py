"""The calibrated maximum-entropy path model (`docs/explanation/path-model.md`)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ldptrace.core.area import Area, Land
from ldptrace.core.arrays import Floats
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import Style, style_of
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FitWarning, InputError
from ldptrace.models.base import Arrays, LatticeModel, Replicated, checked_arrays
from ldptrace.models.fit import Fit, fit_potentials
from ldptrace.models.linear import SMALL
from ldptrace.models.observation import Match, Observation, Share, match_table, refuse_unused, warn_of_misfit
from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.components import components
from ldptrace.models.path.flow import Flow
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout, base_length, with_tail
from ldptrace.models.path.sampler import PathSampler
from ldptrace.models.prior import Prior
from ldptrace.models.replicates import path_ratios, redrawn
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import TURNS, bend_count, move_count
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Pairs

PathFit: TypeAlias = Fit[Flow]
# What a fit takes, for each state of a pass, and how many times that with a large epsilon: answers that
# are nearly exact need more products for a step, and more rounds. Told before it begins.
SECONDS_PER_STATE, PRECISE = 2e-5, 3
LOG = logging.getLogger(__name__)
EMPTY = np.zeros(0)
KINDS = ("start", "end", "move", "turn", "pair", "bend")
AREA = ("x", "y", "offsets", "polygon")


@dataclass(frozen=True, eq=False, repr=False)
class PathModel(LatticeModel):
    """The model without a street map: a probability for each cell path.

    The probability of a path depends on its first cell (`start`), its last cell (`end`), its moves (`move`), its
    turns (`turn`) and its number of cells (`length`); where devices were asked, also on the districts of both ends
    together (`pair`) and on which moves follow each other (`bend`). Among all distributions with the same expected
    numbers of all these, the model is the one with the largest entropy.
    """

    grid: Grid
    length: Floats
    start: Floats
    end: Floats
    move: Floats
    turn: Floats
    # Empty where the question was not asked.
    pair: Floats = field(default_factory=lambda: EMPTY)
    bend: Floats = field(default_factory=lambda: EMPTY)
    matches: tuple[Match, ...] = ()
    # Standard deviation of each component of the prior, as estimated.
    scales: Mapping[str, float] | None = None

    plan: Plan | None = None
    # Where paths and points may be, where that is known: public.
    area: Area | None = None
    placement: Style = "neighbours"
    without_trip: Share | None = None
    # Computes `draws`, which takes about as long as half a fit.
    redraw: Callable[[], Floats | None] = lambda: None

    kind: ClassVar[str] = "path"
    questions: ClassVar[tuple[str, ...]] = tuple(ANSWERS)

    @classmethod
    def fit(cls, estimates: Estimates, area: Area | None = None) -> PathModel:
        """Fit the model to the estimates of all questions at once. An estimate with a larger standard error has
        less influence on the model.

        With the argument `area`, synthetic trips stay in this public area. If the estimates contain a
        question that the model does not use, an error is raised.
        """
        refuse_unused(estimates, cls.questions, cls.kind)
        observations = observed(estimates)
        fit, prior = fit_paths(estimates, observations, area)
        model = PathModel.of_fit(fit, observations, estimates.plan)
        model = replace(model, area=area, redraw=partial(redrawn, fit, prior, observations))
        if not warn_of_misfit(model.matches, cls.kind) and not fit.converged:
            warnings.warn(
                f"the path model did not converge in {fit.rounds} iterations", FitWarning, stacklevel=2
            )
        return model

    @staticmethod
    def of_fit(fit: PathFit, observations: Sequence[Observation], plan: Plan) -> PathModel:
        """Make the model from the result of a fit."""
        layout, potentials = fit.model.layout, fit.model.potentials
        return PathModel(
            grid=plan.grid,
            length=fit.model.length,
            **{kind: potentials[getattr(layout, kind)] for kind in KINDS},
            matches=tuple(Match.of(seen, fit.expected[seen.name]) for seen in observations),
            scales=fit.scales,
            plan=plan,
            without_trip=fit.share if fit.share.known else None,
        )

    @cached_property
    def draws(self) -> Floats | None:
        """Changes of all potentials in each replicate of the noise (`ldptrace.models.replicates`), where they are
        known."""
        return self.redraw()

    @cached_property
    def land(self) -> Land | None:
        """The part of each cell that lies in the public area."""
        return None if self.area is None else self.area.land(self.grid)

    @property
    def layout(self) -> Layout:
        """The place of each parameter in the vector of all potentials."""
        sizes = self.grid.cells, len(self.move), len(self.length)
        return Layout(*sizes, round(len(self.pair) ** 0.25), len(self.bend))

    @property
    def potentials(self) -> Floats:
        """All parameters as one vector."""
        layout = self.layout
        values = np.zeros(layout.size)
        for kind in KINDS:
            values[getattr(layout, kind)] = getattr(self, kind)
        # The logarithms of the lengths, less those of the base.
        values[layout.length] = np.log(np.maximum(self.length, 1e-300)) - base_length(
            self.grid.n, layout.lengths
        )
        return values

    @cached_property
    def _sampler(self) -> PathSampler:
        drawn = replace(self, length=with_tail(self.length))
        return PathSampler.prepare(Flow.at(_graph(self.grid, self.area), drawn.layout, drawn.potentials))

    def walks(self, count: int, sources: Sequence[np.random.Generator]) -> CellPaths:
        """Draw independent paths, exactly by the probabilities of the model."""
        return self._sampler.draw(count, sources)

    def replicated(self, count: int, rng: np.random.Generator, *, timed: bool = False) -> Replicated:
        trips = self.sample(count, rng)
        if self.draws is None:
            return trips, None
        paths = CellPaths.from_trajectories(trips, self.grid)
        linear = self.layout.size > SMALL
        return trips, path_ratios(paths, self.length, self.layout, self.draws, linear=linear)

    def explain(self) -> str:
        """Return a text that says how far the model is from the estimates, in standard errors.

        The text also lists the standard deviation of the parameters in each group, such as the weights of first
        cells.
        """
        lines = [*match_table(self.matches), *self.share_lines]
        if self.scales:
            lines += ["What the potentials are made of (standard deviation of each component, in log units)"]
            lines += [f"  {name:<20}{scale:>7.3f}" for name, scale in self.scales.items()]
        if self.land is not None:
            closed = int((~self.land.cells).sum())
            lines.append(f"{closed} of {self.grid.cells} cells have no part in the area: no path enters them")
        return "\n".join(lines)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        header = {
            "matches": [asdict(match) for match in self.matches],
            "scales": list((self.scales or {}).items()),
            "placement": self.placement,
            "without_trip": self.share_document,
        }
        columns = {name: getattr(self, name) for name in ("length", *KINDS)}
        if self.draws is not None:
            columns["draws"] = self.draws.astype(np.float32)
        area = {} if self.area is None else {f"area_{name}": getattr(self.area, name) for name in AREA}
        return header, columns | area

    @classmethod
    def restored(cls, grid: Grid, plan: Plan | None, header: dict[str, Any], arrays: Arrays) -> PathModel:
        cells, moves = grid.cells, move_count(grid.n)
        sizes = {"length": None, "start": cells, "end": cells, "move": moves, "turn": TURNS}
        # Files of earlier versions have neither pairs nor bends.
        stored = {"pair": EMPTY, "bend": EMPTY} | arrays
        districts = round(len(stored["pair"]) ** 0.25)
        sizes |= {"pair": districts**4, "bend": min(len(stored["bend"]), 1) * bend_count(grid.n)}
        columns = checked_arrays(stored, sizes)
        layout = Layout(cells, moves, len(columns["length"]), districts, len(columns["bend"]))
        matches = tuple(Match(**match) for match in header["matches"])
        area = Area(*(arrays[f"area_{name}"] for name in AREA)) if "area_x" in arrays else None
        scales, draws = dict(header["scales"]) or None, _restored_draws(arrays, layout.size)
        return PathModel(
            grid,
            **columns,
            matches=matches,
            scales=scales,
            plan=plan,
            area=area,
            placement=style_of(header, "neighbours"),
            without_trip=Share.restored(header["without_trip"]),
            redraw=lambda: draws,
        )


def _restored_draws(arrays: Arrays, size: int) -> Floats | None:
    """Return the replicates of a file, checked; older files have none."""
    if "draws" not in arrays:
        return None
    draws = np.asarray(arrays["draws"], dtype=np.float64)
    if draws.ndim != 2 or draws.shape[1] != size or not np.isfinite(draws).all():
        raise ValueError("the replicates do not fit the model")
    return draws


def _graph(grid: Grid, area: Area | None) -> MoveGraph:
    """Return the moves of the grid, those that leave the area closed."""
    if area is None:
        return MoveGraph(grid)
    graph = MoveGraph(grid, area.land(grid).cells)
    if not graph.open_moves.any():
        raise InputError("no two neighbouring cells have a part in the area, so no path could move")
    return graph


def observed(estimates: Estimates, questions: Iterable[str] = ANSWERS) -> list[Observation]:
    """Return what was answered to these questions, of those that somebody was asked."""
    return [
        Observation.of(estimates[name])
        for name in questions
        if name in estimates and estimates[name].users > 0
    ]


def fit_paths(
    estimates: Estimates,
    observations: Sequence[Observation],
    area: Area | None = None,
    before: PathFit | None = None,
) -> tuple[PathFit, Prior]:
    """Return the most probable potentials of the path model, and what was believed of them before any answer.

    A fit of a stream goes on from the one `before`, briefly.
    """
    graph = _graph(estimates.plan.grid, area)
    layout = layout_of(estimates, graph)
    prior = Prior(components(graph, layout))
    begin = np.zeros(layout.size) if before is None else before.model.potentials
    progress = None
    states = 8 * graph.cells * layout.lengths * max(layout.districts, 1) ** 2
    if before is None and SECONDS_PER_STATE * states > 1:
        progress = partial(LOG.info, "fit: round %d of at most %d")
        n, seconds = graph.grid.n, SECONDS_PER_STATE * states
        LOG.info(
            "fitting %d x %d cells, %s potentials: about %.0f s on two cores, up to %.0f s with a large epsilon",
            *(n, n, f"{layout.size:,}", seconds, PRECISE * seconds),
        )
    flow = Flow.at(graph, layout, begin)
    seen = [replace(each, closely=ANSWERS[each.name].shape) for each in observations]
    return fit_potentials(flow, prior, seen, progress, before, briefly=True), prior


def layout_of(estimates: Estimates, graph: MoveGraph) -> Layout:
    """Return the potentials that the questions of a plan tell: pairs and bends only where it asks about them."""
    pairs = estimates["pairs"].question if "pairs" in estimates else None
    districts = pairs.districts if isinstance(pairs, Pairs) else 0
    bends = graph.bends if "bends" in estimates else 0
    return Layout(graph.cells, graph.moves, longest(estimates), districts, bends)


def longest(estimates: Estimates) -> int:
    """Return the largest length; longer paths count as this one."""
    return len(estimates["length"].frequencies) if "length" in estimates else 3 * estimates.plan.grid.n + 2
