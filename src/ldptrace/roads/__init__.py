"""The public map: road networks, ways through them, and readers of the files people have."""

from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.readers import read_roads

__all__ = ["RoadNetwork", "read_roads"]
