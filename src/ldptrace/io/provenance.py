"""The privacy promise of a synthetic set, stored in its file or, if the format has no place for it, beside the file.

The file beside `trips.csv` is `trips.csv.promise.json`. It holds a checksum of the data, so that a promise is never
used for other data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldptrace.core.atomic import atomic_path, remove
from ldptrace.errors import FormatError, PlanError
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import explain

Provenance = Mapping[str, Any]

# Key of a Parquet file's metadata and member of a JSON document.
KEY = "ldptrace"
FORMAT, VERSION = "ldptrace-promise", 1
BESIDE = ".promise.json"


def to_text(provenance: Provenance) -> str:
    return json.dumps(dict(provenance))


def from_text(text: str | bytes) -> dict[str, Any] | None:
    """Return the promise that a file states, with its plan in words. None if the file states nothing about privacy."""
    try:
        stated = json.loads(text)
    except ValueError:
        raise FormatError(f"what the file states about its privacy (key {KEY!r}) is not JSON") from None
    return from_document(stated)


def from_document(stated: object) -> dict[str, Any] | None:
    """Do the same as `from_text`, for data that are already parsed."""
    if isinstance(stated, dict) and isinstance(stated.get("privacy"), dict):
        stated = stated["privacy"]
    if not isinstance(stated, dict):
        return None
    # Where somebody did write down the seed of the devices: do not spread it.
    stated = {name: value for name, value in stated.items() if name != "seed"}
    if stated.get("plan") and not stated.get("explanation"):
        stated["explanation"] = _explained(stated["plan"])
    return stated


def beside(path: Path) -> Path:
    """Return the path of the promise beside a file.

    >>> beside(Path("a/trips.csv")).as_posix()
    'a/trips.csv.promise.json'
    """
    return path.with_name(path.name + BESIDE)


def write_beside(path: Path, provenance: Provenance | None) -> None:
    """Write the promise beside a file that was just written. Without a promise, an older one is removed."""
    target = beside(path)
    if provenance is None:
        if target.is_file() and not target.is_symlink():
            remove(target)
        return
    document = {
        "format": FORMAT,
        "version": VERSION,
        "file": path.name,
        "sha256": checksum(path),
        "privacy": dict(provenance),
    }
    with atomic_path(target) as temporary:
        temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def read_beside(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """Read the promise beside a file. If the promise belongs to other data, return a note instead."""
    source = beside(path)
    if not source.is_file():
        return None, []
    try:
        document = json.loads(source.read_bytes())
    except ValueError:
        return None, [f"{source.name} is not JSON, so it promises nothing"]
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None, [f"{source.name} is no promise of ldptrace"]
    if document.get("sha256") != checksum(path):
        return None, [f"{source.name} was made about other data, so it promises nothing about this file"]
    return from_document(document), []


def checksum(path: Path) -> str:
    """Compute the SHA-256 of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _explained(plan: object) -> list[str]:
    """Return a plan in sentences, or nothing if this version does not understand the plan."""
    try:
        return explain(Plan.from_json(dumps(plan)))
    except (PlanError, TypeError, ValueError):
        return []
