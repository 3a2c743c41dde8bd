"""Trajectories in another coordinate system; needs the extra `geo`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError


def project(trajectories: Trajectories, crs: str) -> Trajectories:
    """The same trajectories in the coordinate system `crs`, for example "EPSG:3857"."""
    try:
        import pyproj
    except ImportError:
        raise InputError("pyproj is needed for this; install it with: pip install 'ldptrace[geo]'") from None
    if trajectories.crs is None:
        raise InputError("the coordinate system of these trajectories is not known; say it with crs")
    try:
        transformer = pyproj.Transformer.from_crs(trajectories.crs, crs, always_xy=True)
    except pyproj.exceptions.CRSError as error:
        raise InputError(f"cannot go from {trajectories.crs} to {crs}: {error}") from None
    x, y = transformer.transform(trajectories.x, trajectories.y)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError(f"some points of these trajectories have no place in {crs}")
    return replace(trajectories, x=x, y=y, crs=crs)
