"""Charts: histograms, curves and the strip between knowing nothing and perfect, as SVG text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 340.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 10.0, 10.0, 40.0


@dataclass(frozen=True)
class Series:
    """One line of a chart; `style` is a CSS class: s0 is real, s1 the first set, and so on."""

    values: Sequence[float | None]
    style: str


def histogram(
    edges: Sequence[float],
    series: Sequence[Series],
    title: str,
    *,
    scale: float = 1.0,
    whole: bool = False,
) -> Markup:
    """Draw shares per bucket, the first series filled; the last bucket holds everything beyond the edges.

    Labels stand below the borders of buckets, or below their middle when a bucket is one whole number.
    """
    buckets = len(edges)
    inner = [Series(item.values[1:], item.style) for item in series]
    parts, width = _steps(inner, buckets, title, "share of trajectories")
    every = max(1, math.ceil((buckets - 1) / 5))
    for bucket in range(0, buckets - every // 2 - 1, every):
        middle = width / 2 if whole else 0.0
        parts.append(_tick(LEFT + bucket * width + middle, _short(edges[bucket] * scale, edges[-1] * scale)))
    parts.append(_tick(LEFT + (buckets - 0.5) * width, "more"))
    return _svg(parts)


def classes(
    edges: Sequence[float], series: Sequence[Series], title: str, label: Callable[[float], str]
) -> Markup:
    """Draw shares per logarithmic class, with a class below the edges and one above; the first series is filled."""
    parts, width = _steps(series, len(edges) + 1, title, "share of trips")
    every = max(1, math.ceil(len(edges) / 5))
    before = None
    for edge in range(0, len(edges), every):
        # Classes that are too small to tell apart share the first label.
        if (text := label(edges[edge])) != before:
            parts.append(_tick(LEFT + (edge + 1) * width, text))
        before = text
    return _svg(parts)


def _steps(series: Sequence[Series], buckets: int, title: str, y_title: str) -> tuple[list[str], float]:
    """Draw axes and a line of steps for each series, the first one filled. Returns also how wide a step is."""
    top, width = _top(series), (WIDTH - LEFT - RIGHT) / buckets
    parts = _axes(top, title, y_title)
    for order, item in enumerate(series):
        places = []
        for bucket, value in enumerate(item.values):
            x, y = LEFT + bucket * width, _height(value or 0.0, top)
            places += [f"{x:.1f},{y:.1f}", f"{x + width:.1f},{y:.1f}"]
        parts += _outline(item, places, filled=order == 0, inset=0.0)
    return parts, width


def _top(series: Sequence[Series]) -> float:
    """Return a round number above all values."""
    return _ceiling(
        max((value for item in series for value in item.values if value is not None), default=0.0)
    )


def _places(item: Series, left: float, step: float, top: float) -> list[str]:
    """Return the points of a line through all values."""
    return [
        f"{left + number * step:.1f},{_height(value or 0.0, top):.1f}"
        for number, value in enumerate(item.values)
    ]


def _outline(item: Series, places: list[str], *, filled: bool, inset: float) -> list[str]:
    """Draw a line through the places; if it is `filled`, down to the ground, `inset` from the sides of the chart."""
    if not places:
        return []
    line = " ".join(places)
    parts = [f'<polyline class="line {item.style}" points="{line}"/>']
    if filled:
        ground = HEIGHT - BOTTOM
        around = f"{LEFT + inset:.1f},{ground} {line} {WIDTH - RIGHT - inset:.1f},{ground}"
        parts.insert(0, f'<polygon class="area {item.style}" points="{around}"/>')
    return parts


def day(series: Sequence[Series], title: str) -> Markup:
    """Draw a share for each hour of the day as a curve, the first series filled."""
    top, step = _top(series), (WIDTH - LEFT - RIGHT) / 24
    parts = _axes(top, title, "share of departures")
    for order, item in enumerate(series):
        places = _places(item, LEFT + step / 2, step, top)
        parts += _outline(item, places, filled=order == 0, inset=step / 2)
    parts += [_tick(LEFT + hour * step, f"{hour}") for hour in range(0, 25, 6)]
    return _svg(parts)


def curves(
    labels: Sequence[str],
    series: Sequence[Series],
    title: str,
    y_title: str,
    top: float | None = None,
) -> Markup:
    """Draw lines over equally spaced labels."""
    top = top or _top(series)
    step = (WIDTH - LEFT - RIGHT - 16) / max(len(labels) - 1, 1)
    parts = _axes(top, title, y_title)
    for item in series:
        places = [
            (LEFT + 8 + number * step, _height(value, top))
            for number, value in enumerate(item.values)
            if value is not None
        ]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line {item.style}" points="{points}"/>')
        parts += [f'<circle class="fill {item.style}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in places]
    parts += [_tick(LEFT + 8 + number * step, label) for number, label in enumerate(labels)]
    return _svg(parts)


def course(
    series: Sequence[Series], first: float, last: float, title: str, y_title: str, top: float | None = None
) -> Markup:
    """Draw lines over time, each over the whole width from `first` to `last`; long ones by means of stretches."""
    thin = [Series(_thinned(item.values), item.style) for item in series]
    top = top or _top(thin)
    parts = _axes(top, title, y_title)
    wide = WIDTH - LEFT - RIGHT
    for item in thin:
        places = _places(item, LEFT, wide / max(len(item.values) - 1, 1), top)
        parts += _outline(item, places, filled=False, inset=0.0)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_tick(LEFT + share * wide, _short(round(first + share * (last - first)))))
    return _svg(parts)


def _thinned(values: Sequence[float | None], most: int = 150) -> list[float | None]:
    """Return means of equal stretches, at most `most` of them.

    >>> _thinned([1.0, 3.0, 5.0, 7.0], 2)
    [2.0, 6.0]
    """
    every = max(1, math.ceil(len(values) / most))
    known = [value or 0.0 for value in values]
    return [sum(part) / len(part) for part in (known[k : k + every] for k in range(0, len(known), every))]


def strip(positions: Sequence[float | None], known_before: float | None = None) -> Markup:
    """Draw one dot per set between knowing nothing (left, 0) and perfect (right, 1); a hollow one for the map alone."""
    parts = ['<path class="lattice" d="M6 8H154"/><path class="end" d="M6 3V13M154 3V13"/>']
    if known_before is not None:
        parts.append(f'<circle class="hollow" cx="{6 + 148 * known_before:.1f}" cy="8" r="4.2"/>')
    for number, position in enumerate(positions):
        if position is not None:
            x = 6 + 148 * position
            parts.append(f'<circle class="fill s{number % 8 + 1}" cx="{x:.1f}" cy="8" r="4.6"/>')
    return Markup(f'<svg class="strip" viewBox="0 0 160 16" aria-hidden="true">{"".join(parts)}</svg>')


def share_bar(value: float, top: float, style: str) -> Markup:
    """Draw a bar with its share written behind it."""
    width = 120 * value / top if top else 0.0
    return Markup(
        f'<svg class="bar" viewBox="0 0 170 12" aria-hidden="true"><rect class="fill {style}" y="1" '
        f'width="{max(width, 0.5):.1f}" height="10" rx="1"/><text class="tick" x="{width + 5:.1f}" y="10">'
        f"{100 * value:.2f} %</text></svg>"
    )


def _axes(top: float, title: str, y_title: str) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _height(share * top, top)
        parts.append(f'<path class="lattice" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        place = f'x="{LEFT - 6}" y="{y + 3.5:.1f}"'
        parts.append(f'<text class="tick" {place} text-anchor="end">{_short(share * top)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="tick" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(title)}</text>'
    )
    centre = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text class="tick" text-anchor="middle" transform="translate(9 {centre}) rotate(-90)">'
        f"{escape(y_title)}</text>"
    )
    return parts


def _tick(x: float, label: str) -> str:
    place = f'x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}"'
    return f'<text class="tick" {place} text-anchor="middle">{escape(label)}</text>'


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(value / top, 1.0)


def _ceiling(value: float) -> float:
    """Round up to 1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6 or 8 times a power of ten, whose quarters are short numbers."""
    if value <= 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        step * power for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if step * power >= value * 0.999
    )


def _short(value: float, most: float = 0.0) -> str:
    """Write a number in few characters; in thousands if the largest number of its axis is.

    >>> _short(0.05), _short(7500.0), _short(12000.0), _short(0.0), _short(6000.0, 24000.0)
    ('0.05', '7500', '12k', '0', '6k')
    """
    if value and max(abs(value), most) >= 10_000:
        return f"{value / 1000:.4g}k"
    return f"{value:.4g}"


def _svg(parts: list[str]) -> Markup:
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" aria-hidden="true">{"".join(parts)}</svg>'
    )
