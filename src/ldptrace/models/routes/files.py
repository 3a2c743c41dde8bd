"""Routes in the file of a model: their edges, and the streets that they use with their lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats
from ldptrace.models.base import Arrays
from ldptrace.models.routes.strides import Strides
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

_ROADS = ("x", "y", "source", "target", "length", "road_class")
_OPTIONAL = ("seconds", "shape_x", "shape_y", "shape_offsets", "edge_id", "backward")


def routes_contents(routes: Routes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of routes on the streets that they use."""
    small = routes.on_used_roads()
    roads = small.roads
    arrays: Arrays = {f"roads_{name}": getattr(roads, name) for name in _ROADS}
    arrays |= {
        f"roads_{name}": getattr(roads, name) for name in _OPTIONAL if getattr(roads, name) is not None
    }
    arrays |= {
        "edges": small.edges,
        "sizes": small.sizes.astype(np.int32),
        # Where on its first and last edge a route begins and ends: a thousandth of an edge is enough.
        "begin": small.begin.astype(np.float32),
        "end": small.end.astype(np.float32),
        "weights": small.weights,
    }
    return {"roads": {"name": roads.name, "crs": roads.crs, "classes": list(roads.classes)}}, arrays


def routes_restored(header: dict[str, Any], arrays: Arrays) -> Routes:
    """Read and check the routes of a file."""
    about = header["roads"]
    columns: dict[str, Any] = {name: arrays[f"roads_{name}"] for name in _ROADS}
    columns |= {name: arrays[f"roads_{name}"] for name in _OPTIONAL if f"roads_{name}" in arrays}
    roads = RoadNetwork(
        **columns,
        crs=about["crs"],
        name=str(about["name"]),
        classes=tuple(about["classes"]),
    )
    offsets = ragged.offsets_of(arrays["sizes"])
    for name in ("begin", "end"):
        if not ((arrays[name] >= 0).all() and (arrays[name] <= 1).all()):
            raise ValueError(f"{name} must be a share of an edge")
    return Routes(roads, arrays["edges"], offsets, arrays["begin"], arrays["end"], arrays["weights"])


def strides_restored(header: dict[str, Any], arrays: Arrays, many: int) -> Strides:
    """Read and check the strides of this number of routes."""
    apart = np.array(header["strides"]["apart"], dtype=np.float64)
    kind = np.asarray(arrays["stride"]).astype(np.int8)
    if apart.ndim != 1 or len(apart) == 0 or not (np.isfinite(apart).all() and (apart > 0).all()):
        raise ValueError("strides must be positive")
    if kind.shape != (many,) or kind.min() < 0 or kind.max() >= len(apart):
        raise ValueError("every route needs a stride")
    return Strides(kind, apart, bool(header["strides"]["timed"]))


def draws_restored(arrays: Arrays, many: int) -> NDArray[np.int8] | None:
    """Read and check the replicates for this number of routes, if they are known."""
    if "draws" not in arrays:
        return None
    draws = np.asarray(arrays["draws"])
    if draws.dtype != np.int8 or draws.ndim != 2 or draws.shape[1] != many:
        raise ValueError("the replicates do not fit the routes")
    return draws


def felt_restored(arrays: Arrays, edges: int) -> Floats | None:
    """Read and check the lengths of edges in travel time, if speeds are not known."""
    if "felt" not in arrays:
        return None
    felt = np.asarray(arrays["felt"], dtype=np.float64)
    if felt.shape != (edges,) or not (np.isfinite(felt).all() and (felt > 0).all()):
        raise ValueError("every edge needs a positive length as time passes on it")
    return felt
