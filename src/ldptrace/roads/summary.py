"""A description of a road network, as plain data and as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ldptrace.core.crs import box_text
from ldptrace.roads.network import RoadNetwork

KMH = 3.6


def facts(roads: RoadNetwork) -> dict[str, Any]:
    """Return counts, lengths, speeds and classes as plain data. `street_length` counts both directions of a street
    once."""
    once = np.where(roads.opposite >= 0, 0.5, 1.0)
    length = roads.length * once
    total = float(length.sum())
    speeds = None if roads.seconds is None else KMH * roads.length / roads.seconds
    classes = {}
    for code, word in [*enumerate(roads.classes), (-1, "unknown")]:
        own = roads.road_class == code
        if own.any():
            classes[word] = {
                "edges": int(own.sum()),
                "street_length": float(length[own].sum()),
                "speed_kmh": None if speeds is None else float(np.average(speeds[own], weights=length[own])),
            }
    return {
        "name": roads.name,
        "crs": roads.crs,
        "unit": "metres" if roads.is_geographic else "units of the coordinates",
        "bounds": list(roads.bounds()),
        "nodes": roads.nodes,
        "edges": roads.edges,
        "one_way_share": float(length[roads.opposite < 0].sum() / total),
        "street_length": total,
        "mean_edge_length": float(roads.length.mean()),
        "lines": roads.shape_x is not None and len(roads.shape_x) > 0,
        "speed_kmh": None if speeds is None else float(np.average(speeds, weights=length)),
        "classes": classes,
        "account": asdict(roads.account),
    }


def explain_roads(roads: RoadNetwork) -> str:
    """Return the facts as lines of text."""
    told = facts(roads)
    per, unit = (1000.0, "km") if roads.is_geographic or roads.crs is not None else (1.0, "units")
    lines = [
        roads.account.line(),
        f"{told['street_length'] / per:,.0f} {unit} of streets, {100 * told['one_way_share']:.0f} % of them "
        f"one-way; edges are {told['mean_edge_length']:.0f} {'metres' if unit == 'km' else unit} long on "
        f"average{'' if told['lines'] else ', all straight'}",
        f"coordinates {roads.crs or 'of a plane, system not known'}, bounds {box_text(told['bounds'])}",
        "speeds are not known"
        if told["speed_kmh"] is None
        else f"{told['speed_kmh']:.0f} km/h on average on empty roads",
    ]
    order = sorted(told["classes"].items(), key=lambda item: -item[1]["street_length"])
    if roads.classes:
        lines += [
            f"  {word:<16} {own['street_length'] / per:>9,.1f} {unit}"
            + ("" if own["speed_kmh"] is None else f"  {own['speed_kmh']:>5.0f} km/h")
            for word, own in order
        ]
    return "\n".join(lines)
