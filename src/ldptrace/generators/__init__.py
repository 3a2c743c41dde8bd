"""Data sets to try ldptrace on: a generated city, trips on a given road network, walks on a campus.

Each generator gives a place (`city_traffic(seed=1)`), from which trips can be drawn again and again, also in batches
for more than fit into memory. `city(1000, seed=1)` gives the trips of a generated city at once.
"""

from ldptrace.generators.campuses import campus_walks
from ldptrace.generators.cities import city, city_traffic, network_traffic, world_like

__all__ = [
    "campus_walks",
    "city",
    "city_traffic",
    "network_traffic",
    "world_like",
]
