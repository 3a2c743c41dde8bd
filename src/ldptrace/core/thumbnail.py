"""A small map of trajectories as one inline SVG, for notebooks."""

from __future__ import annotations

from html import escape

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import LocalPlane

WIDTH = 280
# What a glance takes in, and a notebook can hold.
MOST_LINES, MOST_POINTS = 200, 40


def thumbnail(x: Floats, y: Floats, offsets: Ints, *, geographic: bool, caption: str) -> str:
    """Up to 200 trajectories, evenly picked, thin and see-through, with a line of words below.

    >>> box = np.array([0.0, 2.0]), np.array([0.0, 1.0]), np.array([0, 2])
    >>> thumbnail(*box, geographic=False, caption="one").startswith("<figure")
    True
    """
    words = f'<figcaption style="font:12px sans-serif">{escape(caption)}</figcaption>'
    sizes = np.diff(offsets)
    drawn = np.flatnonzero(sizes > 1)
    if len(drawn) == 0:
        return f'<figure style="margin:0">{words}</figure>'
    picked = drawn[np.linspace(0, len(drawn) - 1, min(MOST_LINES, len(drawn))).astype(np.int64)]
    lines = [
        slice(offsets[k], offsets[k + 1], max(1, -(-int(sizes[k]) // MOST_POINTS))) for k in picked.tolist()
    ]
    across, up = np.concatenate([x[line] for line in lines]), np.concatenate([y[line] for line in lines])
    stretch = 1.0
    if geographic:
        east, north = LocalPlane(0.0, float(np.clip(up.mean(), -85, 85))).scale
        stretch = north / east
    x0, y0, y1 = float(across.min()), float(up.min()), float(up.max())
    width = max(float(across.max()) - x0, 1e-12)
    height = int(np.clip(WIDTH * stretch * (y1 - y0) / width, 40, 2 * WIDTH))
    scale = (WIDTH / width, height / max(y1 - y0, 1e-12))
    path = "".join(
        "M"
        + "L".join(
            f"{(a - x0) * scale[0]:.0f} {(y1 - b) * scale[1]:.0f}"
            for a, b in zip(x[line], y[line], strict=True)
        )
        for line in lines
    )
    return (
        f'<figure style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="-2 -2 {WIDTH + 4} {height + 4}" role="img" aria-label="{escape(caption)}">'
        f'<rect x="-2" y="-2" width="{WIDTH + 4}" height="{height + 4}" fill="#f6f7f9"/>'
        f'<path d="{path}" fill="none" stroke="#1f5fa8" stroke-width="1" stroke-opacity="0.35"/></svg>{words}</figure>'
    )
