"""Kept measurements, one file each, so that work that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldptrace import __version__
from ldptrace.core.atomic import atomic_path
from ldptrace.errors import FormatError
from ldptrace_lab.plugged import fingerprint

FORMAT, VERSION = "ldptrace-measurement", 1


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
