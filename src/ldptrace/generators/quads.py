"""A campus that does not exist."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.errors import InputError
from ldptrace.generators.buildings import Buildings, places

# Zones of a made-up campus: how many, how far from the middle (share of its radius), and the mix of usages.
ZONES: tuple[tuple[int, float, float, dict[str, float]], ...] = (
    (
        4,
        0.0,
        0.3,
        {"academic": 6, "research": 2, "commons": 1, "services": 1, "administrative": 1, "commercial": 0.4},
    ),
    (3, 0.3, 0.55, {"research": 3, "academic": 3, "services": 2, "operations": 1, "parking": 0.7}),
    (3, 0.5, 0.8, {"studenthousing": 8, "commons": 0.6, "commercial": 0.6, "services": 0.5}),
    (4, 0.65, 0.95, {"housing": 9, "services": 0.8, "commercial": 0.4, "parking": 0.4}),
    (1, 0.6, 0.8, {"athletics": 5, "parking": 1}),
    (1, 0.75, 0.9, {"operations": 5, "parking": 1}),
)


def made_up_buildings(rng: np.random.Generator, count: int = 320, size: float = 2400.0) -> Buildings:
    """Zones of study, living, sport and works on tilted plots in `size` x `size` metres."""
    if count < 2:
        raise InputError(f"a campus needs at least 2 buildings, got {count}")
    seeds, mixes = [], []
    for number, near, far, mix in ZONES:
        turn = rng.uniform(0, 2 * np.pi)
        for zone in range(number):
            angle = turn + 2 * np.pi * (zone + rng.uniform(-0.2, 0.2)) / number
            radius = 0.46 * size * rng.uniform(near, far)
            seeds.append((0.5 * size + radius * np.cos(angle), 0.5 * size + radius * np.sin(angle)))
            mixes.append(mix)
    tilt = rng.uniform(0, np.pi / 2)
    pitch = 0.58 * size / np.sqrt(count)
    half = int(size / pitch)
    i, j = (
        axis.ravel() * pitch for axis in np.meshgrid(np.arange(-half, half + 1), np.arange(-half, half + 1))
    )
    x = 0.5 * size + i * np.cos(tilt) - j * np.sin(tilt) + rng.normal(0, 0.1 * pitch, i.size)
    y = 0.5 * size + i * np.sin(tilt) + j * np.cos(tilt) + rng.normal(0, 0.1 * pitch, i.size)
    # About half of the plots are built on: near the middle of zones, not on the green through the campus.
    gap, zone = cKDTree(seeds).query(np.c_[x, y])
    outside = np.hypot(x - 0.5 * size, y - 0.5 * size) > 0.47 * size
    score = (
        gap / (0.1 * size) + rng.exponential(0.5, i.size) + 5.0 * (np.abs(j) < 0.6 * pitch) + 1e9 * outside
    )
    order = np.argsort(score)[:count]
    x, y, zone = x[order], y[order], zone[order]
    usage = [_drawn(mixes[number], rng) for number in zone]
    numbered = [f"{category.capitalize()} {number + 1}" for number, category in enumerate(usage)]
    return Buildings(places(x, y, usage, numbered, rng.lognormal(0.0, 0.5, len(x)), {}), tilt)


def _drawn(mix: Mapping[str, float], rng: np.random.Generator) -> str:
    weight = np.array(list(mix.values()))
    return list(mix)[int(rng.choice(len(weight), p=weight / weight.sum()))]
