"""GraphML of OSMnx."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import FormatError
from ldptrace.roads import read_roads

KEYS = {
    "graph": ("crs",),
    "node": ("x", "y"),
    "edge": ("highway", "length", "geometry", "maxspeed", "oneway", "travel_time", "access"),
}


def write(path: Path, crs: str, edges: list[tuple[str, str, dict[str, str]]], kind: str = "directed") -> Path:
    """A graph of three nodes a, b, c at the corners of a triangle of 100 units."""
    names = [(use, name) for use, group in KEYS.items() for name in group]
    number = {pair: f"d{k}" for k, pair in enumerate(names)}
    lines = [f'<key id="{code}" for="{use}" attr.name="{name}"/>' for (use, name), code in number.items()]

    def data(use: str, row: dict[str, str]) -> str:
        return "".join(f'<data key="{number[use, name]}">{value}</data>' for name, value in row.items())

    lines.append(f'<graph edgedefault="{kind}">{data("graph", {"crs": crs})}')
    for name, x, y in (("a", 0, 0), ("b", 100, 0), ("c", 100, 100)):
        lines.append(f'<node id="{name}">{data("node", {"x": str(x), "y": str(y)})}</node>')
    lines += [f'<edge source="{a}" target="{b}" id="0">{data("edge", row)}</edge>' for a, b, row in edges]
    body = "\n".join([*lines, "</graph>"])
    path.write_text(
        f'<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{body}</graphml>'
    )
    return path


def test_a_projected_graph_with_lines_limits_and_lists(tmp_path: Path) -> None:
    edges = [
        ("a", "b", {"highway": "['residential', 'tertiary']", "length": "100.5", "maxspeed": "['40', '60']"}),
        ("b", "a", {"highway": "residential", "length": "100.5", "travel_time": "9"}),
        (
            "b",
            "c",
            {"highway": "primary", "geometry": "LINESTRING (100 0, 150 50, 100 100)", "oneway": "True"},
        ),
        ("c", "a", {"highway": "primary_link"}),
        ("c", "b", {"highway": "service", "access": "private"}),
    ]
    roads = read_roads(write(tmp_path / "g.graphml", "epsg:32632", edges))
    assert roads.crs == "EPSG:32632"
    assert roads.edges == 4
    assert roads.seconds is not None
    assert roads.seconds.tolist()[:2] == pytest.approx([100.5 / (50 / 3.6), 9])
    assert roads.length.tolist()[2] == pytest.approx(2 * np.hypot(50, 50))
    assert roads.lines([2])[0].tolist() == [100, 150, 100]
    assert [roads.classes[code] for code in roads.road_class] == [
        "residential",
        "residential",
        "primary",
        "primary_link",
    ]
    assert roads.account.dropped_streets == {"closed by its access tags": 1}


def test_an_undirected_graph_is_travelled_both_ways(tmp_path: Path) -> None:
    edges = [("a", "b", {}), ("b", "c", {"oneway": "True"}), ("c", "a", {"oneway": "False"})]
    assert read_roads(write(tmp_path / "g.graphml", "", edges, "undirected")).edges == 5


def test_edges_to_nowhere_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="an edge leads to the node 'z'"):
        read_roads(write(tmp_path / "g.graphml", "", [("a", "z", {})]))
