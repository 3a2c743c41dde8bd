"""Read GraphML as OSMnx writes it, in degrees or projected."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84
from ldptrace.core.values import NUMBER
from ldptrace.errors import FormatError
from ldptrace.roads.classes import FORWARD, Mode, limit_kmh, way_class
from ldptrace.roads.readers.lines import from_wkt
from ldptrace.roads.readers.streets import Streets, coded
from ldptrace.roads.readers.sumo import elements

Row = dict[str, str]


def read(path: Path, mode: Mode) -> Streets:
    """Read the streets of a graph: nodes with x and y, and edges with the attributes of OSMnx."""
    graph, nodes, edges = _parse(path)
    place = {name: number for number, (name, _) in enumerate(nodes)}
    try:
        x, y = (np.array([float(row[axis]) for _, row in nodes]) for axis in ("x", "y"))
    except KeyError as error:
        raise FormatError(f"a node has no attribute {error.args[0]!r}; OSMnx writes x and y") from None
    except ValueError as error:
        raise FormatError(f"a coordinate of a node is not a number: {error}") from None
    judged = [way_class({key: first_word(value) for key, value in row.items()}, mode) for *_, row in edges]
    dropped = Counter(reason for _, reason in judged if reason is not None)
    kept = [edge for edge, (_, reason) in zip(edges, judged, strict=True) if reason is None]
    kind, kinds = coded([kind for kind, reason in judged if reason is None])
    stray = next((end for a, b, _ in kept for end in (a, b) if end not in place), None)
    if stray is not None:
        raise FormatError(f"an edge leads to the node {stray!r}, which the file does not have")
    count = len(kept)
    directed = graph.get("edgedefault") != "undirected"
    # A directed graph has a second edge for the way back; an undirected one only the sign.
    backward = [not directed and row.get("oneway", "").lower() not in FORWARD for *_, row in kept]
    return Streets(
        x,
        y,
        np.array([place[a] for a, _, _ in kept], dtype=np.int32),
        np.array([place[b] for _, b, _ in kept], dtype=np.int32),
        forward=np.ones(count, dtype=bool),
        backward=np.array(backward, dtype=bool),
        kind=kind,
        kinds=kinds,
        length=_numbers(kept, ("length",)),
        seconds=_numbers(kept, ("travel_time", "seconds")),
        speed=_numbers(kept, ("speed_kph", "speed_kmh")),
        limit=np.array([limit_kmh(row.get("maxspeed", "")) for *_, row in kept]),
        shape=from_wkt([row.get("geometry") for *_, row in kept]),
        crs=_crs(graph.get("crs")),
        format="GraphML",
        dropped=dropped,
        ids=np.flatnonzero([reason is None for _, reason in judged]).astype(np.str_),
        names=np.array([first_word(row.get("name", "")) for *_, row in kept]).astype(np.str_),
    )


def first_word(text: str) -> str:
    """Return the first of several values, which OSMnx writes if it joined different ways.

    >>> first_word("['residential', 'tertiary']"), first_word("primary")
    ('residential', 'primary')
    """
    if not text.startswith("["):
        return text
    try:
        values = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return str(values[0]) if values else ""


def _parse(path: Path) -> tuple[Row, list[tuple[str, Row]], list[tuple[str, str, Row]]]:
    """Return the attributes of the graph, of each node and of each edge, by name."""
    names: dict[str, str] = {}
    graph: Row = {}
    nodes: list[tuple[str, Row]] = []
    edges: list[tuple[str, str, Row]] = []
    for element in elements(path, {"key", "node", "edge", "graph"}, "well-formed XML"):
        if element.tag == "key":
            names[element.get("id", "")] = element.get("attr.name", "")
            continue
        row = {names.get(data.get("key", ""), ""): data.text or "" for data in element if data.tag == "data"}
        if element.tag == "node":
            nodes.append((element.get("id", ""), row))
        elif element.tag == "edge":
            edges.append((element.get("source", ""), element.get("target", ""), row))
        else:
            graph = {"edgedefault": element.get("edgedefault", "directed"), **row}
    if not graph:
        raise FormatError("this is XML, but there is no graph in it")
    return graph, nodes, edges


def _numbers(edges: list[tuple[str, str, Row]], names: tuple[str, ...]) -> Floats:
    """Return the first of these attributes that each edge has as a number; NaN if it has none."""
    words = (first_word(next((row[name] for name in names if name in row), "")) for *_, row in edges)
    return np.array([float(word) if re.match(NUMBER, word) else np.nan for word in words])


def _crs(text: str | None) -> str | None:
    """Return the label of a coordinate system. OSMnx writes `epsg:4326`, and long texts for some projections."""
    if not text:
        return None
    return text.upper() if text.lower().startswith("epsg:") else (WGS84 if "WGS84" in text else text)
