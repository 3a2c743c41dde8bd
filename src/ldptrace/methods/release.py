"""A release: a model, how trips are drawn from it, and its privacy promise, saved as one file.

The same file and the same `sample_seed` give exactly the same trips on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.drawing import Drawing
from ldptrace.errors import FormatError, InputError
from ldptrace.models import load_release
from ldptrace.models.base import Along, MobilityModel, Sampler
from ldptrace.models.space_time import TimedModel
from ldptrace.models.time import Calendar


@dataclass(frozen=True, eq=False)
class Release:
    """Everything that is needed to publish trips from a model."""

    model: MobilityModel
    drawing: Drawing = field(default_factory=Drawing)
    crs: str | None = None
    # What was promised to the people behind it.
    promised: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.drawing.day is not None and not isinstance(self.model, TimedModel):
            raise InputError(f"a {self.model.kind} model knows no times, so its trips have no date")

    @staticmethod
    def of(model: MobilityModel) -> Release:
        """Make a release from a model alone. The plan of the model states the promise."""
        return Release(model, crs=None if model.plan is None else model.plan.crs, promised=model.promised)

    @property
    def calendar(self) -> Calendar | None:
        """The date of the trips."""
        day = self.drawing.day
        return None if day is None else Calendar(day, self.drawing.timezone)

    def draw(self, count: int, rng: np.random.Generator) -> Sampler:
        """Return a number of trips, to be drawn block by block."""
        model = self.model.on(self.calendar) if isinstance(self.model, TimedModel) else self.model
        return Sampler.of(model, count, rng, Along(self.drawing.spacing, self.drawing.interval))

    def labels(self, sample_seed: int | None) -> dict[str, Any]:
        """Return what all trips share: coordinate system, promise and time zone."""
        promised, timezone = None, self.drawing.timezone if isinstance(self.model, TimedModel) else None
        if self.promised is not None:
            days = [] if self.calendar is None else [self.calendar.words]
            promised = dict(self.promised) | {"sample_seed": sample_seed}
            promised["notes"] = [*promised.get("notes", ()), *days]
            if timezone is not None:
                promised["timezone"] = timezone
        return {"crs": self.crs, "provenance": promised, "timezone": timezone}

    def save(self, path: str | Path) -> None:
        """Write all of it to one file."""
        promised = None if self.promised is None else dict(self.promised) | {"sample_seed": None}
        own = {"drawing": self.drawing.document(), "crs": self.crs, "promised": promised}
        self.model.save(path, release=own)

    @staticmethod
    def load(path: str | Path) -> Release:
        """Return the release in a file; that of a model by itself where the file holds no more."""
        model, own = load_release(path)
        if not own:
            return Release.of(model)
        try:
            return Release(model, Drawing(**own["drawing"]), own["crs"], own["promised"])
        except (KeyError, TypeError) as error:
            raise FormatError(f"{path} does not say how its trips are drawn: {error}") from None
