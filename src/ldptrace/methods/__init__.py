"""Methods by name."""

from __future__ import annotations

from ldptrace.errors import InputError
from ldptrace.methods import ngram, paper, single_report
from ldptrace.methods.base import Drawing, Job, Method, Synthesis

METHODS: dict[str, Method] = {
    method.name: method for method in (*single_report.METHODS, *paper.METHODS, *ngram.METHODS)
}
DEFAULT = "single-report"


def method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}")
    return METHODS[name]


__all__ = ["DEFAULT", "METHODS", "Drawing", "Job", "Method", "Synthesis", "method"]
