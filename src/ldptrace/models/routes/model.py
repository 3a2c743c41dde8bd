"""The route model: trips are public routes through the streets, drawn by weights that agree with the reports."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.area import Area
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place, respace, running, steps_to
from ldptrace.core.timing import slow_at_ends
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FitWarning
from ldptrace.models.base import Along, Arrays, MobilityModel, Part, Replicated, checked_count
from ldptrace.models.fit import Fit
from ldptrace.models.observation import (
    Match,
    Observation,
    Share,
    match_table,
    overall,
    refuse_unused,
    warn_of_misfit,
)
from ldptrace.models.path.model import PathModel, observed
from ldptrace.models.replicates import normal
from ldptrace.models.routes import files
from ldptrace.models.routes.answers import ANSWERS
from ldptrace.models.routes.drivers import Drivers
from ldptrace.models.routes.fitted import Cut, Fitted, coverage_of, within
from ldptrace.models.routes.free import FreePaths, Split, drawn
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.routes.search import searched, usual_routes
from ldptrace.models.routes.strides import Strides
from ldptrace.models.routes.weighting import FINE, Weighting
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.coverage import Coverage
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import felt_lengths

# Fewer routes than this that carry the weight: trips repeat themselves.
FEW = 1000
# Routes that weigh less than this part of an equal share are never drawn; files need not hold them.
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class RouteModel(MobilityModel):
    """The model with a street map: public routes, each drawn with a weight that is fitted to the reports.

    The weight of a route depends on its first and last cell, its moves, its turns and its length in cells, as in the
    path model. A device with few GPS fixes misses some cells on its way. So the model assumes a distance between two
    fixes (stride) for each route, and counts only the cells that a device with this stride would report. Every trip
    on streets is a public route, so the model cannot memorise a person's trip.

    A path model draws the trips that do not follow streets. Two attributes state their shares:

    - `elsewhere`: the share of trips through cells without streets.
    - `off_streets`: of the trips through cells with streets only, the share that leaves the streets.
    """

    grid: Grid
    routes: Routes
    strides: Strides
    matches: tuple[Match, ...] = ()
    # How the fitted streets match the answers, without the path model.
    on_streets: tuple[Match, ...] = ()
    scales: Mapping[str, float] | None = None
    off_streets: float = 0.0
    paths: PathModel | None = None
    plan: Plan | None = None
    # How the first broad library, drawn before any answer was looked at, matches them with its public weights.
    map_alone: tuple[Match, ...] = ()
    without_trip: Share | None = None
    # Computes `draws`.
    redraw: Callable[[], NDArray[np.int8] | None] = lambda: None
    # How much of the bounds has streets, and which cells have none; and the share of all trips that pass such cells.
    coverage: Coverage | None = None
    elsewhere: float = 0.0
    # Lengths of the edges as time passes on them, where speeds are not known; None: their own lengths.
    felt: Floats | None = None
    # What the answers say of the kinds of drivers; None if the routes are not drawn from a map.
    drivers: Drivers | None = None

    kind: ClassVar[str] = "route"
    questions: ClassVar[tuple[str, ...]] = tuple(ANSWERS)

    @cached_property
    def draws(self) -> NDArray[np.int8] | None:
        """Changes of the logarithm of each weight in each replicate of the noise, in steps of 1 / `FINE`; None: not
        known."""
        return self.redraw()

    @classmethod
    def fit(
        cls,
        estimates: Estimates,
        public: RoadNetwork | Routes,
        rng: np.random.Generator,
        *,
        area: Area | None = None,
        streets: StreetOptions | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RouteModel:
        """Fit the model to the estimates of all questions at once.

        `public` is a road network, from which routes are drawn with `rng`, or routes that are used as they are. The
        other arguments are those of `fit_model`.
        """
        refuse_unused(estimates, cls.questions, cls.kind)
        options, grid = streets or StreetOptions(), estimates.plan.grid
        drivers: Drivers | None
        observations = observed(estimates, cls.questions)
        roads = within(public, grid, estimates.plan.crs) if isinstance(public, RoadNetwork) else None
        coverage = None if roads is None else coverage_of(roads, grid)
        free = FreePaths.of(estimates, observations, area) if options.may_leave and observations else None
        split = Split(observations)
        if free is not None and coverage is not None:
            split = free.split(coverage.bare, observations, *rng.spawn(1))
        if roads is not None:
            drawing = options.library or Library(routes=usual_routes(observations))
            tell = progress or _quiet
            fitted, alone, drivers = searched(roads, drawing, estimates, split.others, rng, tell)
        else:
            assert isinstance(public, Routes)
            fitted = Fitted.of(public, Cut.of(public, grid, rng), estimates, split.others)
            alone, drivers = fitted.map_alone(split.others), None
        model = RouteModel.of_fitted(fitted, split.others, estimates.plan, alone)
        felt = None if roads is None or roads.seconds is not None else felt_lengths(roads)
        model = replace(
            model,
            redraw=partial(fitted.replicates, split.others),
            coverage=coverage,
            felt=felt,
            drivers=drivers,
        )
        if free is not None:
            model = model.leaving(free, fitted, split)
        _warn(model, fitted.fit)
        return model

    def leaving(self, free: FreePaths, fitted: Fitted, split: Split) -> RouteModel:
        """Return the model with a path model for trips that leave the streets, if the answers show such trips."""
        share = free.share(fitted, self.map_alone, split)
        if share == 0 and split.elsewhere == 0:
            return self
        expected = {
            name: (1 - share) * fitted.fit.expected[name] + share * split.inside(name, answers)
            for name, answers in free.fit.expected.items()
        }
        matches = tuple(Match.of(seen, expected[seen.name]) for seen in split.others if seen.name in expected)
        return replace(self, matches=matches, off_streets=share, elsewhere=split.elsewhere, paths=free.model)

    @staticmethod
    def of_fitted(
        fitted: Fitted, observations: Sequence[Observation], plan: Plan, alone: tuple[Match, ...] = ()
    ) -> RouteModel:
        """Make the model from a fitted library of routes."""
        matches, share = fitted.matches(observations), fitted.fit.share
        return RouteModel(
            plan.grid,
            replace(fitted.routes, weights=fitted.weights),
            fitted.strides,
            matches,
            matches,
            fitted.fit.scales,
            plan=plan,
            map_alone=alone,
            without_trip=share if share.known else None,
        )

    @staticmethod
    def of_map(public: RoadNetwork | Routes, grid: Grid, rng: np.random.Generator) -> RouteModel:
        """Make a model from the street map alone: public routes with weights that depend on the map only.

        A comparison of a fitted model with this model shows what the reports add.
        """
        routes = (
            Library().draw(within(public, grid, None), rng) if isinstance(public, RoadNetwork) else public
        )
        strides = Strides.drawn(routes, grid, rng)
        weights = strides.weighted(routes.weights)
        return RouteModel(grid, replace(routes, weights=weights), strides)

    @property
    def effective(self) -> float:
        """Effective number of routes, which is small if few routes have most of the weight: 1 divided by the sum of the
        squared weights."""
        return 1 / float((self.routes.weights**2).sum())

    @property
    def knows_speeds(self) -> bool:
        return self.routes.roads.seconds is not None

    @cached_property
    def _clocked(self) -> Routes:
        """The routes on streets with travel times. If speeds are not known, the times have no unit."""
        roads = self.routes.roads
        if roads.seconds is not None:
            return self.routes
        felt = roads.length if self.felt is None else self.felt
        return replace(self.routes, roads=replace(roads, seconds=felt))

    @cached_property
    def _running(self) -> Floats:
        return np.cumsum(self.routes.weights)

    def block(self, count: int, rng: np.random.Generator, along: Along) -> Part:
        # A child: times of trips are drawn from the source itself.
        (own,) = rng.spawn(1)
        return self._drawn(count, own, along)[0]

    def _drawn(self, count: int, rng: np.random.Generator, along: Along) -> tuple[Part, Ints]:
        """Draw trips, whose points are computed on demand, and the number of the route of each trip; -1 off the
        streets.

        Without `spacing` or `interval`, points are dense. They omit corners of cells that devices seem to miss because
        their fixes are further apart.
        """
        elsewhere = int(rng.binomial(count, self.elsewhere)) if self.elsewhere else 0
        off = int(rng.binomial(count - elsewhere, self.off_streets))
        followed = count - elsewhere - off
        picked = np.searchsorted(self._running, rng.random(followed) * self._running[-1], side="right")
        picked = np.minimum(picked, len(self.routes) - 1)
        spacing, interval = along.spacing, along.interval
        timed = along.timed or interval is not None
        routes = self._clocked if along.timed else self.routes

        def on_streets(which: Ints) -> Trajectories:
            if spacing is None and interval is None:
                drawn = self.strides.trips(routes, which, self.grid)
            else:
                drawn = routes.points(which, spacing=spacing, interval=interval)
            return self._paced(drawn) if timed else replace(drawn, t=None)

        if followed == count or self.paths is None:
            return lambda start, stop: on_streets(picked[start:stop]), picked
        paths = self._walks(elsewhere, off, rng)
        free, order = self._free(paths, rng, replace(along, timed=timed)), rng.permutation(count)

        def part(start: int, stop: int) -> Trajectories:
            which = order[start:stop]
            street = which < len(picked)
            both = [free(which[~street] - len(picked))]
            if street.any():
                both = [on_streets(picked[which[street]]), *both]
            place = np.where(street, np.cumsum(street), street.sum() + np.cumsum(~street)) - 1
            return Trajectories.concat(both).take(place)

        return part, np.append(picked, np.full(count - followed, -1))[order]

    def _paced(self, drawn: Trajectories) -> Trajectories:
        """Return trips with times. If speeds are not known, trips are also slower near both ends."""
        if self.knows_speeds or drawn.t is None:
            return drawn
        felt = slow_at_ends(drawn.offsets, np.diff(drawn.t, prepend=0.0))
        return replace(drawn, t=running(felt, drawn.offsets))

    def replicated(self, count: int, rng: np.random.Generator, *, timed: bool = False) -> Replicated:
        part, numbers = self._drawn(checked_count(count), rng, Along(timed=timed))
        trips = self.labelled(part(0, count))
        if self.draws is None:
            return trips, None
        # How much the route of each trip counts in each replicate; trips off the streets (number below 0) count once.
        ratios = np.exp(self.draws[:, numbers] / np.float32(FINE))
        ratios[:, numbers < 0] = 1.0
        return trips, normal(ratios)

    def _walks(self, elsewhere: int, off: int, rng: np.random.Generator) -> CellPaths:
        """Draw the cell paths of trips elsewhere, and of trips off the streets in cells with streets."""
        assert self.paths is not None
        if self.elsewhere == 0 or self.coverage is None:
            return self.paths.sample_paths(elsewhere + off, rng)
        bare = self.coverage.bare
        both = [
            drawn(self.paths, many, rng, bare, there) for many, there in ((elsewhere, True), (off, False))
        ]
        return CellPaths.concat(both)

    def _free(
        self, paths: CellPaths, rng: np.random.Generator, along: Along
    ) -> Callable[[Ints], Trajectories]:
        """Return trips off the streets, with the same distance between points as on streets, at the mean speed of the
        streets."""
        assert self.paths is not None
        roads = self.routes.roads
        scale = math.sqrt(roads.scale[0] * roads.scale[1])
        pace = 1.0 if roads.seconds is None else float(roads.seconds.sum() / roads.length.sum())
        usual = float(self.strides.apart[0]) / (pace if self.strides.timed else 1.0)
        apart = (along.spacing or (along.interval / pace if along.interval else usual)) / scale
        land = self.paths.land
        placed = place(paths, rng, style=self.paths.placement, land=land)

        def free(which: Ints) -> Trajectories:
            drawn = replace(respace(placed.take(which), apart, land), crs=roads.crs)
            if not along.timed:
                return drawn
            return self._paced(replace(drawn, t=running(steps_to(drawn) * scale * pace, drawn.offsets)))

        return free

    def explain(self) -> str:
        """Return a text that says how many routes the model uses, and how far it is from the estimates, in standard
        errors. The text also lists the standard deviation of the parameters in each group."""
        roads = self.routes.roads
        common = self.strides.shares(self.routes.weights)
        unit = "s" if self.strides.timed else "units"
        lines = [
            f"{len(self.routes):,} routes on {roads.edges:,} edges of {roads.name}; synthetic trips effectively use "
            f"{self.effective:,.0f} of them",
            "Distance between fixes, as far as the answers tell: "
            + ", ".join(
                f"{apart:.3g} {unit} {share:.0%}"
                for apart, share in zip(self.strides.apart, common, strict=True)
            ),
        ]
        lines += [] if self.coverage is None else [self.coverage.line]
        lines += self.street_lines
        lines += [] if self.drivers is None else self.drivers.lines
        if self.off_streets > 0:
            lines += ["Fitted streets without paths:", *match_table(self.on_streets)]
            lines += ["Fitted streets and paths together:"]
        lines += [*match_table(self.matches, self.map_alone)]
        lines += [] if self.map_note is None else [self.map_note]
        lines += self.share_lines
        if self.scales:
            lines += ["What the potentials are made of (standard deviation of each component, in log units)"]
            lines += [f"  {name:<26}{scale:>6.3f}" for name, scale in self.scales.items()]
        return "\n".join(lines)

    @property
    def map_note(self) -> str | None:
        note = super().map_note
        if note is None or self.elsewhere == 0:
            return note
        return f"Where there are streets: {note[0].lower()}{note[1:]}"

    @property
    def street_lines(self) -> list[str]:
        lines = []
        if self.elsewhere > 0:
            lines.append(f"Trips through cells without streets, by the path model: {self.elsewhere:.0%}.")
        if self.off_streets > 0:
            of = " of the others" if self.elsewhere > 0 else ""
            lines.append(f"Trips off the streets, by the path model: {self.off_streets:.0%}{of}.")
        return lines

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        kept = self.routes.weights > _NOTHING / len(self.routes)
        header, arrays = files.routes_contents(self.routes.take(kept))
        header |= {
            name: [asdict(match) for match in getattr(self, name)]
            for name in ("matches", "on_streets", "map_alone")
        }
        header |= {
            "scales": list((self.scales or {}).items()),
            "strides": {"apart": self.strides.apart.tolist(), "timed": self.strides.timed},
            "off_streets": self.off_streets,
            "elsewhere": self.elsewhere,
            "coverage": None if self.coverage is None else self.coverage.document(),
            "without_trip": self.share_document,
            "drivers": None if self.drivers is None else self.drivers.document(),
            "paths": None,
        }
        arrays["stride"] = self.strides.kind[kept]
        if self.draws is not None:
            arrays["draws"] = self.draws[:, kept]
        if self.felt is not None:
            arrays["felt"] = self.felt[np.unique(self.routes.take(kept).edges)]
        if self.paths is not None:
            header["paths"], of_paths = self.paths.contents()
            arrays |= {f"paths_{name}": column for name, column in of_paths.items()}
        return header, arrays

    @classmethod
    def restored(cls, grid: Grid, plan: Plan | None, header: dict[str, Any], arrays: Arrays) -> RouteModel:
        routes = files.routes_restored(header, arrays)
        paths = None
        if header["paths"] is not None:
            of_paths = {name[6:]: column for name, column in arrays.items() if name.startswith("paths_")}
            paths = PathModel.restored(grid, plan, header["paths"], of_paths)
        strides = files.strides_restored(header, arrays, len(routes))
        share, elsewhere = float(header["off_streets"]), float(header["elsewhere"])
        for part in (share, elsewhere):
            if not 0 <= part <= 1 or (part > 0 and paths is None):
                raise ValueError(f"a share of {part} trips off the streets needs a path model")
        coverage = Coverage.restored(header["coverage"], grid)
        matches, on_streets, alone = (
            tuple(Match(**match) for match in entries)
            for entries in (header["matches"], header["on_streets"], header["map_alone"])
        )
        if alone and [match.question for match in alone] != [match.question for match in matches]:
            raise ValueError("what the map alone gives must be about the same questions")
        scales = dict(header["scales"]) or None
        absent = Share.restored(header["without_trip"])
        draws = files.draws_restored(arrays, len(routes))
        return RouteModel(
            *(grid, routes, strides, matches, on_streets, scales, share, paths, plan, alone, absent),
            *(lambda: draws, coverage, elsewhere),
            felt=files.felt_restored(arrays, routes.roads.edges),
            drivers=Drivers.restored(header["drivers"]),
        )


def _quiet(share: float) -> None:
    """Ignore the progress of a fit."""


def _warn(model: RouteModel, fit: Fit[Weighting]) -> None:
    """Warn of misfits that noise does not explain, and of too few routes."""
    said, name = [], model.routes.roads.name
    if model.elsewhere > 0.5:
        said.append(
            f"{model.elsewhere:.0%} of the trips pass cells in which {name} has no streets: the map may be of another "
            "place, or of a part of the bounds"
        )
    elif model.off_streets > 0.5:
        said.append(
            f"routes along the streets of {name} differ from the answers by more than noise explains (chi2 "
            f"{overall(model.on_streets):.2f} per answer), so {model.off_streets:.0%} of the trips leave the streets: "
            "the map may be of another place, or people do not take short routes; to keep all trips on streets, set "
            "off-streets to never"
        )
    elif not warn_of_misfit(model.matches, model.kind) and not fit.converged:
        said.append(f"the route model did not converge in {fit.rounds} iterations")
    if model.effective < FEW:
        said.append(
            f"synthetic trips effectively use only {model.effective:,.0f} of {len(model.routes):,} routes, so routes "
            "will repeat; use a larger map or library"
        )
    for sentence in said:
        warnings.warn(sentence, FitWarning, stacklevel=3)
