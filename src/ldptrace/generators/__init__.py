"""Data sets to try ldptrace on: a made-up city, trips on a given road network, walks on a campus."""

from ldptrace.generators.campuses import campus, campus_walks
from ldptrace.generators.cities import city, city_traffic
from ldptrace.generators.networks import network, network_traffic

__all__ = ["campus", "campus_walks", "city", "city_traffic", "network", "network_traffic"]
