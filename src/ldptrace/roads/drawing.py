"""A picture of a road network: fast roads dark and wide, small streets pale and thin."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork

FORMATS = (".pdf", ".png", ".svg")


def draw(roads: RoadNetwork, path: str | Path, *, inches: float = 7.0) -> None:
    """Write a picture; the extension of the file decides the format."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"a picture can be {', '.join(FORMATS)}, not {Path(path).name}")
    x0, y0, x1, y1 = roads.bounds()
    across, up = roads.scale
    wide, high = max((x1 - x0) * across, 1e-9), max((y1 - y0) * up, 1e-9)
    figure = Figure(figsize=(inches, inches * min(max(high / wide, 0.3), 3.0)), facecolor="white")
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    axes.set_axis_off()
    axes.set_aspect(up / across)
    # One of the two ways of a street is enough.
    shown = np.flatnonzero((roads.opposite < 0) | (roads.opposite > np.arange(roads.edges)))
    speed = np.full(roads.edges, 1.0) if roads.seconds is None else roads.length / roads.seconds
    shown = shown[np.argsort(speed[shown], kind="stable")]
    x, y, offsets = roads.lines(shown)
    lines = np.split(np.c_[x, y], offsets[1:-1])
    low, high_speed = np.quantile(speed, (0.02, 0.98))
    rank = np.clip((speed[shown] - low) / max(high_speed - low, 1e-9), 0.0, 1.0)
    axes.add_collection(
        LineCollection(lines, colors=colormaps["viridis_r"](0.15 + 0.8 * rank), linewidths=0.4 + 1.6 * rank)
    )
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    figure.savefig(path, dpi=130)
