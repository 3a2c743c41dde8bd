"""Store a road network as it is: plain arrays with a JSON header, for another process to load."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ldptrace.errors import FormatError
from ldptrace.roads.network import RoadAccount, RoadNetwork

_TEXTS = ("classes", "crs", "name", "account")
_ARRAYS = tuple(column.name for column in fields(RoadNetwork) if column.name not in _TEXTS)


def store_roads(roads: RoadNetwork, path: Path) -> None:
    """Write a network to an `.npz` file."""
    texts = {name: getattr(roads, name) for name in _TEXTS}
    header = {"format": "ldptrace-roads", "version": 1, **texts, "account": asdict(roads.account)}
    arrays = {name: values for name in _ARRAYS if (values := getattr(roads, name)) is not None}
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=text, **arrays)


def stored_roads(path: Path) -> RoadNetwork:
    """Load the network of such a file. Nothing in the file is run, and its columns are checked."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive.items())
        header = json.loads(arrays.pop("header").tobytes())
        if (header.pop("format"), header.pop("version")) != ("ldptrace-roads", 1):
            raise ValueError("it has another format")
        account = header.pop("account")
        account["notes"] = tuple(account["notes"])
        return RoadNetwork(**arrays, **header, account=RoadAccount(**account))
    except (KeyError, TypeError, ValueError, BadZipFile, EOFError) as error:
        raise FormatError(f"{path} is not a stored road network: {error}") from None
