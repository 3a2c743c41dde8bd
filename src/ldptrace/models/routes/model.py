"""The route model: trips are public routes through the streets, drawn by weights that agree with private answers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.area import Area
from ldptrace.core.placement import place, respace, running
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FitWarning, InputError
from ldptrace.models.base import Arrays, MobilityModel, Part, Sampler, checked_count
from ldptrace.models.fit import Fit, judged
from ldptrace.models.observation import Match, Observation, match_table, refuse_unused, warn_of_misfit
from ldptrace.models.path.model import PathFit, PathModel, fit_paths, observed
from ldptrace.models.prior import Prior
from ldptrace.models.replicates import normal
from ldptrace.models.routes import files
from ldptrace.models.routes.answers import ANSWERS
from ldptrace.models.routes.ends import places_of
from ldptrace.models.routes.fitted import Cut, Fitted, searched
from ldptrace.models.routes.mixture import share_off_streets
from ldptrace.models.routes.strides import STRIDES, Strides
from ldptrace.models.routes.weighting import FINE, Weighting
from ldptrace.models.share import Share
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import ROUTES, Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.pieces import in_pieces
from ldptrace.roads.routes import Routes

Floats = NDArray[np.float64]

# Fewer routes than this that carry the weight: trips repeat themselves.
FEW = 1000
# Routes of a library for the smallest crowd.
FEWEST = 50_000
# Routes that weigh less than this part of an equal share are never drawn; files need not hold them.
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class RouteModel(MobilityModel):
    """Routes of a public library, drawn by weight; a share `off_streets` of the trips is drawn from a path model.

    The weights are the public ones times exp(x . F): F counts first and last cell, moves, turns and number of cells
    of a route, as in the path model, and its stride. Every trip on streets is a public route, so nothing of a person
    can be memorised.
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
    # Changes of the logarithm of each weight in each replicate of the noise, in steps of 1 / `FINE`.
    draws: NDArray[np.int8] | None = None

    kind: ClassVar[str] = "route"
    # Streets know most of what cells do not.
    unexpressed = (0.1, 0.0)
    questions: ClassVar[tuple[str, ...]] = tuple(ANSWERS)

    @classmethod
    def fit(
        cls,
        estimates: Estimates,
        public: RoadNetwork | Routes,
        rng: np.random.Generator,
        *,
        area: Area | None = None,
        library: Library | None = None,
        mixture: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> RouteModel:
        """Fit to all noisy answers at once.

        From a road network a broad library is drawn and fitted, then sharper ones that lean towards what was fitted,
        all of them weighed as one; routes are used as they are. `rng` draws public things only. With `mixture`, the
        part of the answers that streets do not explain goes to a path model, which keeps to a public `area`.
        """
        refuse_unused(estimates, cls.questions, cls.kind)
        grid, observations = estimates.plan.grid, observed(estimates)
        if isinstance(public, RoadNetwork):
            roads = within(public, grid, estimates.plan.crs)
            drawing = library or Library(routes=usual_routes(observations))
            fitted, alone = searched(roads, drawing, estimates, observations, rng, progress or _quiet)
        else:
            cut = Cut.of(public, grid, rng)
            fitted = Fitted.of(public, cut, estimates, observations)
            alone = fitted.map_alone(observations)
        model = RouteModel.of_fitted(fitted, observations, estimates.plan, alone)
        model = replace(model, draws=fitted.replicates(observations))
        if mixture and observations:
            model = model.mixed(fitted, fit_paths(estimates, observations, area), observations, area)
        _warn(model, fitted.fit)
        return model

    @staticmethod
    def of_fitted(
        fitted: Fitted, observations: Sequence[Observation], plan: Plan, alone: tuple[Match, ...] = ()
    ) -> RouteModel:
        """The model that a fit of a library found."""
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

    def mixed(
        self,
        fitted: Fitted,
        elsewhere: tuple[PathFit, Prior],
        observations: Sequence[Observation],
        area: Area | None,
    ) -> RouteModel:
        """With the share of a fitted path model that makes the answers most likely; mostly none."""
        paths, path_prior = elsewhere
        # That a library is a sample is no evidence against streets.
        allowed = fitted.fit.model.allowed_for(observations, fitted.fit.with_trip)
        share = share_off_streets(
            *judged(fitted.fit, fitted.prior, allowed), *judged(paths, path_prior, allowed)
        )
        if share == 0:
            return self
        expected = {
            name: (1 - share) * fitted.fit.expected[name] + share * paths.expected[name]
            for name in paths.expected
        }
        assert self.plan is not None
        return replace(
            self,
            matches=tuple(Match.of(seen, expected[seen.name]) for seen in observations),
            off_streets=share,
            paths=replace(PathModel.of_fit(paths, observations, self.plan), area=area),
        )

    @staticmethod
    def of_map(public: RoadNetwork | Routes, grid: Grid, rng: np.random.Generator) -> RouteModel:
        """The map alone: public routes with public weights, no reports. What a result with reports stands beside."""
        routes = (
            Library().draw(within(public, grid, None), rng) if isinstance(public, RoadNetwork) else public
        )
        strides = Strides.drawn(routes, grid, rng)
        weights = strides.weighted(routes.weights)
        return RouteModel(grid, replace(routes, weights=weights), strides)

    @property
    def effective(self) -> float:
        """How many equally weighted routes would vary as much: one over the sum of squared weights."""
        return 1 / float((self.routes.weights**2).sum())

    @cached_property
    def _running(self) -> Floats:
        return np.cumsum(self.routes.weights)

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        spacing: float | None = None,
        interval: float | None = None,
        noise: float = 0.0,
        timed: bool = False,
    ) -> Trajectories:
        """Independent trips along the streets' lines.

        Points come every `spacing` units of the network's lengths (metres where coordinates are degrees), or every
        `interval` seconds, with times `t` since the start of the trip. Without either they are dense, and leave out
        corners of cells that devices seem to miss, because their fixes are further apart. `noise` is the standard
        deviation of a GPS error, in the same unit as `spacing`. `timed` keeps the times of free roads however points
        are chosen, where the network knows them.
        """
        if not (math.isfinite(noise) and noise >= 0):
            raise InputError(f"noise must be a number from 0, got {noise!r}")
        # The plan says in which coordinates people answered, or leaves it open; without one the map says it.
        how = {"spacing": spacing, "interval": interval, "noise": noise, "timed": timed}
        return self.labelled(Sampler.of(self, count, rng, **how).trips())

    def block(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        spacing: float | None = None,
        interval: float | None = None,
        noise: float = 0.0,
        timed: bool = False,
    ) -> Part:
        # A child: times of trips are drawn from the source itself.
        (own,) = rng.spawn(1)
        part, _ = self._drawn(count, own, spacing, interval, timed)
        if noise == 0:
            return part
        drawn = part(0, count)
        across, up = self.routes.roads.scale
        x, y = own.normal(0.0, noise, (2, drawn.points))
        return replace(drawn, x=drawn.x + x / across, y=drawn.y + y / up).part

    def _drawn(
        self,
        count: int,
        rng: np.random.Generator,
        spacing: float | None,
        interval: float | None,
        timed: bool,
    ) -> tuple[Part, NDArray[np.int64]]:
        """Trips, whose points are made when they are asked for, and the route of each; -1 off the streets."""
        elsewhere = int(rng.binomial(count, self.off_streets))
        picked = np.searchsorted(
            self._running, rng.random(count - elsewhere) * self._running[-1], side="right"
        )
        picked = np.minimum(picked, len(self.routes) - 1)
        timed = (timed or interval is not None) and self.routes.roads.seconds is not None

        def on_streets(which: NDArray[np.int64]) -> Trajectories:
            if spacing is None and interval is None:
                drawn = self.strides.trips(self.routes, which, self.grid)
            else:
                drawn = self.routes.points(which, spacing=spacing, interval=interval)
            return drawn if timed else replace(drawn, t=None)

        if elsewhere == 0 or self.paths is None:
            return lambda start, stop: on_streets(picked[start:stop]), picked
        free, order = self._free(elsewhere, rng, spacing, interval, timed), rng.permutation(count)

        def part(start: int, stop: int) -> Trajectories:
            which = order[start:stop]
            street = which < len(picked)
            both = [free(which[~street] - len(picked))]
            if street.any():
                both = [on_streets(picked[which[street]]), *both]
            place = np.where(street, np.cumsum(street), street.sum() + np.cumsum(~street)) - 1
            return Trajectories.concat(both).take(place)

        return part, np.append(picked, np.full(elsewhere, -1))[order]

    def replicated(
        self, count: int, rng: np.random.Generator, *, timed: bool = False
    ) -> tuple[Trajectories, NDArray[np.float32] | None]:
        part, numbers = self._drawn(checked_count(count), rng, None, None, timed)
        trips = self.labelled(part(0, count))
        if self.draws is None:
            return trips, None
        ratios = np.exp(self.draws[:, numbers] / np.float32(FINE))
        ratios[:, numbers < 0] = 1.0
        return trips, normal(ratios)

    def _free(
        self,
        count: int,
        rng: np.random.Generator,
        spacing: float | None,
        interval: float | None,
        timed: bool,
    ) -> Callable[[NDArray[np.int64]], Trajectories]:
        """Trips off the streets, their points as far apart as those on streets; at the streets' mean speed."""
        assert self.paths is not None
        roads = self.routes.roads
        scale = math.sqrt(roads.scale[0] * roads.scale[1])
        pace = 1.0 if roads.seconds is None else float(roads.seconds.sum() / roads.length.sum())
        usual = float(self.strides.apart[0]) / (pace if self.strides.timed else 1.0)
        apart = (spacing or (interval / pace if interval else usual)) / scale
        paths, land = self.paths.sample_paths(count, rng), self.paths.land
        placed = place(paths, rng, style=self.paths.placement, land=land)

        def free(which: NDArray[np.int64]) -> Trajectories:
            drawn = replace(respace(placed.take(which), apart, land), crs=roads.crs)
            if not timed:
                return drawn
            steps = np.hypot(np.diff(drawn.x, prepend=0.0), np.diff(drawn.y, prepend=0.0)) * scale * pace
            return replace(drawn, t=running(steps, drawn.offsets))

        return free

    def explain(self) -> str:
        """What carries the weight, how well streets explain the answers, and what was learned."""
        roads = self.routes.roads
        common = np.bincount(self.strides.kind, self.routes.weights, len(STRIDES))
        unit = "s" if self.strides.timed else "units"
        lines = [
            f"{len(self.routes):,} routes on {roads.edges:,} edges of {roads.name}; {self.effective:,.0f} of them "
            "effectively carry the weight",
            "Distance between fixes, as far as the answers tell: "
            + ", ".join(
                f"{apart:.3g} {unit} {share:.0%}"
                for apart, share in zip(self.strides.apart, common, strict=True)
            ),
        ]
        if self.off_streets > 0:
            lines += [
                f"Trips off the streets, by the path model: {self.off_streets:.0%}",
                "Fitted streets without paths:",
            ]
            lines += [*match_table(self.on_streets), "Fitted streets and paths together:"]
        lines += [*match_table(self.matches, self.map_alone), *self.share_lines]
        if self.scales:
            lines += ["What the potentials are made of (standard deviation of each component, in log units)"]
            lines += [f"  {name:<26}{scale:>6.3f}" for name, scale in self.scales.items()]
        return "\n".join(lines)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        kept = self.routes.weights > _NOTHING / len(self.routes)
        header, arrays = files.routes_contents(self.routes.take(kept))
        header |= {
            "matches": [asdict(match) for match in self.matches],
            "on_streets": [asdict(match) for match in self.on_streets],
            "map_alone": [asdict(match) for match in self.map_alone],
            "scales": list((self.scales or {}).items()),
            "strides": {"apart": self.strides.apart.tolist(), "timed": self.strides.timed},
            "off_streets": self.off_streets,
            "without_trip": self.share_document,
            "paths": None,
        }
        arrays["stride"] = self.strides.kind[kept]
        if self.draws is not None:
            arrays["draws"] = self.draws[:, kept]
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
        share = float(header["off_streets"])
        if not 0 <= share <= 1 or (share > 0 and paths is None):
            raise ValueError(f"a share of {share} trips off the streets needs a path model")
        matches, on_streets, alone = (
            tuple(Match(**match) for match in found)
            # Files of before do not say what the map alone gives.
            for found in (header["matches"], header["on_streets"], header.get("map_alone", ()))
        )
        if alone and [match.question for match in alone] != [match.question for match in matches]:
            raise ValueError("what the map alone gives must be about the same questions")
        scales = dict(header["scales"]) or None
        absent = Share.restored(header["without_trip"])
        return RouteModel(
            *(grid, routes, strides, matches, on_streets, scales, share, paths, plan, alone, absent),
            files.draws_restored(arrays, len(routes)),
        )


def _quiet(share: float) -> None:
    """Nobody wants to know how far it is."""


def usual_routes(observations: Sequence[Observation]) -> int:
    """How many routes a library needs: ten for each user and more than a few, so that its chance is below theirs."""
    return min(max(10 * sum(seen.users for seen in observations), FEWEST), ROUTES)


def within(roads: RoadNetwork, grid: Grid, crs: str | None) -> RoadNetwork:
    """The connected part of a network in the bounds of a grid, in short pieces.

    An error where it is the map of another place.
    """
    roads.check_against(grid.bounds, crs)
    connected = roads.clipped(grid.bounds).largest_component()
    across, up = connected.scale
    step = places_of(grid).step
    # An edge lies in the place of its middle, so none is longer than half a place.
    return in_pieces(connected, min(step[0] * across, step[1] * up) / 2)


def _warn(model: RouteModel, fit: Fit[Weighting]) -> None:
    """Tell what noise cannot explain, and what makes poor trips."""
    if model.off_streets > 0.5:
        warnings.warn(
            f"short routes along the streets of {model.routes.roads.name} explain few of the answers, so "
            f"{model.off_streets:.0%} of the trips are off them: the map may be of another place, "
            "or people do not take short routes",
            FitWarning,
            stacklevel=3,
        )
    elif not warn_of_misfit(model.matches, model.kind) and not fit.converged:
        warnings.warn(f"the route model did not settle in {fit.rounds} rounds", FitWarning, stacklevel=3)
    if model.effective < FEW:
        warnings.warn(
            f"only {model.effective:,.0f} of {len(model.routes):,} routes effectively carry the weight: trips will "
            "repeat; use a larger map or library",
            FitWarning,
            stacklevel=3,
        )
