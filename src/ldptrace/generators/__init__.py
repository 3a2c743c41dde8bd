"""Data sets to try ldptrace on: a generated city, or trips on a given road network.

Each generator gives a place (`city_traffic(seed=1)`), from which trips can be drawn again and again, also in batches
for more than fit into memory. `city(1000, seed=1)` gives the trips of a generated city at once.
"""

from ldptrace.generators.cities import city, city_traffic, network_traffic

__all__ = ["city", "city_traffic", "network_traffic"]
