"""Walks between the places that people visit: a campus, and files of check-ins."""
