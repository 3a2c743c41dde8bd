"""What a mobility model is: something that paths can be drawn from, any number of them, at any later time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.paths import CellPaths
from ldptrace.errors import FormatError
from ldptrace.io.atomic import atomic_path

FORMAT = "ldptrace-model"


class MobilityModel(ABC):
    """A distribution over cell paths."""

    @abstractmethod
    def sample(self, count: int, rng: np.random.Generator) -> CellPaths:
        """Independent paths."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the model as a versioned .npz file."""


def save_arrays(path: str | Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """An .npz of plain arrays with a JSON header; never a pickle."""
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True)
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]


def load_arrays(path: str | Path, model: str, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a saved model of the given kind and version."""
    try:
        with np.load(BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header: dict[str, Any] = json.loads(arrays.pop("header").tobytes().decode())
    except FileNotFoundError:
        raise FormatError(f"there is no file {path}") from None
    except Exception as error:  # a damaged archive fails in many ways, all of them mean the same to the user
        raise FormatError(f"{path} is not a saved model: {error}") from None
    if (header.get("format"), header.get("model"), header.get("version")) != (FORMAT, model, version):
        raise FormatError(
            f"{path} should hold a {model} model of version {version}, it holds {header.get('model')!r} "
            f"version {header.get('version')!r}"
        )
    return header, arrays
