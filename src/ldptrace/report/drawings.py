"""Pictures of places: maps, flows, trip matrices, patterns and sample trajectories, as SVG text.

Colours are CSS classes, so that one picture serves light and dark screens and paper.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

WIDTH = 300.0
LEVELS = 12
ARROWS = 120
FAINTEST_ARROW = 0.05

Flow = tuple[int, int, float]


def density_map(shares: Sequence[float], ratio: float, top: float) -> Markup:
    """Shares of visits per block; `top` is full colour, which grows with the square root of the share."""
    return _blocks(shares, ratio, lambda share: ("heat", math.sqrt(share / top) if top else 0.0))


def difference_map(shares: Sequence[float], ratio: float, top: float) -> Markup:
    """Differences of shares per block: more than real in one colour, less in another."""
    return _blocks(
        shares,
        ratio,
        lambda share: ("more" if share > 0 else "less", math.sqrt(abs(share) / top) if top else 0.0),
        signed=True,
    )


def flow_map(flows: Iterable[Flow], side: int, ratio: float, top: float) -> Markup:
    """Moves between neighbouring blocks as arrows, each on the right-hand side of its way."""
    height = WIDTH * ratio
    shown = sorted((flow for flow in flows if flow[2] >= FAINTEST_ARROW * top), key=lambda flow: -flow[2])
    parts = [_frame(height), _lattice(side, height)]
    for start, end, share in reversed(shown[:ARROWS]):
        strength = share / top
        (ax, ay), (bx, by) = (_centre(block, side, height) for block in (start, end))
        parts.append(_arrow(ax, ay, bx, by, strength, WIDTH / side, "heat"))
    return _svg(WIDTH, height, parts, "map")


def flow_difference(
    real: Iterable[Flow], other: Iterable[Flow], side: int, ratio: float, top: float
) -> Markup:
    """Differences of flows as arrows: more than real in one colour, less in another."""
    height = WIDTH * ratio
    parts = [_frame(height), _lattice(side, height)]
    gaps = sorted(flow_gaps(real, other).items(), key=lambda item: -abs(item[1]))[:ARROWS]
    for (start, end), gap in reversed(gaps):
        if abs(gap) >= FAINTEST_ARROW * top:
            (ax, ay), (bx, by) = (_centre(block, side, height) for block in (start, end))
            kind = "more" if gap > 0 else "less"
            parts.append(_arrow(ax, ay, bx, by, abs(gap) / top, WIDTH / side, kind))
    return _svg(WIDTH, height, parts, "map")


def flow_gaps(real: Iterable[Flow], other: Iterable[Flow]) -> dict[tuple[int, int], float]:
    """By how much the share of each flow differs.

    >>> flow_gaps([(0, 1, 0.5)], [(0, 1, 0.25), (1, 0, 0.75)])
    {(0, 1): -0.25, (1, 0): 0.75}
    """
    gaps = {(start, end): -share for start, end, share in real}
    for start, end, share in other:
        gaps[start, end] = gaps.get((start, end), 0.0) + share
    return gaps


def trip_matrix(trips: Sequence[Sequence[float]], top: float, *, signed: bool = False) -> Markup:
    """Origins (rows) by destinations (columns); signed for a difference."""
    size = len(trips)
    step = WIDTH / size
    side = math.isqrt(size)
    cells: dict[tuple[str, int], list[str]] = {}
    for row, shares in enumerate(trips):
        for column, share in enumerate(shares):
            level = math.ceil(LEVELS * math.sqrt(min(abs(share) / top, 1.0))) if top else 0
            if level:
                kind = ("more" if share > 0 else "less") if signed else "heat"
                place = f"M{column * step:.2f} {row * step:.2f}h{step:.2f}v{step:.2f}h{-step:.2f}z"
                cells.setdefault((kind, level), []).append(place)
    parts = [_frame(WIDTH)]
    for (kind, level), places in sorted(cells.items()):
        parts.append(f'<path class="{kind}" fill-opacity="{level / LEVELS:.3f}" d="{"".join(places)}"/>')
    parts.append(_lattice(side, WIDTH))
    return _svg(WIDTH, WIDTH, parts, "matrix")


def pattern_path(cells: Sequence[int], n: int, ratio: float) -> Markup:
    """One pattern as a little path: a dot where it begins, an arrow head where it ends."""
    width = 72.0
    height = width * ratio
    centres = [((cell // n + 0.5) * width / n, height - (cell % n + 0.5) * height / n) for cell in cells]
    points = []
    for (ax, ay), (bx, by) in itertools.pairwise(centres):
        # Every leg keeps to its right, so that a way back is seen beside the way there.
        reach = 0.1 * width / n / math.hypot(bx - ax, by - ay)
        dx, dy = -(by - ay) * reach, (bx - ax) * reach
        points += [(ax + dx, ay + dy), (bx + dx, by + dy)]
    parts = [_frame(height, width)]
    if n <= 16:
        parts.append(_lattice(n, height, width))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline class="path" points="{line}"/>')
    parts.append(f'<circle class="dot" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="3"/>')
    (ax, ay), (bx, by) = points[-2:]
    parts.append(_head(ax, ay, bx, by, 7.0, "dot"))
    return _svg(width, height, parts, "pattern")


def sample_map(lines: Sequence[Sequence[Sequence[float]]], ratio: float, style: str) -> Markup:
    """A few trajectories; a dot where each begins."""
    height = WIDTH * ratio
    parts = [_frame(height)]
    for line in lines:
        points = [(x * WIDTH, height - y * height) for x, y in line]
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line {style}" points="{places}"/>')
        parts.append(
            f'<circle class="fill {style}" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2.2"/>'
        )
    parts.append(_lattice(1, height))
    return _svg(WIDTH, height, parts, "map samples")


def scale_bar(top: float, *, signed: bool = False) -> Markup:
    """Legend of the colours: what a few shares look like."""
    steps = [-1.0, -0.25, 0.0, 0.25, 1.0] if signed else [0.0, 0.0625, 0.25, 0.5625, 1.0]
    parts = []
    for number, step in enumerate(steps):
        kind = ("more" if step > 0 else "less") if signed else "heat"
        left = number * 60
        opacity = math.sqrt(abs(step))
        parts.append(f'<rect class="ground" x="{left}" width="60" height="9"/>')
        parts.append(f'<rect class="{kind}" fill-opacity="{opacity:.3f}" x="{left}" width="60" height="9"/>')
        label = (f"{100 * step * top:+.2g} %" if signed and step else f"{100 * step * top:.2g} %").replace(
            "-", "−"
        )
        parts.append(f'<text class="tick" x="{left + 30}" y="22" text-anchor="middle">{label}</text>')
    parts.append('<rect class="lattice" width="300" height="9"/>')
    return _svg(WIDTH, 26.0, parts, "scale")


def _blocks(
    shares: Sequence[float],
    ratio: float,
    paint: Callable[[float], tuple[str, float]],
    *,
    signed: bool = False,
) -> Markup:
    side = math.isqrt(len(shares))
    height = WIDTH * ratio
    parts = [_frame(height)]
    wide, high = WIDTH / side, height / side
    for block, share in enumerate(shares):
        kind, opacity = paint(share)
        if opacity > 0.0:
            x, y = _centre(block, side, height)
            label = f"{100 * share:+.2f} points" if signed else f"{100 * share:.2f} %"
            parts.append(
                f'<rect class="{kind}" fill-opacity="{min(opacity, 1.0):.3f}" x="{x - wide / 2:.2f}" '
                f'y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"><title>{label}</title></rect>'
            )
    parts.append(_lattice(side, height))
    return _svg(WIDTH, height, parts, "map")


def _centre(block: int, side: int, height: float) -> tuple[float, float]:
    return (block // side + 0.5) * WIDTH / side, height - (block % side + 0.5) * height / side


def _arrow(ax: float, ay: float, bx: float, by: float, strength: float, cell: float, kind: str) -> str:
    """A shaft and a head between two block centres, moved aside so that the way back has room."""
    length = math.hypot(bx - ax, by - ay)
    ux, uy = (bx - ax) / length, (by - ay) / length
    aside = 0.11 * cell
    ax, ay, bx, by = ax - uy * aside, ay + ux * aside, bx - uy * aside, by + ux * aside
    ax, ay = ax + ux * 0.2 * length, ay + uy * 0.2 * length
    bx, by = bx - ux * 0.2 * length, by - uy * 0.2 * length
    width = (0.02 + 0.13 * strength) * cell
    head = min(2.2 * width + 0.05 * cell, 0.3 * cell)
    nx, ny = bx - ux * head, by - uy * head
    corners = [
        (ax - uy * width / 2, ay + ux * width / 2),
        (nx - uy * width / 2, ny + ux * width / 2),
        (nx - uy * head / 2, ny + ux * head / 2),
        (bx, by),
        (nx + uy * head / 2, ny - ux * head / 2),
        (nx + uy * width / 2, ny - ux * width / 2),
        (ax + uy * width / 2, ay - ux * width / 2),
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon class="{kind}" fill-opacity="{0.3 + 0.7 * strength:.2f}" points="{points}"/>'


def _head(ax: float, ay: float, bx: float, by: float, size: float, kind: str) -> str:
    length = math.hypot(bx - ax, by - ay)
    ux, uy = (bx - ax) / length, (by - ay) / length
    tip = (bx + ux * size * 0.6, by + uy * size * 0.6)
    left = (bx - ux * size * 0.4 - uy * size / 2, by - uy * size * 0.4 + ux * size / 2)
    right = (bx - ux * size * 0.4 + uy * size / 2, by - uy * size * 0.4 - ux * size / 2)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, left, right))
    return f'<polygon class="{kind}" points="{points}"/>'


def _frame(height: float, width: float = WIDTH) -> str:
    return f'<rect class="ground" width="{width:.1f}" height="{height:.1f}"/>'


def _lattice(side: int, height: float, width: float = WIDTH) -> str:
    """Lines between the cells and around them."""
    lines = [f"M{k * width / side:.1f} 0V{height:.1f}" for k in range(side + 1)]
    lines += [f"M0 {k * height / side:.1f}H{width:.1f}" for k in range(side + 1)]
    return f'<path class="lattice" d="{"".join(lines)}"/>'


def _svg(width: float, height: float, parts: list[str], kind: str) -> Markup:
    # A margin of one unit keeps the outer lines whole.
    return Markup(
        f'<svg class="{kind}" viewBox="-1 -1 {width + 2:.1f} {height + 2:.1f}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
