"""Small road networks for the tests."""

from __future__ import annotations

import numpy as np

from ldptrace.roads.network import RoadNetwork


def lattice_roads(k: int = 5, block: float = 100.0, **more: object) -> RoadNetwork:
    """k x k junctions, all streets both ways."""
    number = np.arange(k * k).reshape(k, k)
    here = np.r_[number[:-1].ravel(), number[:, :-1].ravel()]
    there = np.r_[number[1:].ravel(), number[:, 1:].ravel()]
    i, j = np.divmod(np.arange(k * k), k)
    return RoadNetwork.of(i * block, j * block, np.r_[here, there], np.r_[there, here], **more)  # type: ignore[arg-type]


def scattered_roads(nodes: int = 60, seed: int = 0, **more: object) -> RoadNetwork:
    """Junctions at random places of a square of 1000, each joined to its four nearest, strongly connected."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, nodes)) * 1000
    apart = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    near = np.argsort(apart, axis=1)[:, 1:5]
    pairs = {(int(a), int(b)) for a in range(nodes) for b in near[a]}
    both = sorted(pairs | {(b, a) for a, b in pairs})
    source, target = np.array(both).T
    return RoadNetwork.of(x, y, source, target, **more).largest_component()  # type: ignore[arg-type]
