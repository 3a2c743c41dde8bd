"""Pictures of places: maps, flows, trip matrices, patterns and trips, as SVG text.

Colours are CSS classes, so that one picture serves light and dark screens and paper.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ldptrace.pages.charts import text_at
from ldptrace.protocol.lattice import cell_name

WIDTH = 300.0
LEVELS = 12
ARROWS = 120
FAINTEST_ARROW = 0.05
# Strokes of one path do not darken each other, those of two do.
TRIPS_PER_PATH = 6

Flow = tuple[int, int, float]


@dataclass(frozen=True)
class Frame:
    """The map that pictures are drawn on: height per width, its width in metres if known, streets under it or not."""

    ratio: float
    metres: float | None = None
    streets: bool = False

    @property
    def height(self) -> float:
        return WIDTH * self.ratio

    def under(self) -> list[str]:
        """Return what lies below the drawing."""
        use = [f'<use href="#streets" class="streets" transform="scale({WIDTH / 1000:.4f})"/>']
        return [_frame(self.height), *(use if self.streets else [])]

    def over(self) -> list[str]:
        """Draw scale bar and north, where a metre has a meaning."""
        return [] if self.metres is None else [ruler(self.metres, self.height), _NORTH]


def street_symbol(pieces: Sequence[Sequence[int]], ratio: float) -> Markup:
    """Draw the streets once, to be used in every map, in thousandths of the map's width."""
    path = "".join(
        f"M{x0} {round(1000 * ratio * (1 - y0 / 1000))}L{x1} {round(1000 * ratio * (1 - y1 / 1000))}"
        for x0, y0, x1, y1 in pieces
    )
    symbol = f'<defs><path id="streets" d="{path}"/></defs>'
    return Markup(f'<svg class="hidden" width="0" height="0" aria-hidden="true">{symbol}</svg>')


_NORTH = (
    '<g class="over"><path class="north" d="M289 19L293 8L297 19L293 16.5Z"/>'
    '<text class="tick" x="293" y="29" text-anchor="middle">N</text></g>'
)


def ruler(metres: float, height: float) -> str:
    """Draw a bar of a round length, at most a third of the map."""
    power = 10.0 ** math.floor(math.log10(metres / 3))
    length = max(step * power for step in (1, 2, 5) if step * power <= metres / 3)
    wide = WIDTH * length / metres
    said = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    y = height - 8
    return (
        f'<g class="over"><path class="ruler" d="M8 {y - 4:.1f}V{y:.1f}H{8 + wide:.1f}V{y - 4:.1f}"/>'
        f"{text_at('tick', f'{8 + wide / 2:.1f}', f'{y - 6:.1f}', said)}</g>"
    )


def density_map(shares: Sequence[float], frame: Frame, top: float, *, signed: bool = False) -> Markup:
    """Draw shares of visits per block; `top` is full colour, which grows with the square root of the share. Signed
    shares are differences, with a colour for more and one for less.
    """
    side = math.isqrt(len(shares))
    wide, high = WIDTH / side, frame.height / side
    parts = frame.under()
    for block, share in enumerate(shares):
        opacity = math.sqrt(abs(share) / top) if top else 0.0
        if opacity > 0.0:
            x, y = _centre(block, side, frame.height)
            said = f"{100 * share:+.2f} points" if signed else f"{100 * share:.2f} %"
            parts.append(
                f'<rect class="{_kind(share, signed)}" fill-opacity="{min(opacity, 1.0):.3f}" x="{x - wide / 2:.2f}" '
                f'y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"><title>{said}</title></rect>'
            )
    return _svg(WIDTH, frame.height, [*parts, _lattice(side, frame.height), *frame.over()], "map")


def zone_map(side: int, frame: Frame) -> Markup:
    """Draw the zones of the trip matrix with their names."""
    parts = [*frame.under(), _lattice(side, frame.height)]
    for zone in range(side * side):
        x, y = _centre(zone, side, frame.height)
        parts.append(text_at("zone", f"{x:.1f}", f"{y + 4:.1f}", cell_name(zone, side)))
    return _svg(WIDTH, frame.height, [*parts, *frame.over()], "map")


def flow_map(flows: Iterable[Flow], side: int, frame: Frame, top: float, *, signed: bool = False) -> Markup:
    """Draw the strongest moves between neighbouring blocks as arrows, each on the right-hand side of its way, the
    weakest below. Signed shares are differences.
    """
    height = frame.height
    shown = sorted(
        (flow for flow in flows if abs(flow[2]) >= FAINTEST_ARROW * top), key=lambda flow: -abs(flow[2])
    )
    parts = [*frame.under(), _lattice(side, height)]
    for start, end, share in reversed(shown[:ARROWS]):
        here, there = (complex(*_centre(block, side, height)) for block in (start, end))
        parts.append(_arrow(here, there, min(abs(share) / top, 1.0), WIDTH / side, _kind(share, signed)))
    return _svg(WIDTH, height, [*parts, *frame.over()], "map")


def flow_gaps(real: Iterable[Flow], other: Iterable[Flow]) -> list[Flow]:
    """Return by how much the share of each flow differs.

    >>> flow_gaps([(0, 1, 0.5)], [(0, 1, 0.25), (1, 0, 0.75)])
    [(0, 1, -0.25), (1, 0, 0.75)]
    """
    gaps = {(start, end): -share for start, end, share in real}
    for start, end, share in other:
        gaps[start, end] = gaps.get((start, end), 0.0) + share
    return [(*ends, gap) for ends, gap in gaps.items()]


def trip_matrix(trips: Sequence[Sequence[float]], top: float, *, signed: bool = False) -> Markup:
    """Draw origins (rows) by destinations (columns); signed for a difference."""
    size = len(trips)
    step = WIDTH / size
    side = math.isqrt(size)
    cells: dict[tuple[str, int], list[str]] = {}
    for row, shares in enumerate(trips):
        for column, share in enumerate(shares):
            level = math.ceil(LEVELS * math.sqrt(min(abs(share) / top, 1.0))) if top else 0
            if level:
                place = f"M{column * step:.2f} {row * step:.2f}h{step:.2f}v{step:.2f}h{-step:.2f}z"
                cells.setdefault((_kind(share, signed), level), []).append(place)
    parts = [_frame(WIDTH)]
    for (kind, level), places in sorted(cells.items()):
        parts.append(f'<path class="{kind}" fill-opacity="{level / LEVELS:.3f}" d="{"".join(places)}"/>')
    parts.append(_lattice(side, WIDTH))
    for zone in range(size):
        middle = (zone + 0.5) * step
        letter, number = cell_name(zone, side)[0], cell_name(zone, side)[1:]
        # Every zone has its number; the letter stands once, before its zones.
        parts.append(text_at("zone-tick", "-3", f"{middle + 2:.1f}", number, "end"))
        parts.append(text_at("zone-tick", f"{middle:.1f}", "-3", number))
        if zone % side == 0:
            centre = (zone + side / 2) * step
            parts.append(text_at("tick", "-13", f"{centre + 4:.1f}", letter))
            parts.append(text_at("tick", f"{centre:.1f}", "-11", letter))
    return Markup(
        f'<svg class="matrix" viewBox="-22 -22 {WIDTH + 24:.1f} {WIDTH + 24:.1f}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def pattern_path(cells: Sequence[int], n: int, ratio: float) -> Markup:
    """Draw one pattern as a little path: a dot where it begins, an arrow head where it ends."""
    width, height = 72.0, 72.0 * ratio
    centres = [complex(*_centre(cell, n, height, width)) for cell in cells]
    points = []
    for start, end in itertools.pairwise(centres):
        # Every leg keeps to its right, so that a way back is seen beside the way there.
        aside = 0.1 * width / n * 1j * _ahead(start, end)
        points += [start + aside, end + aside]
    parts = [_frame(height, width)]
    if n <= 16:
        parts.append(_lattice(n, height, width))
    parts.append(f'<polyline class="path" points="{_points(points)}"/>')
    parts.append(f'<circle class="dot" cx="{points[0].real:.1f}" cy="{points[0].imag:.1f}" r="3"/>')
    tip, ahead = points[-1], 7.0 * _ahead(*points[-2:])
    head = [tip + 0.6 * ahead, tip + (-0.4 + 0.5j) * ahead, tip + (-0.4 - 0.5j) * ahead]
    parts.append(f'<polygon class="dot" points="{_points(head)}"/>')
    return _svg(width, height, parts, "pattern")


def trip_map(lines: Sequence[Sequence[Sequence[float]]], frame: Frame, style: str) -> Markup:
    """Draw a few hundred trips as thin lines; what many of them share becomes dark."""
    parts = frame.under()
    for first in range(0, len(lines), TRIPS_PER_PATH):
        path = "".join(_stroke(line, frame.height) for line in lines[first : first + TRIPS_PER_PATH])
        parts.append(f'<path class="trip {style}" d="{path}"/>')
    return _svg(WIDTH, frame.height, [*parts, _lattice(1, frame.height), *frame.over()], "map trips")


def _stroke(line: Sequence[Sequence[float]], height: float) -> str:
    """Write a line as the data of a path; a trip that stays in one place is a dot."""
    points = [(x * WIDTH, height - y * height) for x, y in line]
    if len(points) == 1:
        points = points * 2
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def scale_bar(top: float, *, signed: bool = False) -> Markup:
    """Draw the legend of the colours: what a few shares look like."""
    steps = [-1.0, -0.25, 0.0, 0.25, 1.0] if signed else [0.0, 0.0625, 0.25, 0.5625, 1.0]
    parts = []
    for number, step in enumerate(steps):
        kind, left = _kind(step, signed), number * 60
        opacity = math.sqrt(abs(step))
        parts.append(f'<rect class="ground" x="{left}" width="60" height="9"/>')
        parts.append(f'<rect class="{kind}" fill-opacity="{opacity:.3f}" x="{left}" width="60" height="9"/>')
        share = 100 * step * top
        said = f"{share:+.2g} %" if signed and step else f"{share:.2g} %"
        parts.append(text_at("tick", f"{left + 30}", "22", said.replace("-", "−")))
    parts.append('<rect class="lattice" width="300" height="9"/>')
    return _svg(WIDTH, 26.0, parts, "scale")


def _kind(share: float, signed: bool) -> str:
    """Return the CSS class of the colour of a share, or of a difference."""
    return ("more" if share > 0 else "less") if signed else "heat"


def _centre(block: int, side: int, height: float, width: float = WIDTH) -> tuple[float, float]:
    return (block // side + 0.5) * width / side, height - (block % side + 0.5) * height / side


def _ahead(start: complex, end: complex) -> complex:
    """Return the direction from one point to another, as a number of length 1; times 1j it points to the right."""
    return (end - start) / abs(end - start)


def _arrow(start: complex, end: complex, strength: float, cell: float, kind: str) -> str:
    """Draw a shaft and a head between two block centres, moved aside so that the way back has room."""
    ahead = _ahead(start, end)
    right, apart = 1j * ahead, 0.2 * (end - start)
    tail, tip = start + apart + 0.11 * cell * right, end - apart + 0.11 * cell * right
    width = (0.02 + 0.13 * strength) * cell
    head = min(2.2 * width + 0.05 * cell, 0.3 * cell)
    neck, shaft, barb = tip - head * ahead, width / 2 * right, head / 2 * right
    corners = [tail + shaft, neck + shaft, neck + barb, tip, neck - barb, neck - shaft, tail - shaft]
    return f'<polygon class="{kind}" fill-opacity="{0.3 + 0.7 * strength:.2f}" points="{_points(corners)}"/>'


def _points(places: Iterable[complex]) -> str:
    return " ".join(f"{place.real:.1f},{place.imag:.1f}" for place in places)


def _frame(height: float, width: float = WIDTH) -> str:
    return f'<rect class="ground" width="{width:.1f}" height="{height:.1f}"/>'


def _lattice(side: int, height: float, width: float = WIDTH) -> str:
    """Draw the lines between the cells and around them."""
    lines = [f"M{k * width / side:.1f} 0V{height:.1f}" for k in range(side + 1)]
    lines += [f"M0 {k * height / side:.1f}H{width:.1f}" for k in range(side + 1)]
    return f'<path class="lattice" d="{"".join(lines)}"/>'


def _svg(width: float, height: float, parts: list[str], kind: str) -> Markup:
    # A margin of one unit keeps the outer lines whole.
    return Markup(
        f'<svg class="{kind}" viewBox="-1 -1 {width + 2:.1f} {height + 2:.1f}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
