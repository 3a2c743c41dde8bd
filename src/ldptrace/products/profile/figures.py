"""Pictures of a profile: bars with their intervals, a map of zones and a map of streets."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from markupsafe import Markup, escape

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import METRES_PER_DEGREE
from ldptrace.core.extras import needed
from ldptrace.pages import drawings
from ldptrace.pages.charts import text_at
from ldptrace.products.flows import Flows
from ldptrace.products.sample import Numbers
from ldptrace.products.zones import H3, Squares, Zones

WIDTH, HEIGHT = 640.0, 240.0
LEFT, BOTTOM, TOP = 52.0, 34.0, 12.0
MAP = 640.0
# The widest line of a street, in pixels, and how many streets are drawn at the most.
WIDEST, DRAWN = 6.0, 6000
# Up to so many zones all have their names on the map; letters of a line of a name.
ALL_NAMED = 30
ACROSS = 16


def bars(names: Sequence[str], numbers: Numbers, label: str, *, every: int = 1, share: float) -> Markup:
    """Draw a bar for each class, as a percentage of all trips, with a whisker for its interval."""
    values, intervals, scale = numbers.values, numbers.intervals, 100 / max(share, 1.0)
    ticks = _ticks(max(float((scale * intervals.get("high", values)).max()), 1e-9))
    top = ticks[-1]
    step = (WIDTH - LEFT) / len(values)

    def height(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(scale * value / top, 1.0)

    parts = [
        text_at("axis", f"{LEFT - 6}", f"{y + 4:.1f}", f"{tick:g} %", "end")
        + f'<line class="rule" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        for tick, y in ((tick, height(tick / scale)) for tick in ticks)
    ]
    for place, name in enumerate(names):
        x, y = LEFT + step * place, height(float(values[place]))
        said = f"{escape(name)}: {scale * values[place]:.1f} %"
        parts.append(
            f'<rect class="bar" x="{x + 0.1 * step:.1f}" y="{y:.1f}" width="{0.8 * step:.1f}" '
            f'height="{HEIGHT - BOTTOM - y:.1f}"><title>{said}</title></rect>'
        )
        if intervals:
            middle = x + step / 2
            ends = [height(float(bound[place])) for bound in intervals.values()]
            parts.append(
                f'<line class="range" x1="{middle:.1f}" x2="{middle:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>'
            )
        if place % every == 0:
            parts.append(text_at("axis", f"{x + step / 2:.1f}", f"{HEIGHT - BOTTOM + 20:.1f}", _short(name)))
    return _svg(WIDTH, HEIGHT, parts, label)


def zone_map(
    zones: Zones,
    names: Mapping[str, str],
    begin: Mapping[str, float],
    label: str,
    shown: Collection[str] = (),
    *,
    scale: bool = False,
) -> Markup:
    """Draw the zones, darker if more trips begin there. `names` says what the page calls each zone. Of many zones,
    those that are `shown` have their names. With `scale`, units are metres or degrees.
    """
    rings = _rings(zones, list(names))
    x, y = (np.concatenate([ring[axis] for _, ring in rings]) for axis in (0, 1))
    frame = _Frame(x, y)
    most = max(begin.values(), default=0.0) or 1.0
    parts = []
    for name, (ring_x, ring_y) in rings:
        shade = begin.get(name, 0.0) / most
        parts.append(
            f'<polygon class="zone" style="fill-opacity:{0.08 + 0.8 * shade:.3f}" '
            f'points="{frame.points(ring_x, ring_y)}"><title>{escape(name)}</title></polygon>'
        )
        if name in shown or len(names) <= ALL_NAMED:
            middle = [np.array([(axis.min() + axis.max()) / 2]) for axis in (ring_x, ring_y)]
            cx, cy = frame.points(*middle).split(",")
            # Long names stand in several lines, so that they stay within their zone.
            lines = textwrap.wrap(names.get(name, name), ACROSS, break_long_words=False) or [""]
            said = "".join(
                f'<tspan x="{cx}" dy="{1.2 * (1 - len(lines)) / 2 if line == 0 else 1.2:g}em">{escape(text)}</tspan>'
                for line, text in enumerate(lines)
            )
            parts.append(f'<text class="zone-name" y="{cy}" text-anchor="middle">{said}</text>')
    return frame.picture(parts, label, scale=scale)


def street_map(
    flows: Flows, named: Sequence[tuple[float, float]], label: str, *, scale: bool = False
) -> Markup:
    """Draw the streets, wider if more vehicles pass, with some places numbered from 1."""
    vehicles = flows.total.values
    order = np.argsort(vehicles, kind="stable")[-DRAWN:]
    order = order[vehicles[order] > 0]
    roads = flows.streets.roads
    frame = _Frame(roads.x, roads.y)
    most = float(vehicles.max(initial=1.0))
    lines = flows.streets.lines()
    parts = []
    for street in order:
        part = np.sqrt(vehicles[street] / most)
        shapes = getattr(lines[street], "geoms", [lines[street]])
        path = " ".join(f"M{frame.points(*np.array(shape.coords).T[:2])}" for shape in shapes)
        parts.append(f'<path class="street" style="stroke-width:{0.3 + WIDEST * part:.2f}" d="{path}"/>')
    for number, (x, y) in enumerate(named, start=1):
        cx, cy = frame.points(np.array([x]), np.array([y])).split(",")
        parts.append(f'<circle class="spot" cx="{cx}" cy="{cy}" r="11"/>')
        parts.append(
            f'<text class="spot-name" x="{cx}" y="{cy}" dy=".35em" text-anchor="middle">{number}</text>'
        )
    return frame.picture(parts, label, scale=scale)


class _Frame:
    """The conversion from coordinates of a map to pixels of a picture."""

    def __init__(self, x: Floats, y: Floats) -> None:
        wide, tall, middle = max(float(np.ptp(x)), 1e-12), max(float(np.ptp(y)), 1e-12), float(y.mean())
        # Degrees of longitude are shorter than those of latitude.
        squeeze = np.cos(np.radians(middle)) if 1e-3 < wide < 10 and abs(middle) < 85 else 1.0
        self._low = float(x.min()), float(y.min())
        self._step = MAP / wide, MAP / wide / squeeze
        self._metres = wide * (METRES_PER_DEGREE * squeeze if squeeze < 1 else 1)
        self.height = tall * self._step[1]

    def picture(self, parts: Sequence[str], label: str, *, scale: bool) -> Markup:
        """Return the picture, with the scale of the map if its units are metres, or degrees if the map is that
        small."""
        larger = MAP / drawings.WIDTH
        ruler = drawings.ruler(self._metres, self.height / larger)
        own = [f'<g transform="scale({larger:.4g})">{ruler}</g>'] if scale else []
        return _svg(MAP, self.height, [*parts, *own], label)

    def points(self, x: Floats, y: Floats) -> str:
        px = (x - self._low[0]) * self._step[0]
        py = self.height - (y - self._low[1]) * self._step[1]
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True))


def _rings(zones: Zones, names: Sequence[str]) -> list[tuple[str, tuple[Floats, Floats]]]:
    """Return the outer rings of zones with their names; of hexagons, those that occur."""
    if isinstance(zones, H3):
        cells = [np.array(needed("h3", "planning").cell_to_boundary(name)) for name in names]
        return [(name, (cell[:, 1], cell[:, 0])) for name, cell in zip(names, cells, strict=True)]
    if isinstance(zones, Squares):
        x0, y0, x1, y1 = zones.bounds
        dx, dy = (x1 - x0) / zones.side, (y1 - y0) / zones.side
        corners = [(x0 + dx * i, y0 + dy * j) for i in range(zones.side) for j in range(zones.side)]
        return [
            (name, (x + dx * np.array([0, 1, 1, 0]), y + dy * np.array([0, 0, 1, 1])))
            for name, (x, y) in zip(zones.ids, corners, strict=True)
        ]
    return [
        (name, (x, y))
        for name, shape in zip(zones.ids, zones.shapes, strict=True)
        for part in getattr(shape, "geoms", [shape])
        for x, y in [np.array(part.exterior.coords).T[:2]]
    ]


def _ticks(most: float) -> list[float]:
    """Return a few round numbers from 0 to the first that is not below the largest value.

    >>> _ticks(11.0)
    [0.0, 5.0, 10.0, 15.0]
    """
    size = 10.0 ** np.floor(np.log10(most))
    step = float(next(size * part for part in (0.2, 0.5, 1.0, 2.0) if most / (size * part) <= 5))
    return [step * tick for tick in range(int(np.ceil(most / step - 1e-9)) + 1)]


def _short(name: str) -> str:
    """Return a short label for a bar: the upper end of a class, or the first letters of a day."""
    words = name.split()
    if words[0] == "over":
        return f"> {words[1]}"
    if "to" in words:
        return words[words.index("to") + 1]
    return name[:3]


def _svg(width: float, height: float, parts: list[str], label: str) -> Markup:
    return Markup(
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
