"""Mobility models: the paper's Markov chain, the calibrated path model, routes on the public map's streets, and each
of them with times; to fit, sample, save and load."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.questions import TIME_QUESTIONS, Trips

if TYPE_CHECKING:
    from ldptrace.core.area import Area
    from ldptrace.curator.estimates import Estimates
    from ldptrace.models.base import MobilityModel
    from ldptrace.models.routes.options import StreetOptions
    from ldptrace.roads.network import RoadNetwork
    from ldptrace.roads.routes import Routes

# A model loads when it is first used: streets and times need much that a plain run does not.
MODELS = {
    "markov": ("markov", "MarkovModel"),
    "path": ("path.model", "PathModel"),
    "route": ("routes.model", "RouteModel"),
    "timed": ("space_time", "TimedModel"),
}


def fit_model(
    estimates: Estimates,
    area: Area | None = None,
    public: RoadNetwork | Routes | None = None,
    *,
    rng: np.random.Generator | None = None,
    streets: StreetOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> MobilityModel:
    """Fit a mobility model to the estimates of a collection.

    The result is a `RouteModel` (trips on streets) if `public` is given, otherwise a `PathModel` (trips on the grid).
    For a plan with the questions of the LDPTrace paper, the result is a `MarkovModel`. If devices were asked about
    time, the synthetic trips have times.

    - `area`: a public area; trips that do not follow streets stay inside it.
    - `public`: a public road network or public routes, which the trips follow.
    - `rng`: the source of random numbers for drawing routes; by default every call draws the same routes.
    - `streets`: how many routes are drawn from the street map, and whether trips may leave the streets (an object
      `StreetOptions` from `ldptrace.models.routes.options`).
    - `progress`: a function that is called with the finished fraction of the fit.

    Every model has the methods `sample(count, rng)`, `explain()` and `save(path)`.
    """
    # How many trips there were says nothing about where they go (`ldptrace.curator.estimates`).
    estimates = estimates.without(Trips.name)
    where = estimates.without(*TIME_QUESTIONS)
    if len(where) < len(estimates):
        from ldptrace.models.space_time import TimedModel

        space = fit_model(where, area, public, rng=rng, streets=streets, progress=progress)
        return TimedModel.fit(space, estimates)
    if {"steps", "combined-steps"} & set(estimates):
        if area is not None or public is not None:
            unknown = "keep to an area" if public is None else "follow streets"
            raise InputError(f"the paper's model cannot {unknown}; make the plan for one report per user")
        from ldptrace.models.markov import MarkovModel

        return MarkovModel.fit(estimates)
    if public is None:
        from ldptrace.models.path.model import PathModel

        return PathModel.fit(estimates, area)
    from ldptrace.models.routes.model import RouteModel

    source = rng or np.random.default_rng(0)
    return RouteModel.fit(estimates, public, source, area=area, streets=streets, progress=progress)


def load_model(path: str | Path) -> MobilityModel:
    """Load a model of any kind from its file."""
    return load_release(path)[0]


def load_release(path: str | Path) -> tuple[MobilityModel, dict[str, Any]]:
    """Return the model in a file, and what else a release from it needs, where the file says it."""
    from ldptrace.models.base import read_model

    header, arrays = read_model(path)
    kind = header.get("model")
    if kind not in MODELS:
        raise FormatError(
            f"{path} holds a model of unknown kind {kind!r}; known are {', '.join(sorted(MODELS))}"
        )
    return model_class(kind).read_from(path, header, arrays), dict(header.get("release", {}))


def model_class(kind: str) -> type[MobilityModel]:
    """Return the class of models of that kind."""
    module, name = MODELS[kind]
    return getattr(import_module(f"ldptrace.models.{module}"), name)
