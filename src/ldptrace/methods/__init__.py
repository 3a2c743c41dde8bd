"""Methods by name."""

from __future__ import annotations

from importlib import import_module

from ldptrace.errors import InputError
from ldptrace.methods.base import Drawing, Job, Method, Synthesis

# The module of each method; it loads with the method, because a run needs one.
METHODS = {
    "single-report": "single_report",
    "paper": "paper",
    "paper-unpadded": "paper",
    "randsyn": "paper",
    "combtran": "paper",
    "noadapt": "paper",
    "ngram": "ngram",
    "ngram-full": "ngram",
}
DEFAULT = "single-report"


def method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}")
    recipes: tuple[Method, ...] = import_module(f"ldptrace.methods.{METHODS[name]}").METHODS
    return next(recipe for recipe in recipes if recipe.name == name)


__all__ = ["DEFAULT", "METHODS", "Drawing", "Job", "Method", "Synthesis", "method"]
