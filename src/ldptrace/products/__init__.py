"""Results for planners: matrices between zones, counts of streets, files for simulators, pages and papers.

Everything here is made from synthetic trips or from a fitted model, so it costs no epsilon.
"""
