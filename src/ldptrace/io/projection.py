"""Trajectories in another coordinate system; needs the extra `geo`."""

from __future__ import annotations

from dataclasses import replace

from ldptrace.core.crs import transform
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError


def project(trajectories: Trajectories, crs: str) -> Trajectories:
    """The same trajectories in the coordinate system `crs`, for example "EPSG:3857"."""
    if trajectories.crs is None:
        raise InputError("the coordinate system of these trajectories is not known; give it with crs")
    x, y = transform(trajectories.x, trajectories.y, trajectories.crs, crs)
    return replace(trajectories, x=x, y=y, crs=crs)
