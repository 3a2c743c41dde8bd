"""Kept measurements, one file each, so that work that was interrupted goes on where it stopped.

They are found again by what was measured. The methods of this distribution have its version; a method of another
package has that package's version and the text of its modules, because its author changes it between two runs.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace import __version__, plugins
from ldptrace.core.atomic import atomic_path
from ldptrace.errors import FormatError
from ldptrace.methods import method

FORMAT, VERSION = "ldptrace-measurement", 1
OWN = ("ldptrace", "ldptrace_lab")


def _package(point: EntryPoint) -> str:
    return point.module.partition(".")[0]


def others() -> tuple[str, ...]:
    """Return the names of the methods of `synthesize` that other packages give."""
    methods = plugins.installed(plugins.METHODS)
    return tuple(name for name, point in methods.items() if _package(point) not in OWN)


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


def sentence_about(name: str) -> str:
    """Return what a method of another package is, and whom one has to trust where it is not eps-LDP."""
    recipe = method(name)
    told = f"{name} is a method of another package: {recipe.summary}."
    return told if recipe.leaks is None else f"{told} It is not eps-LDP: {recipe.leaks}."


def digest_of(*columns: NDArray[Any] | None) -> str:
    """Return a hash of what arrays hold; None for a column that a data set has not got."""
    digest = hashlib.blake2b(digest_size=8)
    for column in columns:
        if column is not None:
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def key_of(what: Mapping[str, Any], method: str) -> str:
    """Return a hash of the settings of a measurement and of the code of its method.

    >>> key_of({"seed": 1}, "paper") == key_of({"seed": 1}, "paper"), len(key_of({}, "paper"))
    (True, 24)
    """
    text = json.dumps([what, fingerprint(method), __version__, VERSION], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Kept:
    """A folder of measurements by their keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def find(self, key: str) -> dict[str, float] | None:
        """Return the values of a measurement, or None if it was not kept."""
        file = self.folder / f"{key}.json"
        if not file.exists():
            return None
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            if (record["format"], record["version"]) != (FORMAT, VERSION):
                raise KeyError("format")
            return {
                name: math.nan if value is None else float(value) for name, value in record["values"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FormatError(
                f"{file} is not a kept measurement; delete it, or choose another folder"
            ) from None

    def keep(self, key: str, what: Mapping[str, Any], values: Mapping[str, float]) -> None:
        """Write the values of a measurement, and what was measured."""
        record = {
            "format": FORMAT,
            "version": VERSION,
            "ldptrace": __version__,
            "what": what,
            "values": {name: None if math.isnan(value) else value for name, value in values.items()},
        }
        with atomic_path(self.folder / f"{key}.json") as temporary:
            temporary.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
