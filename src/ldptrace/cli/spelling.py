"""Old spellings of options. They work for one more release and warn."""

from __future__ import annotations

import warnings

# Names without their dashes: old, and what they are called now.
OLD = {"output": "out", "trajectories": "count"}


def current(name: str) -> str:
    """The present spelling of an option, a choice or a command; an old one warns.

    >>> current("grid")
    'grid'
    """
    if name not in OLD:
        return name
    message = f"--{name} is now --{OLD[name]}; the old name goes with the next release"
    warnings.warn(message, FutureWarning, stacklevel=2)
    return OLD[name]
