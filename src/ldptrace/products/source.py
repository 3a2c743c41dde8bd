"""What products are made of: a set of trips, or a fitted model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read
from ldptrace.methods.release import Release
from ldptrace.models import TimedModel
from ldptrace.products.sample import Sample
from ldptrace.products.statement.promise import Promise
from ldptrace.protocol.plan import Plan

# A model comes with what was promised about it, which may be less than its plan says.
Source = Trajectories | Release


def open_source(path: str | Path, *, crs: str | None = None, timezone: str | None = None) -> Source:
    """The model or the trips in a file, in these coordinates and with the clocks of this zone where they are named."""
    file = Path(path)
    if _begins(file, b"PK") and file.suffix == ".npz":
        release = Release.load(file)
        drawing = replace(release.drawing, timezone=timezone or release.drawing.timezone)
        return replace(release, crs=crs or release.crs, drawing=drawing)
    trips = read(file)
    return replace(trips, crs=crs or trips.crs, timezone=timezone or trips.timezone)


def sample_of(source: Source, population: float | None = None) -> Sample:
    """The trips that numbers are made of; of a model many, always the same ones."""
    if isinstance(source, Trajectories):
        return Sample.of_trips(source, population)
    model = source.model
    if isinstance(model, TimedModel):
        model = model.on(source.calendar)
    drawn = Sample.of_model(model, population)
    return replace(drawn, trips=replace(drawn.trips, **source.labels(None)))


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
    if source.promised is None:
        raise InputError(f"{file}: the model holds no plan, so it states no promise")
    return Promise.of_provenance(source.promised, str(file))


def _begins(file: Path, mark: bytes) -> bool:
    """Whether a file begins with these bytes, blanks aside."""
    try:
        with file.open("rb") as opened:
            return opened.read(64).lstrip().startswith(mark)
    except OSError:
        return False
