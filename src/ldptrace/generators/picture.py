"""A picture of a data set: how many trajectories pass through every spot of the map."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.kernels import kernel
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError

PIXELS, INCHES = 900, 7.0
FORMATS = (".pdf", ".png", ".svg")


def check_picture(path: Path, trajectories: int) -> None:
    """Raise an error if `draw` could not write there, or had nothing to draw."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"a picture can be {', '.join(FORMATS)}, not {path.name}")
    if trajectories == 0:
        raise InputError("a set without trajectories cannot be drawn")


def draw(
    trajectories: Trajectories,
    path: str | Path,
    places: Mapping[str, tuple[Floats, Floats]] | None = None,
) -> None:
    """Write a density map, bright where many pass; the extension of the file decides the format.

    `places` are drawn on it: x and y for each category, which has a colour of its own.
    """
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    check_picture(Path(path), trajectories.points)
    x0, y0, x1, y1 = trajectories.bounds()
    rim = 0.01 * max(x1 - x0, y1 - y0) or 1.0
    x0, y0, x1, y1 = x0 - rim, y0 - rim, x1 + rim, y1 + rim
    wide, high = x1 - x0, y1 - y0
    # A degree of longitude is shorter than one of latitude.
    stretch = 1 / np.cos(np.radians((y0 + y1) / 2)) if trajectories.is_geographic else 1.0
    pixel = max(wide, high * stretch) / PIXELS
    image = np.zeros((int(high * stretch / pixel) + 1, int(wide / pixel) + 1))
    _draw_lines(trajectories.x, trajectories.y, trajectories.offsets, x0, y0, pixel, pixel / stretch, image)

    figure = Figure(figsize=(INCHES, INCHES * min(max(high * stretch / wide, 0.3), 3.0)), facecolor="black")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_facecolor("black")
    axes.set_axis_off()
    shade = LogNorm(0.5, max(float(np.quantile(image[image > 0], 0.999)), 2.0))
    axes.imshow(
        np.where(image > 0, image, np.nan),
        extent=(x0, x1, y0, y1),
        origin="lower",
        cmap="inferno",
        norm=shade,
        aspect=stretch,
        interpolation="nearest",
    )
    if places is not None:
        colours = colormaps["tab20"]
        for code, (category, (x, y)) in enumerate(places.items()):
            colour = colours(code % 20)
            axes.scatter(
                x, y, s=16, color=colour, edgecolors="white", linewidths=0.4, label=category, zorder=3
            )
        axes.legend(loc="upper right", fontsize=6, facecolor="black", labelcolor="white", framealpha=0.6)
    figure.savefig(path, dpi=PIXELS / INCHES)


@kernel
def _draw_lines(x, y, offsets, x0, y0, dx, dy, image):  # type: ignore[no-untyped-def]
    """Add one to every pixel that a trajectory touches, at most once per line between two points."""
    for k in range(len(offsets) - 1):
        row = column = -1
        for p in range(offsets[k], offsets[k + 1]):
            before = max(p - 1, offsets[k])
            steps = 1 + int(max(abs(x[p] - x[before]) / dx, abs(y[p] - y[before]) / dy))
            for step in range(1, steps + 1):
                share = step / steps
                j = int((x[before] + share * (x[p] - x[before]) - x0) / dx)
                i = int((y[before] + share * (y[p] - y[before]) - y0) / dy)
                if i != row or j != column:
                    row, column = i, j
                    image[i, j] += 1.0
