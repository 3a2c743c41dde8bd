"""What products are made of: a set of trips, or a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read
from ldptrace.models import MobilityModel, load_model
from ldptrace.products.statement.promise import Promise
from ldptrace.protocol.plan import Plan

Source = Trajectories | MobilityModel
# Trips that are drawn from a model to know its shares.
DRAWN = 200_000


def open_source(path: str | Path, *, crs: str | None = None, timezone: str | None = None) -> Source:
    """The model or the trips in a file."""
    file = Path(path)
    if _begins(file, b"PK") and file.suffix == ".npz":
        return load_model(file)
    trips = read(file)
    if crs is not None:
        trips = replace(trips, crs=crs)
    return trips if timezone is None else replace(trips, timezone=timezone)


def drawn(model: MobilityModel) -> Trajectories:
    """Many trips of a model, always the same ones: their shares are close to those that the model expects."""
    return model.sample(DRAWN, np.random.default_rng(0))


def open_promise(path: str | Path) -> Promise:
    """What was promised by a synthetic set, a model or a plan in a file."""
    file = Path(path)
    if _begins(file, b"{"):
        try:
            return Promise.of_plan(Plan.from_json(file.read_bytes()))
        except FormatError:
            raise
        except InputError:
            pass  # another kind of JSON, such as GeoJSON of trips
    source = open_source(file)
    if isinstance(source, Trajectories):
        return Promise.of_provenance(source.provenance, str(file))
    if source.plan is None:
        raise InputError(f"{file}: the model holds no plan, so it states no promise")
    return Promise.of_plan(source.plan)


def weight_of(trips: Trajectories, population: float | None) -> float:
    """How many trips each of a set stands for, given the number of people.

    Of the people, the share that the reports show has a trip; each of them is drawn with one. So numbers weight people,
    not trips.
    """
    if population is None:
        return 1.0
    if not population > 0:
        raise InputError(f"the population must be above 0, got {population:g}")
    return population * with_trip(trips.provenance) / max(len(trips), 1)


def with_trip(provenance: Mapping[str, Any] | None) -> float:
    """The share of people who have a trip, as the reports show; all of them where nothing is known."""
    share = (provenance or {}).get("without_trip")
    return 1.0 if share is None else 1.0 - float(share["share"] if isinstance(share, Mapping) else share)


def _begins(file: Path, mark: bytes) -> bool:
    """Whether a file begins with these bytes, blanks aside."""
    try:
        with file.open("rb") as opened:
            return opened.read(64).lstrip().startswith(mark)
    except OSError:
        return False
