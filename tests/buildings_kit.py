"""A campus of five buildings, as files; and walks between buildings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace_lab.campus.walks import campus_walks

BUILDINGS = [
    ("Hall", "Academic", -123.2500, 49.2600),
    ("Lab", "Research", -123.2480, 49.2610),
    ("Tower", "StudentHousing", -123.2460, 49.2620),
    ("Dome", "Observatory", -123.2490, 49.2640),
    ("Pool", "Athletics", -123.2520, 49.2630),
]


def write_geojson(path: Path, buildings: list[tuple[str, str, float, float]]) -> Path:
    features = []
    for name, usage, lon, lat in buildings:
        ring = [
            [lon - 2e-4, lat - 1e-4],
            [lon + 2e-4, lat - 1e-4],
            [lon + 2e-4, lat + 1e-4],
            [lon - 2e-4, lat + 1e-4],
        ]
        geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        features.append(
            {"type": "Feature", "geometry": geometry, "properties": {"NAME": name, "BLDG_USAGE": usage}}
        )
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def write_table(path: Path, rows: list[tuple[str, str, float, float]], header: str) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def campus_trips(trajectories: int, seed: int, **settings: Any) -> Trajectories:
    """Walks on the campus of a seed."""
    world, day = np.random.default_rng(seed).spawn(2)
    return campus_walks(world, **settings).trips(trajectories, day)
