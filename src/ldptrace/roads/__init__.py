"""The public street map: road networks, routes, and readers of common file formats."""

from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.readers import read_roads
from ldptrace.roads.summary import explain_roads
from ldptrace.roads.writer import write_roads

__all__ = ["RoadNetwork", "explain_roads", "read_roads", "write_roads"]
