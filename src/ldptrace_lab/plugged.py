"""Methods that other packages give: their names, and what identifies their code.

Kept results are found again by what they were measured with. The methods of this distribution have its version; a
method of another package has that package's version and the text of its modules, because its author changes it between
two runs.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from ldptrace import plugins
from ldptrace.methods import method

OWN = ("ldptrace", "ldptrace_lab")


def _package(point: EntryPoint) -> str:
    return point.module.partition(".")[0]


def others() -> tuple[str, ...]:
    """Return the names of the methods of `synthesize` that other packages give."""
    found = plugins.installed(plugins.METHODS)
    return tuple(name for name, point in found.items() if _package(point) not in OWN)


@cache
def fingerprint(name: str) -> str | None:
    """Return what identifies the code of a method or stream method of another package; None for one of this
    distribution.
    """
    for group in (plugins.METHODS, plugins.STREAMS):
        point = plugins.installed(group).get(name)
        if point is not None and _package(point) not in OWN:
            version = "" if point.dist is None else point.dist.version
            digest = hashlib.blake2b(version.encode(), digest_size=8)
            for file in _modules(_package(point)):
                digest.update(file.read_bytes())
            return digest.hexdigest()
    return None


def _modules(package: str) -> list[Path]:
    """Return the files of a module or package, without importing it."""
    spec = find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.has_location and spec.origin else []
    return sorted(file for place in spec.submodule_search_locations for file in Path(place).rglob("*.py"))


def sentence(name: str) -> str:
    """Return what a method of another package is, and whom one has to trust where it is not eps-LDP."""
    found = method(name)
    told = f"{name} is a method of another package: {found.summary}."
    return told if found.leaks is None else f"{told} It is not eps-LDP: {found.leaks}."
