"""Find methods by name: methods of this package, and methods of other installed packages (`ldptrace.plugins`)."""

from __future__ import annotations

from importlib import import_module

from ldptrace import plugins
from ldptrace.curator.facts import PAPER, SINGLE
from ldptrace.errors import InputError
from ldptrace.methods.base import Job, Method, Synthesis

# The module of each method; it loads with the method, because a run needs one.
METHODS = {SINGLE: "single_report", **dict.fromkeys(PAPER, "paper")}


def names() -> list[str]:
    """Return the names of all methods, those of this package first. No method is imported."""
    return [*METHODS, *(name for name in plugins.installed(plugins.METHODS) if name not in METHODS)]


def method(name: str) -> Method:
    """Return the method with this name, or raise an error that lists all names."""
    if name in METHODS:
        recipes: tuple[Method, ...] = import_module(f"ldptrace.methods.{METHODS[name]}").METHODS
        return next(recipe for recipe in recipes if recipe.name == name)
    given = plugins.find(plugins.METHODS, name)
    if given is None:
        raise InputError(f"there is no method {name!r}; the methods are {', '.join(names())}")
    loaded = plugins.load(given)
    if not isinstance(loaded, Method) or loaded.name != name:
        raise InputError(
            f"the entry point {given.value} of {name} must be a Method of that name, got {loaded!r}"
        )
    return loaded


__all__ = ["METHODS", "Job", "Method", "Synthesis", "method", "names"]
