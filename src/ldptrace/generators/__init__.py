"""Data sets to try ldptrace on: a generated city, trips on a given road network, walks on a campus.

Each generator has two forms: `city(1000, seed=1)` gives trajectories at once, `city_traffic(seed=1)` gives
the place alone, from which trips can be drawn again and again, also in batches for more than fit into
memory.
"""

from ldptrace.generators.campuses import campus, campus_walks
from ldptrace.generators.cities import city, city_traffic, like, network, network_traffic, world_like

__all__ = [
    "campus",
    "campus_walks",
    "city",
    "city_traffic",
    "like",
    "network",
    "network_traffic",
    "world_like",
]
