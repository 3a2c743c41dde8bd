"""Write vector files: one vector per line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def slug(name: str) -> str:
    """A name of a plan as the name of its file.

    >>> slug("most rounds, at once")
    'most-rounds-at-once'
    """
    return re.sub("[^a-z0-9]+", "-", name)


def written(vectors: Any) -> str:
    """One vector per line: differences between versions stay readable."""
    if isinstance(vectors, list):
        return "[\n" + ",\n".join(json.dumps(vector) for vector in vectors) + "\n]\n"
    lines = [
        f"{json.dumps(key)}: {written(value).strip() if isinstance(value, list) and value else json.dumps(value)}"
        for key, value in vectors.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(files: dict[str, Any], folder: Path) -> None:
    """Write each file, by its name without the ending."""
    for name, vectors in files.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written(vectors), encoding="ascii")
