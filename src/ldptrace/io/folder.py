"""A folder of Parquet files that appears whole or not at all, and what was promised about it in each of them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldptrace.errors import InputError

# Trajectories of each file.
PART = 1 << 20


def is_folder(path: Path) -> bool:
    """Whether an output is to be a folder: it is one, or its name has no extension.

    >>> is_folder(Path("trips")), is_folder(Path("trips.parquet")), is_folder(Path("-"))
    (True, False, False)
    """
    return path.is_dir() or (not path.suffix and str(path) != "-" and not path.exists())


def check_folder(path: Path) -> None:
    """Say before the work that a folder cannot be written."""
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"cannot write {path}: the folder is not empty")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path` that takes its place when the block ends well, and is removed otherwise."""
    check_folder(path)
    temporary = path.absolute().with_name(f".{secrets.token_hex(4)}.{path.name}")
    temporary.mkdir()
    try:
        yield temporary
        if path.is_dir():
            path.rmdir()
        os.replace(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def part_name(number: int) -> str:
    """Name of the file of that number.

    >>> part_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05d}.parquet"
