"""Charts: histograms, curves and the strip between knowing nothing and perfect, as SVG text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 340.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 10.0, 10.0, 40.0
WIDE = WIDTH - LEFT - RIGHT
# Tops of axes, whose quarters are short numbers.
SHORT = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Series:
    """One line of a chart; `style` is a CSS class: s0 is real, s1 the first set, and so on."""

    values: Sequence[float | None]
    style: str


# A point of a line: pixels from the left, and a value. A line has a style.
Point = tuple[float, float]
Line = tuple[str, list[Point]]


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
    width = WIDE / buckets
    every = max(1, math.ceil((buckets - 1) / 5))
    middle = width / 2 if whole else 0.0
    ticks = [
        (LEFT + bucket * width + middle, _short(edges[bucket] * scale, edges[-1] * scale))
        for bucket in range(0, buckets - every // 2 - 1, every)
    ]
    ticks.append((LEFT + (buckets - 0.5) * width, "more"))
    lines = [_steps(Series(item.values[1:], item.style), width) for item in series]
    return _chart(lines, ticks, title, "share of trajectories", filled=True)


def classes(
    edges: Sequence[float], series: Sequence[Series], title: str, named: Callable[[float], str]
) -> Markup:
    """Draw shares per logarithmic class, with a class below the edges and one above; the first series is filled."""
    width = WIDE / (len(edges) + 1)
    places = range(0, len(edges), max(1, math.ceil(len(edges) / 5)))
    ticks = [(LEFT + (place + 1) * width, named(edges[place])) for place in places]
    # Classes that are too small to tell apart share the first label.
    different = [
        tick for before, tick in zip([(0.0, None), *ticks], ticks, strict=False) if tick[1] != before[1]
    ]
    return _chart([_steps(item, width) for item in series], different, title, "share of trips", filled=True)


def _steps(item: Series, width: float) -> Line:
    """Return a line with a step for each value."""
    ends = [(LEFT + k * width, LEFT + (k + 1) * width, value or 0.0) for k, value in enumerate(item.values)]
    return item.style, [(x, value) for left, right, value in ends for x in (left, right)]


def day(series: Sequence[Series], title: str) -> Markup:
    """Draw a share for each hour of the day as a curve, the first series filled."""
    step = WIDE / 24
    lines = [_line(item, LEFT + step / 2, step) for item in series]
    ticks = [(LEFT + hour * step, f"{hour}") for hour in range(0, 25, 6)]
    return _chart(lines, ticks, title, "share of departures", filled=True)


def curves(
    labels: Sequence[str],
    series: Sequence[Series],
    title: str,
    y_title: str,
    top: float | None = None,
) -> Markup:
    """Draw lines over equally spaced labels. Values that are None are left out."""
    step = (WIDE - 16) / max(len(labels) - 1, 1)
    lines = [_line(item, LEFT + 8, step) for item in series]
    ticks = [(LEFT + 8 + number * step, said) for number, said in enumerate(labels)]
    return _chart(lines, ticks, title, y_title, top, dots=True)


def course(
    series: Sequence[Series], first: float, last: float, title: str, y_title: str, top: float | None = None
) -> Markup:
    """Draw lines over time, each over the whole width from `first` to `last`; long ones by means of stretches."""
    thin = [Series(_thinned(item.values), item.style) for item in series]
    lines = [_line(item, LEFT, WIDE / max(len(item.values) - 1, 1)) for item in thin]
    ticks = [(LEFT + share * WIDE, _short(round(first + share * (last - first)))) for share in QUARTERS]
    return _chart(lines, ticks, title, y_title, top)


def _line(item: Series, left: float, step: float) -> Line:
    """Return a line through all values that are known."""
    return item.style, [(left + k * step, value) for k, value in enumerate(item.values) if value is not None]


def _chart(
    lines: Sequence[Line],
    ticks: Sequence[tuple[float, str]],
    title: str,
    y_title: str,
    top: float | None = None,
    *,
    filled: bool = False,
    dots: bool = False,
) -> Markup:
    """Draw axes and lines, up to a round number above all values or to `top`. If it is `filled`, the first line is
    filled down to the ground; with `dots`, every point has one."""
    most = max((value for _, line in lines for _, value in line), default=0.0)
    top = top or (round_up(most, SHORT) if most > 0 else 1.0)
    parts, ground = [], HEIGHT - BOTTOM
    for share in QUARTERS:
        y = _height(share * top, top)
        parts.append(f'<path class="lattice" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text_at("tick", f"{LEFT - 6}", f"{y + 3.5:.1f}", _short(share * top), "end"))
    parts.append(text_at("tick", f"{(LEFT + WIDTH - RIGHT) / 2}", f"{HEIGHT - 6}", title))
    parts.append(
        f'<text class="tick" text-anchor="middle" transform="translate(9 {(TOP + ground) / 2}) rotate(-90)">'
        f"{escape(y_title)}</text>"
    )
    for order, (style, line) in enumerate(line for line in lines if line[1]):
        places = [(f"{x:.1f}", f"{_height(value, top):.1f}") for x, value in line]
        points = " ".join(f"{x},{y}" for x, y in places)
        if filled and order == 0:
            around = f"{places[0][0]},{ground} {points} {places[-1][0]},{ground}"
            parts.append(f'<polygon class="area {style}" points="{around}"/>')
        parts.append(f'<polyline class="line {style}" points="{points}"/>')
        parts += [f'<circle class="fill {style}" cx="{x}" cy="{y}" r="2.6"/>' for x, y in places if dots]
    parts += [text_at("tick", f"{x:.1f}", f"{ground + 15}", said) for x, said in ticks]
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" aria-hidden="true">{"".join(parts)}</svg>'
    )


def text_at(kind: str, x: str, y: str, said: str, anchor: str = "middle") -> str:
    """Write a text at a place."""
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(said)}</text>'


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


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(value / top, 1.0)


def round_up(value: float, steps: Sequence[float]) -> float:
    """Return the next of these steps, from 1 to 10, times a power of ten, or the value itself within 0.1 %.

    >>> round_up(37.0, (1, 2, 5, 10))
    50.0
    """
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in steps if step * power >= value * 0.999)


def _short(value: float, most: float = 0.0) -> str:
    """Write a number in few characters; in thousands if the largest number of its axis is.

    >>> _short(0.05), _short(7500.0), _short(12000.0), _short(0.0), _short(6000.0, 24000.0)
    ('0.05', '7500', '12k', '0', '6k')
    """
    if value and max(abs(value), most) >= 10_000:
        return f"{value / 1000:.4g}k"
    return f"{value:.4g}"
