"""Packages of the optional extras, loaded where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ldptrace.errors import InputError


def needed(package: str, extra: str = "geo") -> Any:
    """Import a package of an extra, or raise an error that says which extra to install."""
    try:
        return import_module(package)
    except ImportError:
        raise InputError(f"{package} is needed for this; install it with: {installing(extra)}") from None


def installing(extra: str) -> str:
    """Return the commands that install an extra.

    >>> installing("geo")
    "pip install 'ldptrace[geo]', or in a clone of the repository with: pip install '.[geo]'"
    """
    return f"pip install 'ldptrace[{extra}]', or in a clone of the repository with: pip install '.[{extra}]'"
